"""Repeated and unchanged counterfactuals are dropped, and nothing else."""

from __future__ import annotations

import torch
from hypothesis import given

from carat.metrics import distinct
from tests.support.metrics import Case, cases


def test_the_first_of_equal_ones_stays() -> None:
    base = torch.tensor([[2, 2]])
    counterfactuals = torch.tensor([[[3, 2], [2, 3], [3, 2], [2, 3], [3, 3]]])
    mask = torch.ones(1, 5, dtype=torch.bool)
    assert distinct(base, counterfactuals, mask).tolist() == [[True, True, False, False, True]]
    assert mask.all(), "the mask that was given is left alone"


def test_what_equals_the_base_goes_every_time() -> None:
    counterfactuals = torch.tensor([[[2, 2], [2, 3], [2, 2]]])
    found = distinct(torch.tensor([[2, 2]]), counterfactuals, torch.ones(1, 3, dtype=torch.bool))
    assert found.tolist() == [[False, True, False]]


def test_padding_is_no_first() -> None:
    counterfactuals = torch.tensor([[[3, 2], [3, 2], [3, 2]]])
    found = distinct(torch.tensor([[2, 2]]), counterfactuals, torch.tensor([[False, True, True]]))
    assert found.tolist() == [[False, True, False]]


def test_anomalies_do_not_share_counterfactuals() -> None:
    base = torch.tensor([[2, 2], [2, 4]])
    counterfactuals = torch.tensor([[[3, 3], [2, 4]], [[3, 3], [2, 2]]])
    assert distinct(base, counterfactuals, torch.ones(2, 2, dtype=torch.bool)).all()


@given(case=cases())
def test_as_a_set_would_do_it(case: Case) -> None:
    everything = torch.ones_like(case.mask)
    found = distinct(case.base, case.counterfactuals, everything)
    for base, ids, kept in zip(case.base.tolist(), case.counterfactuals.tolist(), found.tolist(), strict=True):
        met = [base]
        for candidate, keep in zip(ids, kept, strict=True):
            assert keep == (candidate not in met)
            met.append(candidate)


@given(case=cases())
def test_twice_is_once(case: Case) -> None:
    assert torch.equal(distinct(case.base, case.counterfactuals, case.mask), case.mask)
