"""Cells and sheets going out: a text is never a formula, and nothing that is too long is cut off."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa

from carat.data.workbooks.values import check_fits, check_length, escaped
from carat.errors import MissingExtraError

LIKE_FORMULAS = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that a spreadsheet might run."""
HEADER_FILL = "E2EFF4"


def load_openpyxl() -> Any:
    """openpyxl, or an error that names the extra."""
    try:
        import openpyxl  # noqa: PLC0415 - optional
    except ImportError as error:
        raise MissingExtraError("openpyxl", "excel", "writing an .xlsx file") from error
    return openpyxl


def made_cell(sheet: Any, value: Any, *, where: str = "the table") -> Any:
    """A cell with a number, a truth, or a text that stays one whatever it begins with.

    Args:
        sheet: of openpyxl, to which it will belong.
        value: what it holds; None for a blank one.
        where: for the error about a text that is too long.
    """
    from openpyxl.cell import WriteOnlyCell  # noqa: PLC0415 - optional

    cell = WriteOnlyCell(sheet)
    if isinstance(value, str):
        put_text(cell, value, where=where)
    else:
        cell.value = value
    return cell


def put_text(cell: Any, text: str, *, where: str = "the table") -> None:
    """A text into a cell; Excel is told to keep it one, also where somebody edits it later."""
    cell.value = escaped(check_length(text, where))
    cell.data_type = "s"
    if text.startswith(LIKE_FORMULAS):
        cell.quotePrefix = True


def head(sheet: Any, names: list[str]) -> list[Any]:
    """The cells of a header."""
    from openpyxl.styles import Alignment, Font, PatternFill  # noqa: PLC0415 - optional

    cells = [made_cell(sheet, name) for name in names]
    for cell in cells:
        cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor=HEADER_FILL)
        cell.alignment = Alignment(vertical="top")
    return cells


class SheetFile:
    """A workbook of one sheet that is written row by row.

    Args:
        path: where it goes.
        names: of the columns.
    """

    def __init__(self, path: Path, names: list[str]) -> None:
        self._path, self._names, self._rows = path, names, 0
        check_fits(0, len(names), "the output")
        self._book = load_openpyxl().Workbook(write_only=True)
        self._sheet = self._book.create_sheet("Table")
        self._sheet.freeze_panes = "A2"
        self._sheet.append(head(self._sheet, names))

    def write_table(self, table: pa.Table) -> None:
        """Append rows."""
        self._rows += table.num_rows
        check_fits(self._rows, len(self._names), "the output")
        for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
            self._sheet.append([made_cell(self._sheet, _plain(value), where="the output") for value in row])

    def close(self) -> None:
        """Write the file."""
        self._book.save(self._path)


def _plain(value: Any) -> Any:
    """What a cell can hold; it has no way to write what is no number, or has no end."""
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)
