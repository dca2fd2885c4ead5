"""Overlap distance by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import overlap_distance
from tests.support.metrics import NAN, Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return overlap_distance(case.base, case.counterfactuals, case.mask)


def test_by_hand() -> None:
    # One of four changed: 1/4. All: 1. Their mean is 5/8; with the second as padding, 1/4.
    base = torch.tensor([[2, 2, 2, 2]] * 3)
    counterfactuals = torch.tensor([[[3, 2, 2, 2], [3, 4, 3, 4]]] * 3)
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    assert close(overlap_distance(base, counterfactuals, mask), [5 / 8, 1 / 4, NAN])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = [
        mean([mean([float(a != b) for a, b in zip(record, base, strict=True)]) for record in ids])
        for base, ids in answers(case)
    ]
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case, low=1e-3)
    check_unmoved(metric, case)
