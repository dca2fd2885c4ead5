"""Heterogeneity by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import heterogeneity
from tests.support.metrics import NAN, Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return heterogeneity(case.base, case.counterfactuals, case.mask, corrupted=case.corrupted)


def value(corrupted: list[bool], *counterfactuals: list[int]) -> float:
    """Heterogeneity of one anomaly, whose entities all have id 2."""
    base = torch.full((1, len(corrupted)), 2)
    ids = torch.tensor([counterfactuals])
    mask = torch.ones(1, len(counterfactuals), dtype=torch.bool)
    return heterogeneity(base, ids, mask, corrupted=torch.tensor([corrupted])).item()


def test_one_corrupted_domain() -> None:
    # All three pairs change the first domain, to 3, 4, 5.
    assert value([True, False], [3, 2], [4, 2], [5, 2]) == 1
    # To 3, 4, 3: of three pairs, two differ.
    assert value([True, False], [3, 2], [4, 2], [3, 3]) == 2 / 3
    # The third leaves it alone: of three pairs, one has changed it twice, and differently.
    assert value([True, False], [3, 2], [4, 2], [2, 3]) == 1 / 3
    # Only one changes it.
    assert value([True, False], [3, 2], [2, 4], [2, 3]) == 0
    # Both change it, to the same entity.
    assert value([True, False], [3, 2], [3, 3]) == 0


def test_mean_over_the_corrupted_domains() -> None:
    # The first domain: 1 of 1 pair. The second: the same entity, 0 of 1. The third is not corrupted.
    assert value([True, True, False], [3, 4, 2], [4, 4, 5]) == 0.5


def test_four_counterfactuals() -> None:
    # To 3, 3, 4, and kept by the last: six pairs, of which 3-4 twice.
    assert value([True, False], [3, 2], [3, 3], [4, 2], [2, 5]) == 2 / 6


def test_fewer_than_two_is_zero_and_none_is_nan() -> None:
    base, corrupted = torch.tensor([[2, 2]] * 3), torch.tensor([[True, False]] * 3)
    counterfactuals = torch.tensor([[[3, 2], [4, 2]]] * 3)
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    assert close(heterogeneity(base, counterfactuals, mask, corrupted=corrupted), [1.0, 0.0, NAN])


def test_without_a_corrupted_domain_it_is_nan() -> None:
    assert close(torch.tensor([value([False, False], [3, 2], [4, 2])]).double(), [NAN])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = []
    for (base, ids), gold in zip(answers(case), case.corrupted.tolist(), strict=True):
        shares = []
        for old, column in zip(base, zip(*ids, strict=True), strict=False):
            differ = [float(len({a, b, old}) == 3) for a, b in itertools.combinations(column, 2)]
            shares.append(mean(differ) if differ else 0.0)
        expected.append(mean([share for share, g in zip(shares, gold, strict=False) if g]))
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_unmoved(metric, case)
    # Without a corrupted domain the value is NaN, which the form does not foresee.
    check_form(metric, replace(case, corrupted=case.corrupted | ~case.corrupted.any(dim=1, keepdim=True)))
