"""From a list of cells to the changes of a table: which cells, where they stand, and what they become."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from carat.auditing.applying.choosing import Choice, Left, Rules, choose
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.locating import NUMBER, Located, locate, rewritten
from carat.auditing.applying.typed import UnfitError
from carat.auditing.decisions import CellList
from carat.data.sources import open_source
from carat.errors import InputError
from carat.observing import Observer


@dataclass(frozen=True)
class Plan:
    """What is going to be changed.

    Args:
        edits: by row and column, each cell once.
        choices: what each edit comes from.
        left: how many cells of the list are left as they are, by reason.
        names: the columns of the table.
    """

    edits: Sequence[Edit]
    choices: Sequence[Choice]
    left: Counter[Left]
    names: Sequence[str]


def plan(
    cells: CellList,
    table: Any,
    rules: Rules,
    *,
    id: str | None = None,
    encoding: str | None = None,
    observer: Observer | None = None,
) -> Plan:
    """Choose the cells to change, and check the whole list against the table.

    Args:
        cells: the list.
        table: a path or a frame.
        rules: how sure a proposal must be.
        id: column that names the rows; None is the one that the audit had, or the row number.
        encoding: of a CSV file; None is UTF-8.
        observer: is told how far it is.
    """
    chosen = choose(cells, rules)
    source = open_source(table, encoding=encoding, by_place=True)
    places = locate(cells, source, id=cells.id if id is None else id, observer=observer)
    by_line = {cell.line: place for cell, place in zip(cells, places, strict=True)}
    made: dict[tuple[int, int], tuple[Edit, Choice]] = {}
    left = chosen.left
    for choice in chosen.choices:
        place = by_line[choice.cell.line]
        after = _after(choice, place, cells) or None
        if after == place.stands:
            left["same"] += 1
            continue
        edit = Edit(place.row, place.column, place.stands, after)
        other = made.setdefault((place.row, place.column), (edit, choice))
        if other[0].after != after:
            raise InputError(
                f"{cells.label}: {cells.unit}s {other[1].cell.line} and {choice.cell.line} change the same cell to "
                "different values; keep one"
            )
    ordered = [made[key] for key in sorted(made)]
    return Plan([edit for edit, _ in ordered], [choice for _, choice in ordered], left, source.names)


@contextmanager
def naming_the_cell(made: Plan, cells: CellList) -> Iterator[None]:
    """Where a new value does not fit its column, say which row of the list asks for it."""
    try:
        yield
    except UnfitError as error:
        for edit, choice in zip(made.edits, made.choices, strict=True):
            if edit.after == error.text and str(made.names[edit.column]) == error.column:
                raise InputError(f"{cells.where(choice.cell)}: {error}") from error
        raise


def _after(choice: Choice, place: Located, cells: CellList) -> str:
    """What a cell becomes, where a spreadsheet may have rewritten the list on its way."""
    cell, after = choice.cell, choice.after
    typed_in = cell.decision is not None and cell.decision.word == "text"
    if typed_in or not cell.checked or cell.value == place.stands or place.stands is None:
        return after
    if rewritten(cell.value, place.stands) and NUMBER.fullmatch(after.strip()):
        raise InputError(
            f"{cells.where(cell)}: '{place.stands}' of the table reads '{cell.value}' in the list, so a spreadsheet "
            f"has rewritten numbers, and the fix '{after}' may be wrong, too; import all columns of the list as text"
        )
    if (cell.value or "").casefold() in ("true", "false") and after.casefold() in ("true", "false"):
        return _spelt_like(place.stands, after.lower())
    return after


def _spelt_like(stands: str, word: str) -> str:
    """True or false as the table spells the other one.

    >>> [_spelt_like(stands, "false") for stands in ("true", "True", "TRUE", "1")]
    ['false', 'False', 'FALSE', '0']
    """
    if stands in ("0", "1"):
        return "1" if word == "true" else "0"
    return word.upper() if stands.isupper() else word.capitalize() if stands.istitle() else word
