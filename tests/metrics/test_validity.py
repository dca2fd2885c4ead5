"""Validity by hand, and under what must not change it."""

from __future__ import annotations

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import validity
from tests.support.metrics import NAN, Case, cases, check_form, check_unmoved, close, mean, padded_with, reordered


def metric(case: Case) -> Tensor:
    return validity(case.scores, case.mask, 1.0)


def test_by_hand() -> None:
    # Against 2: 1 is below, 2 is at the threshold and counts, 3 is above; the last slot of the second is padding.
    scores = torch.tensor([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [3.0, 3.0, 3.0]])
    mask = torch.tensor([[True, True, True], [True, True, False], [False, False, False]])
    assert close(validity(scores, mask, 2.0), [2 / 3, 1 / 2, NAN])


def test_threshold_is_not_rounded_to_the_scores() -> None:
    # 1 + 1e-12 is 1 as a float32, but the score 1 is below it.
    assert validity(torch.ones(1, 1), torch.tensor([[True]]), 1 + 1e-12).tolist() == [0]


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    rows = zip(case.scores, case.mask, strict=True)
    assert close(metric(case), [mean([float(s >= 1) for s in scores[mask].tolist()]) for scores, mask in rows])


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case)
    check_unmoved(metric, case, [reordered, padded_with(99)])
