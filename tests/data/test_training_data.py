"""The held-out records and their two halves."""

from __future__ import annotations

import pytest
import torch

from carat.data import Fold, TrainingData
from tests.memory.test_vote import WORDS


@pytest.mark.parametrize("rows", [2, 11, 100, 60_000])
def test_the_halves_are_disjoint(rows: int) -> None:
    """What chooses weights and what measures them must never be the same record."""
    fold = Fold.random(rows, seed=3)
    # Row numbers in place of entities: every record is known by its first id.
    ids = torch.arange(rows, dtype=torch.int32)[:, None].repeat(1, 3)
    data = TrainingData(ids[fold.train], ids[fold.held_out], WORDS)
    first, second = (set(half[:, 0].tolist()) for half in (data.first_half, data.second_half))
    assert not first & second
    assert first | second == set(data.held_out[:, 0].tolist())
    assert abs(len(first) - len(second)) <= 1
    assert not (first | second) & set(data.train[:, 0].tolist())
    assert len(first | second) + len(data.train) == rows
    assert len(data.held_out) <= 5_000
