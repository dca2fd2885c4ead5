"""Feature Accuracy by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import torch
from hypothesis import given
from torch import Tensor

from carat.metrics import feature_accuracy
from tests.support.metrics import NAN, Case, answers, cases, check_form, check_unmoved, close, mean


def metric(case: Case) -> Tensor:
    return feature_accuracy(case.base, case.counterfactuals, case.mask, corrupted=case.corrupted)


def test_by_hand() -> None:
    base = torch.tensor([[2, 2, 2, 2]] * 3)
    corrupted = torch.tensor([[True, True, False, False]] * 2 + [[False] * 4])
    counterfactuals = torch.tensor(
        [
            # Exactly the corrupted two: 4/4. One of them: 3/4. Exactly the others: 0/4.
            [[3, 4, 2, 2], [2, 3, 2, 2], [2, 2, 3, 3]],
            [[3, 4, 2, 2], [2, 3, 2, 2], [2, 2, 3, 3]],
            # Nothing was corrupted, and one domain is changed: 3/4. The others are padding.
            [[3, 2, 2, 2], [2, 3, 2, 2], [2, 2, 3, 3]],
        ]
    )
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, False]])
    value = feature_accuracy(base, counterfactuals, mask, corrupted=corrupted)
    assert close(value, [(1 + 0.75 + 0) / 3, NAN, 0.75])


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    expected = []
    for (base, ids), gold in zip(answers(case), case.corrupted.tolist(), strict=True):
        right = [
            mean([float((new != old) == g) for new, old, g in zip(record, base, gold, strict=True)]) for record in ids
        ]
        expected.append(mean(right))
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case)
    check_unmoved(metric, case)
