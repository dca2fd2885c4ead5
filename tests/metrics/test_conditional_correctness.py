"""Conditional Correctness by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from torch import Tensor

from carat.errors import InputError
from carat.metrics import conditional_correctness
from tests.support.metrics import NAN, Case, cases, check_form, check_unmoved, close, mean, padded_with, reordered

REFERENCE = torch.tensor([3.0, 1.0, 2.0, 2.0])


def base_score(case: Case) -> Tensor:
    return torch.arange(len(case.base)) - 1.0


def metric(case: Case) -> Tensor:
    return conditional_correctness(base_score(case), case.scores, case.mask, reference=REFERENCE - 2)


def share(base: float, *scores: float) -> float:
    mask = torch.ones(1, len(scores), dtype=torch.bool)
    return conditional_correctness(torch.tensor([base]), torch.tensor([scores]), mask, reference=REFERENCE).item()


def test_by_hand() -> None:
    # Reference 1, 2, 2, 3. The anomaly's 1.5 has rank 1. The ranks of 0, 1.9, 2, 2.1, 9 are 0, 1, 1, 3, 4.
    assert share(1.5, 0.0, 1.9, 2.0, 2.1, 9.0) == 2 / 5
    # A higher score that passes no reference record is no better.
    assert share(2.1, 2.9) == 0
    # Ties with the reference: 2 is not below 2, so the anomaly's 2 has rank 1 and 2.5 has rank 3.
    assert share(2.0, 2.5) == 1
    # 1 has rank 0 although the reference holds it; 2 has rank 1.
    assert share(1.0, 2.0, 1.0) == 1 / 2
    assert share(0.5, 0.9, float("-inf"), float("inf")) == 1 / 3
    # Past the whole reference there is nothing left to pass.
    assert share(4.0, 5.0) == 0


def test_each_anomaly_has_its_own_rank() -> None:
    scores = torch.tensor([[2.5, 1.5], [2.5, 1.5], [2.5, 1.5]])
    mask = torch.tensor([[True, True], [True, True], [False, False]])
    value = conditional_correctness(torch.tensor([0.0, 2.0, 0.0]), scores, mask, reference=REFERENCE)
    # Ranks 3 and 1, against 0 and against 1.
    assert close(value, [1.0, 0.5, NAN])


def test_no_reference_is_refused() -> None:
    with pytest.raises(InputError, match="reference"):
        conditional_correctness(torch.zeros(1), torch.ones(1, 1), torch.tensor([[True]]), reference=torch.zeros(0))


def test_views_are_taken_as_they_are() -> None:
    scores, mask = torch.tensor([[2.5, 0.0], [1.5, 0.0]]).T, torch.ones(2, 2, dtype=torch.bool)
    value = conditional_correctness(torch.tensor([2.0, 9.0, 0.0])[::2], scores, mask, reference=REFERENCE)
    # 2.5 and 1.5 (ranks 3, 1) against 2.0 (rank 1); 0 and 0 (rank 0) against 0.
    assert value.tolist() == [0.5, 0.0]


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    def rank(score: float) -> int:
        return sum(reference < score for reference in (REFERENCE - 2).tolist())

    rows = zip(base_score(case).tolist(), case.scores, case.mask, strict=True)
    expected = [mean([float(rank(s) > rank(base)) for s in scores[mask].tolist()]) for base, scores, mask in rows]
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case)
    check_unmoved(metric, case, [reordered, padded_with(99)])
    shuffled = conditional_correctness(base_score(case), case.scores, case.mask, reference=REFERENCE.flip(0) - 2)
    assert torch.equal(shuffled.nan_to_num(), metric(case).nan_to_num()), "the order of the reference"
