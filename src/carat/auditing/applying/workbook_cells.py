"""What is put into the cells of a workbook: text, or a number, date or truth where the cell should hold one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from html import escape

import numpy as np

from carat.auditing.applying.edits import Edit
from carat.data.workbooks.grid import Grid
from carat.data.workbooks.package import Package
from carat.data.workbooks.values import (
    BLANK,
    DATE,
    ERROR,
    NUMBER,
    TEXT,
    TRUTH,
    cell_name,
    check_length,
    escaped,
    number_text,
    padded,
)
from carat.errors import InputError

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,15})?([eE][+-]?\d{1,3})?")
_DIGITS = re.compile(r"\d{1,15}|\d[\d /()-]{1,30}")
_CLOCK = re.compile(r"(\d{1,4}):([0-5]\d):([0-5]\d)")
_FIRST = date(1900, 3, 1)
"""Before it, Excel counts a day that never was."""


@dataclass(frozen=True)
class Change:
    """What is put into one cell.

    Args:
        row: of the sheet, from 0.
        column: of the sheet, from 0.
        text: what it should show; "" leaves it blank.
        kind: what it should be where the text allows: what it was, or what most cells of its column are.
        borrows: whether it was of another kind, so that a cell of its column has to lend the style for it.
    """

    row: int
    column: int
    text: str
    kind: int
    borrows: bool

    def xml(self, style: int, lent: int | None, prefix: str, package: Package) -> bytes:
        """The cell, in its own style or in the one that is lent where only that shows the text.

        Args:
            style: its own.
            lent: that of a cell of its column which is of the kind that it should be; None where there is none.
            prefix: of the names of elements.
            package: says what styles show.
        """
        name, c, v = cell_name(self.row, self.column), f"{prefix}c", f"{prefix}v"
        if not self.text:
            return f'<{c} r="{name}" s="{style}"/>'.encode()
        if self.kind == TRUTH and self.text in ("TRUE", "FALSE"):
            return f'<{c} r="{name}" s="{style}" t="b"><{v}>{int(self.text == "TRUE")}</{v}></{c}>'.encode()
        for one in ([] if self.kind == DATE and self.borrows else [style]) + ([] if lent is None else [lent]):
            number = self._number(one, package)
            if number is not None:
                return f'<{c} r="{name}" s="{one}"><{v}>{number}</{v}></{c}>'.encode()
        text = escape(escaped(self.text), quote=False)
        inner = f'<{prefix}is><{prefix}t xml:space="preserve">{text}</{prefix}t></{prefix}is>'
        return f'<{c} r="{name}" s="{style}" t="inlineStr">{inner}</{c}>'.encode()

    def _number(self, style: int, package: Package) -> str | None:
        """The number that shows as the text in this style; None where there is none, or none is wanted."""
        if self.kind == DATE:
            return serial(self.text, from_1904=package.from_1904)
        if self.kind != NUMBER:
            return None
        if style in package.zeros and _DIGITS.fullmatch(self.text):
            number = int(re.sub(r"\D", "", self.text))
            return str(number) if padded(number, package.zeros[style]) == self.text else None
        return self.text if style not in package.zeros and _NUMBER.fullmatch(self.text) else None


def changes_of(grid: Grid, edits: Sequence[Edit]) -> dict[int, dict[int, Change]]:
    """The changes by row and column of the sheet.

    Raises:
        InputError: where the table has no such cell, or it does not hold what the edit expects.
    """
    usual = {
        column: _usual(grid.kinds[column]) for column in {edit.column for edit in edits} if column < len(grid.names)
    }
    found: dict[int, dict[int, Change]] = {}
    for edit in edits:
        if not (0 <= edit.row < grid.rows and 0 <= edit.column < len(grid.names)):
            raise InputError(
                f"{grid.package.path}: there is no row {edit.row} with a column number {edit.column}; "
                "is this the table that was audited?"
            )
        _check_before(grid, edit)
        was = int(grid.kinds[edit.column][edit.row])
        kind = was if was in (NUMBER, DATE, TRUTH) else usual[edit.column]
        row, column = grid.place(edit.row, edit.column)
        text = check_length(edit.after or "", f"row {edit.row}, column '{grid.names[edit.column]}'")
        found.setdefault(row, {})[column] = Change(row, column, text, kind, kind != was)
    return found


def _check_before(grid: Grid, edit: Edit) -> None:
    stands = grid.texts[edit.column][edit.row].as_py()
    if stands == (edit.before or None):
        return
    number = edit.before and grid.kinds[edit.column][edit.row] == NUMBER and _NUMBER.fullmatch(edit.before)
    if number and number_text(float(number[0])) == stands:  # 12.50 was written, and a number shows as 12.5
        return
    shown = "is blank" if stands is None else f"holds '{stands}'"
    expected = "a blank" if not edit.before else f"'{edit.before}'"
    raise InputError(
        f"{grid.package.path}: row {edit.row}, column '{grid.names[edit.column]}' {shown}, not {expected}; "
        "is this the table that was audited?"
    )


def _usual(kinds: np.ndarray) -> int:
    """What more than half of the filled cells of a column are; text where there is no such kind."""
    filled = kinds[(kinds != BLANK) & (kinds != ERROR)]
    counts = np.bincount(filled, minlength=ERROR + 1)
    most = int(counts.argmax())
    return most if 2 * int(counts[most]) > len(filled) else TEXT


def serial(text: str, *, from_1904: bool) -> str | None:
    """The number by which Excel keeps a date or a time of day; None for what is neither.

    >>> [serial(text, from_1904=False) for text in ("2024-03-01", "2024-03-01 12:00:00", "06:00:00", "Monday")]
    ['45352', '45352.5', '0.25', None]
    """
    if (clock := _CLOCK.fullmatch(text)) is not None:
        hours, minutes, seconds = (int(part) for part in clock.groups())
        return repr((hours * 3600 + minutes * 60 + seconds) / 86_400)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is not None or moment.date() < _FIRST or text not in (str(moment), str(moment.date())):
        return None
    days = moment - (datetime(1904, 1, 1) if from_1904 else datetime(1899, 12, 30))
    whole = days.total_seconds() / 86_400
    return str(int(whole)) if whole.is_integer() else repr(whole)
