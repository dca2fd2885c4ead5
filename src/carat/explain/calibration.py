"""Does a likelihood of 0.9 mean nine in ten? Measured on held-out corruptions, and mended there."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional


@dataclass(frozen=True)
class Calibration:
    """Calibrated logit = scale · logit + shift, with the reliability before and after.

    Args:
        scale: 1 / temperature.
        shift: 0 for temperature scaling, which leaves the cut at 0.5 where it is.
        error_before: expected calibration error of the raw likelihoods.
        error_after: that of the calibrated ones.
    """

    scale: float = 1.0
    shift: float = 0.0
    error_before: float = float("nan")
    error_after: float = float("nan")

    def apply(self, logits: Tensor) -> Tensor:
        """Calibrated logits."""
        return logits * self.scale + self.shift

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary: `Calibration(**calibration.to_json())` gives it back."""
        return asdict(self)


def expected_calibration_error(likelihood: Tensor, belongs: Tensor, bins: int = 15) -> float:
    """Mean distance between what was said and what was so, over bins of equal width, weighted by their size.

    Args:
        likelihood: in 0..1, [k].
        belongs: the truth, bool [k].
        bins: how many.

    >>> expected_calibration_error(torch.tensor([0.9, 0.9, 0.1, 0.1]), torch.tensor([True, True, False, False]))
    0.1...
    """
    likelihood, truth = likelihood.double(), belongs.double()
    index = (likelihood * bins).long().clamp(0, bins - 1)
    gap = torch.zeros(bins, dtype=torch.float64).index_add_(0, index, likelihood - truth)
    return float(gap.abs().sum() / max(len(likelihood), 1))


def fit_calibration(logits: Tensor, belongs: Tensor, *, shift: bool = False) -> Calibration:
    """Maximum likelihood scale (and shift) on logits [k] of entities left alone (True) or replaced (False)."""
    logits, truth = logits.detach().double().cpu(), belongs.double().cpu()
    parameters = torch.tensor([0.0, 0.0], dtype=torch.float64, requires_grad=True)  # log scale, shift
    optimizer = torch.optim.LBFGS([parameters], max_iter=100, line_search_fn="strong_wolfe")
    use_shift = float(shift)

    def closure() -> Tensor:
        optimizer.zero_grad()
        calibrated = logits * parameters[0].exp() + parameters[1] * use_shift
        loss = functional.binary_cross_entropy_with_logits(calibrated, truth)
        loss.backward()
        return loss

    if len(logits):
        optimizer.step(closure)
    scale, moved = float(parameters[0].detach().exp()), float(parameters[1].detach()) * use_shift
    before = expected_calibration_error(logits.sigmoid(), belongs.cpu())
    after = expected_calibration_error((logits * scale + moved).sigmoid(), belongs.cpu())
    if after > before:
        # The likeliest temperature minds the few that are wildly wrong more than the many that are nearly right.
        scale, moved, after = 1.0, 0.0, before
    return Calibration(scale=scale, shift=moved, error_before=before, error_after=after)


def mixing_share(first: Tensor, second: Tensor, belongs: Tensor) -> float:
    """How much of the second logits [k] beside the first makes the best likelihood of the truth, bool [k].

    At most one half, and 0 where it would be less than a fiftieth: then the second need not be computed at all.
    """
    logits = torch.stack([first, second]).detach().double().cpu()
    truth = belongs.double().cpu()
    weights = torch.tensor([0.5, 0.5], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        loss = functional.binary_cross_entropy_with_logits(weights @ logits, truth)
        loss.backward()
        return loss

    if not len(truth):
        return 0.0
    optimizer.step(closure)
    own, other = weights.detach().clamp(min=0).tolist()
    share = min(other / (own + other), 0.5) if own + other > 0 else 0.0
    return share if share >= 0.02 else 0.0
