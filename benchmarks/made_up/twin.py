"""A table with a dirty copy, and what is wrong with each cell of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import NamedTuple

import pyarrow as pa

Spoil = Callable[[Random, str], str | None]
"""Makes something wrong of a right value; None where the value has no room for the slip."""

Slips = Mapping[str, Sequence[tuple[float, str, Spoil]]]
"""For each column: the share of its cells that a slip befalls, the slip's kind, and what it does."""


class Planted(NamedTuple):
    """One wrong cell: its row, from 0, its column, the kind of error, and what is right; None is blank."""

    row: int
    column: str
    kind: str
    before: str | None


class Twin:
    """A table of text and its dirty copy, which is spoiled cell by cell; blank cells are "" here and null in Arrow.

    Args:
        columns: names of the columns.
        rows: the right cells, row by row; what isn't text becomes text.
        draw: where the slips come from.
    """

    def __init__(self, columns: Sequence[str], rows: Iterable[Iterable[object]], draw: Random) -> None:
        self.columns, self.draw = list(columns), draw
        self.right = [[str(cell) for cell in row] for row in rows]
        self._held = [list(row) for row in self.right]
        self._kinds: dict[tuple[int, int], str] = {}

    def put(self, row: int, column: str, value: str | None, kind: str) -> None:
        """Write a wrong value; a cell is spoiled only once, and only by a change."""
        place = self.columns.index(column)
        if value not in (None, self.right[row][place]) and (row, place) not in self._kinds:
            self._held[row][place], self._kinds[row, place] = value, kind

    def swap(self, row: int, one: str, other: str, kind: str) -> None:
        """Swap two cells of a row, unless they are alike or one of them is spoiled."""
        first, second = self.columns.index(one), self.columns.index(other)
        if self._kinds.keys().isdisjoint({(row, first), (row, second)}):
            self.put(row, one, self.right[row][second], kind)
            self.put(row, other, self.right[row][first], kind)

    def spoil(self, slips: Slips) -> None:
        """Let slips befall cells by their shares; those of one column exclude each other."""
        for column, ways in slips.items():
            place, shares = self.columns.index(column), [share for share, _, _ in ways]
            for row, cells in enumerate(self.right):
                way = self.draw.choices([*ways, None], [*shares, 1 - sum(shares)])[0]
                if way is not None:
                    _, kind, spoil = way
                    self.put(row, column, spoil(self.draw, cells[place]), kind)

    @property
    def clean(self) -> pa.Table:
        """The table as it should be."""
        return self._table(self.right)

    @property
    def dirty(self) -> pa.Table:
        """The table as it is found."""
        return self._table(self._held)

    @property
    def planted(self) -> list[Planted]:
        """Every wrong cell, by row and then by column."""
        return [
            Planted(row, self.columns[place], kind, self.right[row][place] or None)
            for (row, place), kind in sorted(self._kinds.items())
        ]

    def _table(self, rows: list[list[str]]) -> pa.Table:
        columns = [pa.array([row[place] or None for row in rows], pa.string()) for place in range(len(self.columns))]
        return pa.table(columns, names=self.columns)
