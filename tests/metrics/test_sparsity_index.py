"""Sparsity Index by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import sparsity_index
from tests.support.metrics import Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return sparsity_index(case.base, case.counterfactuals, case.mask)


@pytest.mark.parametrize(
    ("changes", "domains", "expected"),
    [
        (1, 8, 0.8889),  # 1 / (1 + 1/8) = 8/9, as the paper prints for Replace-m with m = 1
        (1, 7, 0.8750),  # 7/8
        (1, 5, 0.8333),  # 5/6
        (8, 8, 0.5),  # everything
    ],
)
def test_values_of_the_paper(changes: int, domains: int, expected: float) -> None:
    counterfactual = torch.tensor([[[3] * changes + [2] * (domains - changes)]])
    value = sparsity_index(torch.full((1, domains), 2), counterfactual, torch.tensor([[True]]))
    assert value.item() == pytest.approx(expected, abs=5e-5)


def test_by_hand() -> None:
    # One change of four: 1 / 1.25 = 0.8. Two of four: 1 / 1.5 = 2/3. The last slot is padding.
    base = torch.tensor([[2, 2, 2, 2], [2, 2, 2, 2]])
    counterfactuals = torch.tensor([[[3, 2, 2, 2], [2, 3, 3, 2], [3, 3, 3, 3]]] * 2)
    mask = torch.tensor([[True, True, False], [False, False, False]])
    assert close(sparsity_index(base, counterfactuals, mask), [(0.8 + 2 / 3) / 2, float("nan")])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = []
    for base, ids in answers(case):
        shares = [mean([float(new != old) for new, old in zip(record, base, strict=True)]) for record in ids]
        expected.append(mean([1 / (1 + share) for share in shares]))
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case, low=0.5, high=1 - 1e-3)
    check_unmoved(metric, case)
