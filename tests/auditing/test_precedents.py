"""Precedents: rows that share what tells about a column, never the row itself, in time that grows with the cells."""

from __future__ import annotations

import time

import numpy as np
import pyarrow as pa

from carat.auditing.precedents import SHOWN, precedents, telling
from carat.auditing.precedents import _lists as lists_of
from carat.auditing.table import AuditTable


def places(rows: int = 400) -> AuditTable:
    """City and Country go together; Day goes with nothing, and is rarer than both."""
    rng = np.random.default_rng(1)
    city = rng.integers(0, 8, rows)
    return AuditTable.of(
        pa.table(
            {
                "City": [f"city {n}" for n in city],
                "Country": [f"country {n}" for n in city],
                "Day": [f"day {n}" for n in rng.integers(0, 60, rows)],
                "Same": ["x"] * rows,
                "Number": [f"N{n}" for n in range(rows)],
            }
        )
    )


def found(table: AuditTable, row: int, column: int, doubted: np.ndarray | None = None) -> list[int]:
    (line,) = precedents(table, np.array([row]), np.array([column]), doubted).tolist()
    return [one for one in line if one >= 0]


def test_rows_that_tell_come_first() -> None:
    table = places()
    country = table.columns[1].codes
    for row in range(20):
        similar = found(table, row, 1)
        assert len(similar) == SHOWN == len(set(similar))
        assert row not in similar
        assert {country[one] for one in similar} == {country[row]}, "the city tells, the day does not"


def test_the_most_similar_come_first() -> None:
    """Of two rows with the same city, the one with the same day too is closer."""
    table = places()
    city, day = table.columns[0].codes, table.columns[2].codes
    both = np.flatnonzero([((city == city[row]) & (day == day[row])).sum() > 1 for row in range(table.rows)])
    row = int(both[0])
    first = found(table, row, 1)[0]
    assert (city[first], day[first]) == (city[row], day[row])


def test_a_doubted_value_does_not_count() -> None:
    table = places()
    doubted = np.array([[True, False, False, False, False]])
    day = table.columns[2].codes
    similar = found(table, 0, 1, doubted=doubted)
    assert similar
    assert {day[one] for one in similar} == {day[0]}


def test_how_much_columns_tell() -> None:
    table = places()
    codes = np.stack([column.codes for column in table.columns], axis=1)
    shuffled = np.random.default_rng(0).permutation(table.rows)
    told = telling(codes, [lists_of(codes[:, k], len(c.values), shuffled) for k, c in enumerate(table.columns)])
    assert told[0, 1] == 1
    assert told[2, 1] < 0.1
    assert told[4].sum() == 0, "a number of its own is shared with nobody"


def test_nothing_in_common_and_nothing_at_all() -> None:
    apart = AuditTable.of(pa.table({"A": ["a", "b", "c"], "B": ["d", "e", None]}))
    assert found(apart, 0, 0) == []
    assert found(apart, 2, 1) == []
    alone = AuditTable.of(pa.table({"A": ["a"], "B": ["b"]}))
    assert found(alone, 0, 0) == []
    none = np.empty(0, dtype=np.int64)
    assert precedents(places(), none, none).shape == (0, SHOWN)
    assert found(AuditTable.of(pa.table({"A": ["a", "a"]})), 0, 0) == [], "one column has no neighbours"


def test_fewer_rows_than_are_shown() -> None:
    table = AuditTable.of(pa.table({"A": ["a", "a", "b"], "B": ["c", "d", "e"]}))
    assert found(table, 0, 1) == [1]


def test_many_cells_take_no_square_of_time() -> None:
    rng = np.random.default_rng(0)
    rows = 60_000
    made = {f"C{k}": [f"v{n}" for n in rng.integers(0, 4 + 20 * k, rows)] for k in range(8)}
    table = AuditTable.of(pa.table(made))
    begun = time.perf_counter()
    similar = precedents(table, np.arange(2_000), np.arange(2_000) % 8)
    assert (similar[:, 0] >= 0).all()
    assert time.perf_counter() - begun < 20
