"""Reliability, and what temperature scaling does to it."""

from __future__ import annotations

import pytest
import torch

from carat.explain import expected_calibration_error, fit_calibration
from carat.explain.calibration import mixing_share


def test_error_by_hand() -> None:
    likelihood = torch.tensor([0.95, 0.95, 0.95, 0.95, 0.05])
    belongs = torch.tensor([True, True, True, False, False])
    # Four said 0.95 and three of four are so: off by 0.2; one said 0.05 and is not so: off by 0.05.
    assert expected_calibration_error(likelihood, belongs) == pytest.approx((4 * 0.2 + 0.05) / 5, abs=1e-6)


def test_error_is_zero_for_the_truth() -> None:
    belongs = torch.tensor([True, False, True])
    assert expected_calibration_error(belongs.float(), belongs) == 0


def truthful(count: int = 20_000) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    logits = torch.randn(count, generator=generator) * 2
    return logits, torch.rand(count, generator=generator) < logits.sigmoid()


def test_temperature_is_recovered() -> None:
    logits, belongs = truthful()
    found = fit_calibration(3 * logits, belongs)
    assert 1 / found.scale == pytest.approx(3, rel=0.05)
    assert found.shift == 0
    assert found.error_after < 0.02 < found.error_before
    assert ((found.apply(3 * logits) < 0) == (logits < 0)).all(), "the cut at 0.5 stays where it is"


def test_shift_is_recovered() -> None:
    logits, belongs = truthful()
    found = fit_calibration(logits / 2 - 4, belongs, shift=True)
    assert found.scale == pytest.approx(2, rel=0.05)
    assert found.shift == pytest.approx(8, rel=0.05)


def test_never_made_worse() -> None:
    """Where the likeliest temperature would raise the error, the likelihoods are left as they are."""
    logits = torch.cat([torch.full((990,), 6.0), torch.full((10,), 9.0)])
    belongs = torch.cat([torch.ones(988), torch.zeros(2), torch.zeros(10)]).bool()
    found = fit_calibration(logits, belongs)
    assert found.error_after <= found.error_before


def test_no_held_out_records() -> None:
    found = fit_calibration(torch.empty(0), torch.empty(0, dtype=torch.bool))
    assert (found.scale, found.shift) == (1.0, 0.0)


def test_mixing_takes_the_other_as_far_as_it_helps() -> None:
    """Two views with noise of their own are worth as much each; one that says nothing is worth nothing."""
    logits, belongs = truthful()
    generator = torch.Generator().manual_seed(1)
    first, second = (logits + torch.randn(len(logits), generator=generator) for _ in range(2))
    assert mixing_share(first, second, belongs) == pytest.approx(0.5, abs=0.05)
    assert mixing_share(logits, torch.randn(len(logits), generator=generator), belongs) == 0.0
    assert mixing_share(logits, -logits, belongs) in (0.0, 0.5)
    assert mixing_share(logits[:0], logits[:0], belongs[:0]) == 0.0
