"""The table on a sheet: its header, its columns as text, and where on the sheet they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from carat.data.sources.base import check_names
from carat.data.workbooks.package import Package, Sheet, contains, damaged, open_package, reading
from carat.data.workbooks.values import BLANK, ERROR, cell_name, cell_text, column_letters, kinds_of, padded
from carat.data.workbooks.walking import CellWalk, RawCell
from carat.errors import InputError, MissingExtraError

PART_ROWS = 16_384
"""Rows that are turned into text at a time."""
_TELLING = re.compile(rb"""\bt=["']e["']|<(?:\w+:)?f[ />]""")
"""How an error or a formula shows in the XML of a sheet."""
Shown = dict[int, dict[int, str]]
"""By column and row of the sheet, what a cell shows."""


@dataclass(frozen=True)
class Grid:
    """The table on a sheet.

    Args:
        package: the workbook.
        sheet: the sheet.
        names: of the columns, in order.
        texts: the cells of each column, null where blank.
        kinds: the kind of every cell, int8 [n] for each column.
        header: the sheet's row of the names, from 0; the rows of the table follow it.
        places: the sheet's column of each column, from 0.
    """

    package: Package
    sheet: Sheet
    names: list[str]
    texts: list[pa.ChunkedArray]
    kinds: list[np.ndarray]
    header: int
    places: list[int]

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return len(self.kinds[0]) if self.kinds else 0

    def place(self, row: int, column: int) -> tuple[int, int]:
        """Where on the sheet a cell of the table stands, both from 0."""
        return self.header + 1 + row, self.places[column]


def read_grid(path: Path, sheet: str | None = None, label: str | None = None) -> Grid:
    """Read the table of a sheet, the first one that a person sees if none is named.

    The first row with anything in it is the header. Empty rows at the end and columns without anything are left out.
    """
    label = label or str(path)
    package = open_package(path)
    chosen = package.sheet(sheet)
    shown, errors = _shown(package, chosen)
    left, rows = _rows(path, chosen)
    texts: list[list[pa.Array]] = []
    kinds: list[list[np.ndarray]] = []
    start = 0
    while part := list(islice(rows, PART_ROWS)):
        columns = [list(column) for column in zip(*part, strict=True)]
        texts, kinds = texts or [[] for _ in columns], kinds or [[] for _ in columns]
        for place, column in enumerate(columns):
            found = kinds_of(column)
            cells = [cell_text(value) for value in column]
            if (marked := shown.get(left + place)) is not None:
                cells = [marked.get(row, text) for row, text in enumerate(cells, start)]
            if (wrong := errors.get(left + place)) is not None:
                found[[row in wrong for row in range(start, start + len(cells))]] = ERROR
            texts[place].append(pa.array(cells, pa.string()))
            kinds[place].append(found)
        start += len(part)
    return _table(
        package, chosen, label, left, [pa.chunked_array(t) for t in texts], [np.concatenate(k) for k in kinds]
    )


def _table(
    package: Package, sheet: Sheet, label: str, left: int, texts: list[pa.ChunkedArray], kinds: list[np.ndarray]
) -> Grid:
    """The table within all cells of a sheet."""
    filled = [place for place, column in enumerate(kinds) if (column != BLANK).any()]
    if not filled:
        raise InputError(f"{label}: the sheet '{sheet.name}' is empty")
    header = min(int(np.argmax(kinds[place] != BLANK)) for place in filled)
    last = max(len(kinds[place]) - int(np.argmax(kinds[place][::-1] != BLANK)) for place in filled)
    names = [texts[place][header].as_py() for place in filled]
    for place, name in zip(filled, names, strict=True):
        if name is None or not name.strip():
            letters = column_letters(left + place)
            raise InputError(
                f"{label}: column {letters} of the sheet '{sheet.name}' has values but no name in row {header + 1}; "
                "name it, or remove its values"
            )
    return Grid(
        package,
        sheet,
        check_names(names, label),
        [texts[place].slice(header + 1, last - header - 1) for place in filled],
        [kinds[place][header + 1 : last] for place in filled],
        header,
        [left + place for place in filled],
    )


def _rows(path: Path, sheet: Sheet) -> tuple[int, Iterator[list[Any]]]:
    """The sheet's first column with anything in it, and all rows from there on."""
    try:
        import python_calamine  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("python-calamine", "excel", "reading an .xlsx file") from error
    try:
        cells = python_calamine.load_workbook(path).get_sheet_by_name(sheet.name)
    except (python_calamine.CalamineError, OSError) as error:
        raise damaged(path) from error
    return (cells.start[1], cells.iter_rows()) if cells.start is not None else (0, iter(()))


def _shown(package: Package, sheet: Sheet) -> tuple[Shown, Shown]:
    """What the reader of values does not tell: leading zeros that a format shows, and errors; also the errors alone."""
    shown: Shown = {}
    errors: Shown = {}

    def take(cell: RawCell) -> None:
        if cell.formula is not None and not cell.value and cell.kind not in ("str", "inlineStr"):  # "" is a text
            raise InputError(
                f"{package.path}: {sheet.name}!{cell_name(cell.row, cell.column)} holds a formula that was never "
                "calculated; open the workbook in Excel or LibreOffice and save it"
            )
        if not cell.value:
            return
        if cell.kind == "e":
            shown.setdefault(cell.column, {})[cell.row] = cell.value
            errors.setdefault(cell.column, {})[cell.row] = cell.value
        elif cell.kind == "n" and cell.style in package.zeros:
            shown.setdefault(cell.column, {})[cell.row] = padded(float(cell.value), package.zeros[cell.style])

    with reading(package.path) as archive:
        with archive.open(sheet.part) as file:
            telling = bool(package.zeros) or contains(file, _TELLING)
        if telling:  # most sheets have nothing of the kind, and need no second reading
            with archive.open(sheet.part) as file:
                CellWalk(take).run(file)
    return shown, errors
