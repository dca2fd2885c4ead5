"""Splits: complete, disjoint, and the same for the same seed."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.data import random_split, time_split
from carat.errors import InputError


@given(rows=st.integers(2, 200), share=st.floats(0.01, 0.99), seed=st.integers(0, 5))
def test_random_split(rows: int, share: float, seed: int) -> None:
    kept, held_out = random_split(rows, share, seed=seed)
    assert sorted([*kept.tolist(), *held_out.tolist()]) == list(range(rows))
    assert len(held_out) == min(max(round(rows * share), 1), rows - 1)
    assert kept.equal(kept.sort().values)
    assert held_out.equal(held_out.sort().values)
    assert held_out.equal(random_split(rows, share, seed=seed)[1])


def test_another_seed_gives_another_split() -> None:
    assert not torch.equal(random_split(100, 0.5, seed=0)[1], random_split(100, 0.5, seed=1)[1])


def test_no_more_than_the_limit_is_held_out() -> None:
    kept, held_out = random_split(100, 0.5, at_most=3)
    assert (len(kept), len(held_out)) == (97, 3)


@pytest.mark.parametrize(
    "time",
    [
        pa.array([3, 1, 2, 1, 9]),
        pa.array(["2024-03", "2024-01-02", "2024-02-01T10:00", "2024-01-02", "2025-01-01"]),
        pa.array(["30", "4", "5", "4", "100"], pa.large_string()),
        pa.array([dt.date(2024, 1, d) for d in (3, 1, 2, 1, 9)]),
    ],
    ids=["numbers", "text", "numbers in text", "dates"],
)
def test_time_split(time: pa.Array) -> None:
    earlier, later = time_split(time, 0.4)
    assert earlier.tolist() == [1, 3, 2], "oldest first, equal times in their order"
    assert later.tolist() == [0, 4]


def test_a_record_without_time_is_an_error() -> None:
    with pytest.raises(InputError, match="is blank in 1 row; fill it in, or leave out `time`"):
        time_split(pa.array([1, None, 2]), 0.5)


@pytest.mark.parametrize("odd", ["31.10.2024", "10/31/2024", "Oct 31", "2024-1-5", "Leith"])
def test_text_that_does_not_sort_by_time_is_an_error(odd: str) -> None:
    with pytest.raises(InputError, match=f"holds '{odd}', which does not sort by time; convert it"):
        time_split(pa.array(["2024-10-30", odd]), 0.5)


@pytest.mark.parametrize(("rows", "share"), [(1, 0.5), (0, 0.5), (10, 0.0), (10, 1.0), (10, 2.0)])
def test_impossible_splits(rows: int, share: float) -> None:
    with pytest.raises(InputError):
        random_split(rows, share)
    with pytest.raises(InputError):
        time_split(pa.array(range(rows)), share)
