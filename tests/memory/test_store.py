"""Records merged by a hash are the records that `torch.unique` finds, in whatever order they come."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from carat.memory import store
from carat.memory.store import Records, merged
from tests.memory.test_vote import WORDS

tables = st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=1, max_size=40)


def as_sets(ids: Tensor, count: Tensor) -> dict[tuple[int, ...], int]:
    return {tuple(row): times for row, times in zip(ids.tolist(), count.tolist(), strict=True)}


@given(tables)
@settings(deadline=None)
def test_merged_as_torch_does(rows: list[list[int]]) -> None:
    ids = torch.tensor(rows, dtype=torch.int32)
    unique, group, count = merged(ids)
    expected, times = torch.unique(ids, dim=0, return_counts=True)
    assert as_sets(unique, count) == as_sets(expected, times)
    assert len(unique) == len(expected), "no record twice"
    assert torch.equal(unique[group.long()], ids), "every record is in its own group"


@given(tables, st.randoms())
@settings(deadline=None)
def test_the_order_of_the_records_is_nothing(rows: list[list[int]], random: object) -> None:
    shuffled = list(rows)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    one, other = Records.of(torch.tensor(rows), WORDS), Records.of(torch.tensor(shuffled), WORDS)
    assert torch.equal(one.ids, other.ids)
    assert torch.equal(one.count, other.count)
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(one.lists, other.lists, strict=True))


def test_records_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    """Multiplied by nothing, all records have the same hash."""
    rows = torch.randint(6, (200, 3), generator=torch.Generator().manual_seed(0), dtype=torch.int32)
    usual = merged(rows)
    monkeypatch.setattr(store, "_ODD", 0)
    unique, group, count = merged(rows)
    assert as_sets(unique, count) == as_sets(usual[0], usual[2])
    assert torch.equal(unique[group.long()], rows)
    assert group.dtype == usual[1].dtype
    reordered = torch.randperm(200, generator=torch.Generator().manual_seed(1))
    assert torch.equal(merged(rows[reordered])[0], unique), "still in an order of their own"


def test_lists_hold_every_record_of_an_entity() -> None:
    rows = torch.randint(6, (300, 3), generator=torch.Generator().manual_seed(0))
    records = Records.of(rows, WORDS)
    starts, groups = records.lists
    for domain in range(3):
        for entity in range(2, 6):
            row = int(WORDS.offsets[domain]) + entity
            listed = groups[starts[row] : starts[row + 1]].long()
            assert torch.equal(listed, (records.ids[:, domain] == entity).nonzero().flatten())
            assert int(records.count[listed].sum()) == int((rows[:, domain] == entity).sum()) == records.singles[row]
