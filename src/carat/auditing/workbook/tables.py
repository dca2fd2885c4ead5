"""The table in a workbook of findings, its suspicious cells coloured and noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carat.auditing.result import AuditResult, Cell
from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.telling import blank_or, instead, sentence, share
from carat.auditing.workbook.looks import TABLE, fills, ground
from carat.data.workbooks.grid import read_grid
from carat.data.workbooks.package import split_sheet
from carat.data.workbooks.values import cell_name, escaped, number_text
from carat.data.workbooks.writing import head, load_openpyxl, made_cell
from carat.errors import InputError

NOTES = 10_000
"""Cells that get a note, the most suspicious ones: a workbook with many more is slow to open."""
MOST = 4_000
"""Characters of a note."""
NARROW, WIDE = 8, 42
"""Widths of columns."""
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True)
class Copied:
    """A workbook with the table in it.

    Args:
        book: of openpyxl.
        sheet: the name of the sheet that holds the table.
        places: the sheet's name of each suspicious cell, such as `B5`, in the order of the findings.
        original: whether it is a copy of the very workbook that was audited.
    """

    book: Any
    sheet: str
    places: list[str]
    original: bool


def copy_original(result: AuditResult, data: str | Path) -> Copied | None:
    """The workbook that was audited, with all its sheets; None where it can't be opened for changes."""
    path, name = split_sheet(data)
    grid = read_grid(path, name)
    places = [grid.place(row, column) for row, column in _findings(result)]
    cells = result.cells()
    stand = [grid.texts[column][row].as_py() for row, column in _findings(result)]
    if stand != [cell.value for cell in cells]:
        raise InputError(f"{path}: changed while it was audited; audit it again")
    try:
        book = load_openpyxl().load_workbook(path, rich_text=True)
        sheet = book[grid.sheet.name]
    except Exception:  # whatever it stumbles over in a workbook that Excel itself takes
        return None
    grounds = fills()
    for number, (cell, (row, column)) in enumerate(zip(cells, places, strict=True)):
        target = sheet.cell(row + 1, column + 1)
        target.fill = ground(cell.error, grounds)
        if number < NOTES and hasattr(target, "hyperlink"):
            target.comment = _note(cell, before=target.comment)
    return Copied(book, sheet.title, [cell_name(*place) for place in places], original=True)


def write_table(result: AuditResult) -> Copied:
    """A workbook with the table as text, its numbers as numbers."""
    book = load_openpyxl().Workbook(write_only=True)
    sheet = book.create_sheet(TABLE)
    table, grounds = result.reading.table, fills()
    for place, column in enumerate(table.columns):
        letters = cell_name(0, place)[:-1]
        longest = max((len(text) for text in column.values[:1_000]), default=0)
        width = max(longest, len(column.name)) + 3
        sheet.column_dimensions[letters].width = min(max(width, NARROW), WIDE)
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{cell_name(table.rows, max(len(table.columns) - 1, 0))}"
    sheet.append(head(sheet, [column.name for column in table.columns]))
    marked: dict[int, dict[int, tuple[int, Cell]]] = {}
    for number, (cell, (row, place)) in enumerate(zip(result.cells(), _findings(result), strict=True)):
        marked.setdefault(row, {})[place] = (number, cell)
    for row, values in enumerate(_rows(table)):
        cells = [made_cell(sheet, value, where=f"row {row}") for value in values]
        for place, (number, cell) in marked.get(row, {}).items():
            cells[place].fill = ground(cell.error, grounds)
            if number < NOTES:
                cells[place].comment = _note(cell)
        sheet.append(cells)
    places = [cell_name(row + 1, column) for row, column in _findings(result)]
    return Copied(book, TABLE, places, original=False)


def _findings(result: AuditResult) -> list[tuple[int, int]]:
    """Row and column of every suspicious cell, in the table."""
    return list(zip(result.findings.row.tolist(), result.findings.column.tolist(), strict=True))


def _rows(table: AuditTable) -> Iterator[tuple[Any, ...]]:
    return zip(*(_values(column) for column in table.columns), strict=True)


def _values(column: AuditColumn) -> Iterator[Any]:
    """The cells of a column; texts that look just as a number does are numbers, where most of the column is."""
    values: list[Any] = list(column.values)
    numbers = [text for text in values if _NUMBER.fullmatch(text)]
    plain = {text for text in numbers if number_text(float(text)) == text}
    if 2 * len(plain) > len(values) and len(plain) == len(numbers):  # 0721 is a code, and so are its neighbours
        values = [float(text) if text in plain else text for text in values]
        values = [int(value) if isinstance(value, float) and value.is_integer() else value for value in values]
    values.append(None)  # for blank cells, whose code is −1
    return (values[code] for code in column.codes.tolist())


def _note(cell: Cell, before: Any = None) -> Any:
    """What is known about a cell, below the note that it has already."""
    from openpyxl.comments import Comment  # noqa: PLC0415 - optional

    lines = [f"{share(cell.error)} likely wrong ({cell.kind})"]
    if cell.proposal is not None:
        lines.append(f"Suggested fix: {blank_or(cell.proposal)} ({share(cell.confidence)} likely right)")
    if cell.reason:
        lines.append(sentence(cell.reason))
    if cell.alternatives:
        lines.append(f"{instead(cell)}: {', '.join(blank_or(text) for text in cell.alternatives)}")
    text = "\n".join(([before.text, ""] if before is not None else []) + lines)
    height = 22 + 17 * sum(1 + len(line) // 46 for line in text.splitlines())
    return Comment(escaped(text[:MOST]), "carat", width=320, height=min(height, 400))
