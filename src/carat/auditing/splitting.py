"""Cells with two values in them: `San Francisco CA` in a column of cities, with the state blank or given once more.

Where decided cells cut the end off such values, and it is what stands, or should stand, in another column of the same
row, all cells whose end is a value of that other column are split likewise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from carat.auditing.table import AuditColumn, AuditTable

_BETWEEN = re.compile(r"[\s,;/|-]+")
Decisions = Mapping[tuple[int, int], str]
"""By row and column, what a cell should be, as somebody decided; a cell that is right is decided to be as it is."""


@dataclass(frozen=True)
class Split:
    """The end of a column's values belongs into another column.

    Args:
        other: place of the other column.
        known: what may stand there.
        fills: whether the end is written there where the cell is blank; else such rows are left as they are.
    """

    other: int
    known: frozenset[str]
    fills: bool

    def cells(self, table: AuditTable, column: int) -> Iterator[tuple[int, str, str | None]]:
        """Row, what its cell becomes, and what its blank cell in the other column becomes, None if it is not blank."""
        mine, other = table.columns[column], table.columns[self.other]
        found = {code: parts for code, text in enumerate(mine.values) if (parts := dict(_parts(text, self.known)))}
        for row in np.flatnonzero(np.isin(mine.codes, list(found))).tolist():
            parts = found[int(mine.codes[row])]
            stands = _text(other, row)
            if stands in parts:
                yield row, parts[stands], None
            elif stands is None and self.fills:
                end = max(parts, key=len)
                yield row, parts[end], end


def splits_of(table: AuditTable, column: int, decided: Decisions) -> Iterator[tuple[Split, int]]:
    """How decided cells of a column are split, and how many of them ask for it."""
    asking: dict[int, list[int]] = {}
    for (row, place), after in decided.items():
        before = _text(table.columns[column], row) if place == column else None
        if before is None or not after or before == after or not before.startswith(after):
            continue
        end = _BETWEEN.sub("", before[len(after) :], count=1)
        if dict(_parts(before, {end})).get(end) != after:
            continue
        for other in range(len(table.columns)):
            if other != column and end == decided.get((row, other), _text(table.columns[other], row)):
                asking.setdefault(other, []).append(row)
    for other, rows in sorted(asking.items()):
        fills = any(_text(table.columns[other], row) is None for row in rows)
        truths = (text for (_, place), text in decided.items() if place == other and text)
        split = Split(other, frozenset(table.columns[other].values).union(truths), fills)
        if not _contradicted(split, table, column, decided):
            yield split, len(rows)


def _contradicted(split: Split, table: AuditTable, column: int, decided: Decisions) -> bool:
    """Whether a decided cell would become something else than was decided."""
    for row, head, end in split.cells(table, column):
        if decided.get((row, column), head) != head:
            return True
        if end is not None and decided.get((row, split.other), end) != end:
            return True
    return False


def _parts(text: str, known: Collection[str]) -> Iterator[tuple[str, str]]:
    """Known ends of a text, each with what stands before it.

    >>> dict(_parts("Las Cruces, New Mexico", {"Mexico", "New Mexico", "Cruces"}))
    {'New Mexico': 'Las Cruces', 'Mexico': 'Las Cruces, New'}
    """
    for between in _BETWEEN.finditer(text):
        head, end = text[: between.start()], text[between.end() :]
        if head and end in known:
            yield end, head


def _text(column: AuditColumn, row: int) -> str | None:
    code = int(column.codes[row])
    return None if code < 0 else column.values[code]
