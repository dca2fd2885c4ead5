"""The first sheet of a workbook of findings: what it is, and what to do with it."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from carat.auditing.result import AuditResult
from carat.auditing.telling import many
from carat.auditing.workbook.looks import CERTAINTY, DECISIONS, fill
from carat.auditing.workbook.tables import NOTES, Copied
from carat.data.workbooks.package import split_sheet
from carat.data.workbooks.writing import made_cell


def write_read_me(sheet: Any, result: AuditResult, copied: Copied, findings: str, command: str) -> None:
    """What this is, and what to do with it."""
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415 - optional

    sheet.column_dimensions["A"].width, sheet.column_dimensions["B"].width = 28, 90
    sheet.sheet_view.showGridLines = False
    bold, code = Font(bold=True), Font(name="Consolas")
    wrapped = Alignment(vertical="top", wrap_text=True)

    def add(*texts: str, font: Any = None, colour: str | None = None) -> None:
        cells = [made_cell(sheet, text) for text in texts]
        for cell in cells:
            cell.alignment = wrapped if len(texts) > 1 else Alignment(vertical="top")
        if cells and font is not None:
            cells[0].font = font
        if cells and colour is not None:
            cells[0].fill = fill(colour)
        sheet.append(cells)

    add("Cells that are probably wrong", font=Font(bold=True, size=14))
    add(f"{result.headline()}.")
    add(f"{result.reading.label}, checked by carat." if result.origin is None else _origin(result))
    add()
    add("What to do", font=bold)
    add(f"1. Open the sheet '{findings}'. Each row is one suspicious cell, the most suspicious first.")
    add(f"    Click an entry in the column 'record' to see the cell in its row, on the sheet '{copied.sheet}'.")
    if result.reading.names is None:
        add("    Row numbers in 'record' count from 0, without the header.")
    add("2. Decide in the column 'decision', with the drop-down or by typing.")
    add(
        f"    Where you leave it blank, a fix is made only if it is at least {result.options.certain:.0%} likely right."
    )
    add("3. Save this workbook. Then let carat make a corrected copy of your table:")
    add(f"    {command}", font=code)
    add("    Add --decided-only to make only the fixes that you have decided on.")
    add()
    add("What you can decide", font=bold)
    for word, meaning in DECISIONS:
        add(word, meaning)
    add("If Excel takes =Berlin for a formula, that is fine. You can also type an apostrophe before it: '=Berlin.")
    add("The suggested fix <blank> means that the cell should be empty. Cells with the same group are fixed together.")
    add()
    add("Colours", font=bold)
    for _, colour, meaning in CERTAINTY:
        add(meaning, colour=colour)
    if len(result) > NOTES:
        add(f"The {NOTES:,} most suspicious cells have a note with the reason; the others are only coloured.")
    else:
        add("Each coloured cell has a note with the reason.")
    add()
    add(f"Changes on the sheet '{copied.sheet}' are not read back. carat makes them in a copy of your own table.")


def _origin(result: AuditResult) -> str:
    assert result.origin is not None
    name, made = Path(result.reading.label).name, result.origin
    return f"Table: {name}, {many(result.rows, 'row')}, audited on {made.made[:10]} by carat {made.carat}."


def apply_command(called: str, data: str | Path | None) -> str:
    """How to hand the decisions back."""
    if data is None:
        return f"carat apply {shlex.quote(Path(called).name)} TABLE --out FILE"
    name = split_sheet(data)[0].name
    stem, dot, ending = name.partition(".")
    fixed = f"{stem}-fixed{dot}{ending}"
    given = name if "#" not in str(data) else Path(str(data)).name
    return f"carat apply {shlex.quote(Path(called).name)} {shlex.quote(given)} --out {shlex.quote(fixed)}"
