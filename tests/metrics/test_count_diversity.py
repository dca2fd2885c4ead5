"""Count diversity by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import itertools

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import count_diversity
from tests.support.metrics import NAN, Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return count_diversity(case.counterfactuals, case.mask)


def test_by_hand() -> None:
    # First and second differ in one of two domains, first and third in both, second and third in one: (½ + 1 + ½) / 3.
    counterfactuals = torch.tensor([[[3, 2], [4, 2], [4, 3]]] * 4)
    mask = torch.tensor([[True, True, True], [True, False, True], [False, True, False], [False, False, False]])
    # First and third alone: 1. One alone has no pair: 0.
    assert close(count_diversity(counterfactuals, mask), [2 / 3, 1.0, 0.0, NAN])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = []
    for _, ids in answers(case):
        pairs = list(itertools.combinations(ids, 2))
        shares = [mean([float(a != b) for a, b in zip(left, right, strict=True)]) for left, right in pairs]
        expected.append((mean(shares) if shares else 0.0) if ids else NAN)
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case)
    check_unmoved(metric, case)
