"""What decided cells teach an audit: what is right, what is wrong, and what should be there instead."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from carat.auditing.applying.locating import same_text
from carat.auditing.decisions import CellList, Decision, ListedCell, plain_record
from carat.auditing.programs import FEWEST, Pattern, Program, learned, nothing
from carat.auditing.reading import Reading
from carat.auditing.splitting import splits_of
from carat.data.text import to_text
from carat.errors import InputError, nearest

FITTING, BY_CHANCE = 0.8, 0.05
"""A list is about a table if this share of its cells stands there; if it is known to have been made for a table that
was not the same to the letter, they must also be so rare that they would hardly fit by chance."""


@dataclass(frozen=True)
class Taught:
    """Decided cells of a table, and what is known from a list about another table.

    Args:
        row: row numbers, int64 [k].
        column: places of the columns, int64 [k].
        wrong: whether the value was decided to be wrong, bool [k].
        truth: what should be there, [k]; "" for an empty cell, None where nobody knows or the value is right.
        said: the decisions as a list writes them, [k].
        rejected: (column, value, proposal) of cells that were decided to be right, in whatever table.
        rewrites: (column, value, new value) of decided cells, in whatever table.
    """

    row: np.ndarray
    column: np.ndarray
    wrong: np.ndarray
    truth: list[str | None]
    said: list[str]
    rejected: frozenset[tuple[str, str | None, str | None]] = frozenset()
    rewrites: tuple[tuple[str, str, str], ...] = ()
    _index: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        pairs = zip(self.row.tolist(), self.column.tolist(), strict=True)
        object.__setattr__(self, "_index", {pair: number for number, pair in enumerate(pairs)})

    def __len__(self) -> int:
        return len(self.row)

    def at(self, row: int, column: int) -> int | None:
        """The number of a decided cell; None for one that was not decided."""
        return self._index.get((row, column))

    def fingerprint(self) -> str:
        """A hash over all of it."""
        found = hashlib.sha256()
        for part in (
            self.row.tolist(),
            self.column.tolist(),
            self.said,
            sorted(map(str, self.rejected)),
            self.rewrites,
        ):
            found.update(repr(part).encode("utf-8", "surrogatepass"))
        return found.hexdigest()

    def patterns(self, reading: Reading) -> list[Pattern]:
        """Rewrites that the decided cells of every column ask for, numbered from 1."""
        found, cells = [], self._decisions(reading)
        for place, column in enumerate(reading.table.columns):
            mine = np.flatnonzero(self.column == place).tolist()
            stands = {k: column.codes[self.row[k]] for k in mine}
            texts = {k: column.values[code] for k, code in stands.items() if code >= 0}
            changed = [(texts[k], truth) for k in texts if self.wrong[k] and (truth := self.truth[k]) is not None]
            changed += [(before, after) for name, before, after in self.rewrites if name == column.name]
            split = [
                Pattern(
                    place,
                    Program(f"split off '{reading.table.columns[one.other].name}' at the end", nothing),
                    n,
                    0,
                    one,
                )
                for one, n in splits_of(reading.table, place, cells)
                if n >= FEWEST
            ]
            # A split knows more of the row than any rewrite of the value alone.
            found += [*split, *learned(place, changed, [texts[k] for k in texts if not self.wrong[k]])]
        return [replace(one, number=number) for number, one in enumerate(found, start=1)]

    def _decisions(self, reading: Reading) -> dict[tuple[int, int], str]:
        """By row and column, what a decided cell should be; without those that nobody knows."""
        found = {}
        for (row, place), k in self._index.items():
            column = reading.table.columns[place]
            code = int(column.codes[row])
            right = self.truth[k] if self.wrong[k] else column.values[code] if code >= 0 else ""
            if right is not None:
                found[row, place] = right
        return found


def taught(cells: CellList, reading: Reading) -> Taught:
    """What the decisions of a list say about a table.

    A decided cell that is found there, by its row and its value, is known to be right or wrong. One that is not (the
    list is of another month's table) still teaches by its content: the same column, value and proposal are not shown
    again if they were rejected, and rewrites are learned from.
    """
    here = is_about(cells, reading)
    places: dict[str, list[int]] = {}
    for place, column in enumerate(reading.table.columns):
        places.setdefault(column.name, []).append(place)
    rows = _rows(reading)
    row, at, wrong, truth, said = [], [], [], [], []
    rejected, rewrites = set(), []
    for cell in cells:
        decision = cell.decision
        if decision is None:
            continue
        if cell.column not in places:
            hint = nearest(cell.column, list(places))
            raise InputError(f"{cells.where(cell)}: {reading.label} has no column '{cell.column}'; {hint}")
        # One blank is like any other: that this one is right says nothing about those of other rows.
        if decision.word == "reject" and cell.value is not None:
            rejected.add((cell.column, cell.value, cell.proposal))
        right = _truth(cell, decision)
        found = _found(cell, reading, rows, places[cell.column]) if here else None
        if found is None:
            if right is not None and cell.value is not None:
                rewrites.append((cell.column, cell.value, right))
            continue
        row.append(found[0])
        at.append(found[1])
        # What was decided may be done already, in a table that was fixed since.
        done = right is not None and right == (_stands(reading, *found) or "")
        wrong.append(decision.word != "reject" and not done)
        truth.append(None if done else right)
        said.append(f"={decision.text}" if decision.word == "text" else decision.word)
    return Taught(
        np.array(row, dtype=np.int64),
        np.array(at, dtype=np.int64),
        np.array(wrong, dtype=bool),
        truth,
        said,
        frozenset(rejected),
        tuple(rewrites),
    )


def is_about(cells: CellList, reading: Reading) -> bool:
    """Whether the rows of a list are those of a table.

    Names of rows say which row is meant; numbers do so in one table alone. In another month's, the row of that number
    is somebody else's, and now and then it holds the same value.
    """
    rows = _rows(reading)
    checked = [cell for cell in cells if cell.checked]
    known = (cells.about.get("origin") or {}).get("fingerprint")
    if rows or known == reading.fingerprint or not checked:
        return True
    places: dict[str, list[int]] = {}
    for place, column in enumerate(reading.table.columns):
        places.setdefault(column.name, []).append(place)
    fits, chance = 0, 0.0
    for cell in checked:
        found = _found(cell, reading, rows, places.get(cell.column, []))
        truth = None if cell.decision is None else _truth(cell, cell.decision)
        if found is None and truth is not None:  # it may have been fixed since
            found = _found(replace(cell, value=truth or None), reading, rows, places.get(cell.column, []))
        if found is not None:
            column = reading.table.columns[found[1]]
            code = int(column.codes[found[0]])
            held = column.blank if code < 0 else int(column.counts[code])
            fits, chance = fits + 1, chance + np.log(held / reading.table.rows)
    # Where it is known that the table is not the same, a cell or two may well fit by chance.
    return fits >= FITTING * len(checked) and (known is None or chance <= np.log(BY_CHANCE))


def _truth(cell: ListedCell, decision: Decision) -> str | None:
    return cell.proposal if decision.word == "accept" else decision.text if decision.word == "text" else None


def _stands(reading: Reading, row: int, place: int) -> str | None:
    """The value of a cell; None where it is blank."""
    column = reading.table.columns[place]
    code = int(column.codes[row])
    return None if code < 0 else column.values[code]


def _rows(reading: Reading) -> dict[str, int]:
    """Row numbers by what names the rows; empty where row numbers do."""
    if reading.names is None:
        return {}
    return {plain_record(name): row for row, name in enumerate(to_text(reading.names, "id").to_pylist()) if name}


def _found(cell: ListedCell, reading: Reading, rows: dict[str, int], places: list[int]) -> tuple[int, int] | None:
    """The row and place of a listed cell; None where the table does not have it there."""
    plain = plain_record(cell.record)
    row = rows.get(plain) if rows else int(plain) if plain.isdecimal() and len(plain) < 18 else None
    if row is None or row >= reading.table.rows:
        return None
    for place in places:
        if not cell.checked or same_text(cell.value, _stands(reading, row, place)):
            return row, place
    return None
