"""Raw sparsity by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import raw_sparsity
from tests.support.metrics import NAN, Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return raw_sparsity(case.base, case.counterfactuals, case.mask)


def test_by_hand() -> None:
    # One domain changed, and four: (1 + 4) / 2; with the second as padding, 1.
    base = torch.tensor([[2, 2, 2, 2]] * 3)
    counterfactuals = torch.tensor([[[3, 2, 2, 2], [3, 4, 3, 4]]] * 3)
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    assert close(raw_sparsity(base, counterfactuals, mask), [2.5, 1.0, NAN])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = [
        mean([sum(a != b for a, b in zip(record, base, strict=True)) for record in ids]) for base, ids in answers(case)
    ]
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case, low=1, high=case.base.shape[1])
    check_unmoved(metric, case)
