"""Slips: made-up errors that look like real ones, with the truth kept.

A slip replaces the text of a cell: by a typo, another value, a value of another column, the value of another cell of
the row, the same value written in another way, a word for nothing, or nothing. Some are made in several rows at once,
as real errors are: they then vouch for each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from carat.data.slipper import KINDS, Slipper
from carat.data.slipping import Coded, Found, Spoiler
from carat.errors import COLUMNS, InputError, nearest

__all__ = ["KINDS", "Slip", "Slipper", "Spoiled", "slip"]

ROUNDS = 4
"""Times that what some kinds could not place is given to the others."""
CHUNK = 1 << 20
"""Rows of a column that are written at a time: an Arrow array of text holds 2 GB at most."""


@dataclass(frozen=True)
class Slip:
    """One spoiled cell.

    Args:
        row: its row, from 0.
        column: its column.
        before: what stood there; None is blank.
        after: what is there now.
        kind: one of `KINDS`.
        group: cells that were spoiled together share a number: a swap's two, or a slip that recurs in several rows.
    """

    row: int
    column: str
    before: str | None
    after: str | None
    kind: str
    group: int


@dataclass(frozen=True)
class Spoiled:
    """A table with slips in it, and what they were: parallel columns, by row and then by column.

    Args:
        table: the spoiled table; every column is text.
        row: int64 [s].
        column: place in the table's columns, int64 [s].
        kind: place in `KINDS`, int64 [s].
        before: what stood there, Arrow strings [s]; null is blank.
        after: what is there now, Arrow strings [s].
        group: int64 [s].
    """

    table: pa.Table
    row: np.ndarray
    column: np.ndarray
    kind: np.ndarray
    before: pa.Array
    after: pa.Array
    group: np.ndarray

    def __len__(self) -> int:
        return len(self.row)

    @property
    def slips(self) -> tuple[Slip, ...]:
        """Every slip as an object; for a look, not for a large table."""
        return tuple(self._each())

    def _each(self) -> Iterator[Slip]:
        for row in self.truth().to_pylist():
            yield Slip(row["record"], row["column"], row["before"], row["after"], row["kind"], row["group"])

    def truth(self) -> pa.Table:
        """One row per slip: `record`, `column`, `before`, `after`, `kind`, `group`."""
        names = pa.array(self.table.column_names, pa.string())
        return pa.table(
            {
                "record": pa.array(self.row),
                "column": names.take(pa.array(self.column)),
                "before": self.before,
                "after": self.after,
                "kind": pa.array(KINDS).take(pa.array(self.kind)),
                "group": pa.array(self.group),
            }
        )

    def mask(self) -> np.ndarray:
        """Which cells were spoiled, bool [n, m]."""
        found = np.zeros((self.table.num_rows, self.table.num_columns), dtype=bool)
        found[self.row, self.column] = True
        return found


def slip(
    table: pa.Table,
    *,
    share: float = 0.05,
    kinds: Sequence[str] | Mapping[str, float] = KINDS,
    recurring: float = 0.3,
    columns: Sequence[str] | None = None,
    seed: int = 0,
) -> Spoiled:
    """Spoil some cells of a table of text.

    Cells are drawn among those that hold something; a swap may also move a value into a blank cell. Each changes, and
    none is spoiled twice. A kind goes only where it applies, and there into at most four times `share` of the cells, so
    that what is rare in the table (accents, say) is not wiped out. What a kind can't place, the others get.

    Args:
        table: columns of strings; null and empty text are blank.
        share: of the cells that hold something.
        kinds: which kinds, in equal numbers, or their weights.
        recurring: share of the slips that are made in the same way in several rows, 2 to 32, that hold the same
            value; the more rows, the fewer such groups.
            At most half of a value's rows are spoiled together. Blanks and swaps do not recur.
        columns: where slips may be made; None for everywhere.
        seed: of every random choice.
    """
    weights = _weights(kinds)
    if not 0 <= share <= 1 or not 0 <= recurring <= 1:
        name, wrong = ("recurring", recurring) if 0 <= share <= 1 else ("share", share)
        raise InputError(f"`{name}` must be from 0 to 1, got {wrong}")
    coded = Coded.of(table)
    places = _places(columns, table.column_names)
    spoiler = Spoiler(coded, Slipper(coded.values, coded.counts, seed), places, share, recurring, seed)
    for kind, quota in _quotas(weights, spoiler.wanted).items():
        spoiler.want(kind, quota)
    for _ in range(ROUNDS):
        spoiler.make()
        left = spoiler.wanted - spoiler.made
        able = [kind for kind in weights if spoiler.able(kind)]
        if left <= 0 or not able:
            break
        for kind, quota in _quotas({kind: weights[kind] for kind in able}, left).items():
            spoiler.want(kind, quota)
    return _spoiled(table, coded, spoiler.found())


def _weights(kinds: Sequence[str] | Mapping[str, float]) -> dict[str, float]:
    """The weight of every kind that was asked for, in the order of `KINDS`."""
    if isinstance(kinds, str):
        kinds = [kinds]
    given = dict(kinds) if isinstance(kinds, Mapping) else dict.fromkeys(kinds, 1.0)
    for kind, weight in given.items():
        if kind not in KINDS:
            raise InputError(f"kind '{kind}' is unknown; {nearest(kind, KINDS)}")
        if not 0 <= weight < np.inf:
            raise InputError(f"the weight of kind '{kind}' must be 0 or more, got {weight}")
    weights = {kind: float(given[kind]) for kind in KINDS if given.get(kind, 0) > 0}
    if not weights:
        raise InputError(f"kinds: name at least one of {', '.join(KINDS)}")
    return weights


def _places(columns: Sequence[str] | None, names: list[str]) -> list[int]:
    if columns is None:
        return list(range(len(names)))
    for name in [columns] if isinstance(columns, str) else columns:
        if name not in names:
            raise InputError(f"columns: no column '{name}'; {nearest(name, names, listed=COLUMNS)}")
    return [place for place, name in enumerate(names) if name in columns]


def _quotas(weights: Mapping[str, float], total: int) -> dict[str, int]:
    """A whole number of cells for every kind, that add up to the total."""
    shares = np.array(list(weights.values())) / sum(weights.values()) * total
    floor = np.floor(shares).astype(int)
    rest = np.argsort(-(shares - floor), kind="stable")[: total - int(floor.sum())]
    floor[rest] += 1
    return dict(zip(weights, floor.tolist(), strict=True))


def _spoiled(table: pa.Table, coded: Coded, found: Found) -> Spoiled:
    order = np.lexsort((found.column, found.row))
    after = pa.array([found.after[place] for place in order.tolist()], pa.string())
    row, column = found.row[order], found.column[order]
    _, first, group = np.unique(found.group[order], return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    before: list[str | None] = [None] * len(row)
    arrays = []
    for number in range(table.num_columns):
        here = np.flatnonzero(column == number)
        for place, text in zip(here.tolist(), coded.texts(number, row[here]), strict=True):
            before[place] = text
        arrays.append(_written(coded, number, row[here], after.take(pa.array(here))))
    return Spoiled(
        table=pa.table(arrays, names=table.column_names),
        row=row,
        column=column,
        kind=found.kind[order],
        before=pa.array(before, pa.string()),
        after=after,
        group=rank[group],
    )


def _written(coded: Coded, number: int, rows: np.ndarray, after: pa.Array) -> pa.ChunkedArray:
    """A column with new texts in some of its rows."""
    codes = coded.codes[number].astype(np.int64)
    codes[rows] = len(coded.values[number]) + np.arange(len(rows))
    texts = pa.chunked_array([coded.values[number], after], pa.string())
    blank = codes < 0
    parts = [
        texts.take(pa.array(codes[start : start + CHUNK], mask=blank[start : start + CHUNK]))
        for start in range(0, len(codes), CHUNK)
    ]
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks], pa.string())
