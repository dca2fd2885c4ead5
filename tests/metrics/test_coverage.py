"""Coverage by hand."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given

from carat.metrics import coverage
from tests.support.metrics import Case, answers, cases, reordered, repeated


def test_by_hand() -> None:
    mask = torch.tensor([[True, True], [False, True], [False, False], [True, False]])
    assert coverage(mask) == 3 / 4
    assert coverage(mask[2:3]) == 0
    assert coverage(mask[:2]) == 1


def test_no_slots_is_no_answer_and_no_anomalies_no_value() -> None:
    assert coverage(torch.zeros(3, 0, dtype=torch.bool)) == 0
    assert math.isnan(coverage(torch.zeros(0, 3, dtype=torch.bool)))


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    answered = [len(ids) > 0 for _, ids in answers(case)]
    expected = sum(answered) / len(answered) if answered else float("nan")
    for same in (case, reordered(case), repeated(case)):
        assert coverage(same.mask) == pytest.approx(expected, nan_ok=True)
