"""Recovery by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from torch import Tensor

from carat.errors import InputError
from carat.metrics import recovered_at, recovery
from tests.support.metrics import (
    Case,
    answers,
    cases,
    check_unmoved,
    padded_with,
    padded_with_original,
    repeated,
    turned,
)


def metric(case: Case) -> Tensor:
    return recovery(case.original, case.counterfactuals, case.mask)


def test_by_hand() -> None:
    original = torch.tensor([[2, 2]] * 6)
    counterfactuals = torch.tensor(
        [
            [[2, 2], [2, 3], [3, 3]],  # first
            [[2, 3], [3, 2], [2, 2]],  # third
            [[2, 3], [3, 2], [3, 3]],  # nowhere
            [[2, 3], [3, 2], [2, 2]],  # in the third slot, but the second is not counted: rank 2
            [[2, 3], [2, 2], [3, 2]],  # in padding
            [[2, 2], [2, 2], [2, 2]],  # no counterfactual at all
        ]
    )
    mask = torch.ones(6, 3, dtype=torch.bool)
    mask[3, 1] = mask[4, 1] = False
    mask[5] = False
    rank = recovery(original, counterfactuals, mask)
    assert rank.dtype == torch.int64
    assert rank.tolist() == [1, 3, 0, 2, 0, 0]
    assert recovered_at(rank, 1).tolist() == [1, 0, 0, 0, 0, 0]
    assert recovered_at(rank, 2).tolist() == [1, 0, 0, 1, 0, 0]
    assert recovered_at(rank, 3).tolist() == [1, 1, 0, 1, 0, 0]
    assert recovered_at(rank, 3).dtype == torch.float64


def test_the_first_of_several_counts() -> None:
    counterfactuals = torch.tensor([[[2, 3], [2, 2], [2, 2]]])
    assert recovery(torch.tensor([[2, 2]]), counterfactuals, torch.ones(1, 3, dtype=torch.bool)).tolist() == [2]


@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused(k: int) -> None:
    with pytest.raises(InputError, match=f"at least 1, got {k}"):
        recovered_at(torch.tensor([1]), k)


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = [
        ids.index(original) + 1 if original in ids else 0
        for (_, ids), original in zip(answers(case), case.original.tolist(), strict=True)
    ]
    assert metric(case).tolist() == expected


@given(case=cases())
def test_what_does_not_matter(case: Case) -> None:
    check_unmoved(metric, case, [turned, padded_with(-7), padded_with(99), padded_with_original, repeated])
    in_all = recovered_at(metric(case), max(case.mask.shape[1], 1))
    assert torch.equal(in_all, (metric(case) > 0).double())
