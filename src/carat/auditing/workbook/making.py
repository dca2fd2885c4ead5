"""A workbook of findings: what to read first, the list to decide on, and the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carat.auditing.reading import Reading
from carat.auditing.result import AuditResult
from carat.auditing.workbook.looks import (
    ASKED,
    COLUMNS,
    FINDINGS,
    READ_ME,
    WIDTHS,
    fill,
    fills,
    free_name,
    ground,
)
from carat.auditing.workbook.read_me import apply_command, write_read_me
from carat.auditing.workbook.tables import Copied, copy_original, write_table
from carat.data.workbooks.package import is_workbook
from carat.data.workbooks.values import MAX_ROWS, cell_name, check_fits, check_length
from carat.data.workbooks.writing import head, made_cell
from carat.data.writers import flat

SHARE = '[>=0.995]">99%";[<0.005]"<1%";0%'
"""A number format for probabilities, that never claims certainty."""
LINKS = 60_000
"""Rows of the list that lead to their cell; Excel takes 65,530 on a sheet."""


def check_reading(reading: Reading) -> None:
    """Refuse, before the audit, a table that a workbook can't hold."""
    table = reading.table
    check_fits(table.rows, len(table.columns), reading.label)
    for column in table.columns:
        check_length(max(column.values, key=len, default=""), f"{reading.label}: column '{column.name}'")


def write_findings(result: AuditResult, path: Path, *, called: str | None = None) -> None:
    """Write the findings of an audit as a workbook.

    An .xlsx file that was audited is copied with all its sheets; from anything else, a sheet is made.

    Args:
        result: of the audit.
        path: where the workbook goes; what is there is replaced.
        called: the name that the workbook will have in the end; by default that of `path`.
    """
    check_reading(result.reading)
    check_fits(len(result), len(COLUMNS), "the list of suspicious cells")
    data = result.reading.like
    file = data if isinstance(data, str | Path) and str(data) != "-" else None
    copied = copy_original(result, file) if file is not None and is_workbook(file) else None
    copied = copied or write_table(result)
    book, findings = copied.book, free_name(copied.book, FINDINGS)
    read_me = free_name(book, READ_ME)
    for sheet in book.worksheets:  # else Excel would open them as a group, and change all of them at once
        sheet.sheet_view.tabSelected = False
    _list_cells(book.create_sheet(findings, 0), result, copied)
    command = apply_command(called or path.name, file)
    first = book.create_sheet(read_me, 0)
    first.sheet_view.tabSelected, book.active = True, 0
    write_read_me(first, result, copied, findings, command)
    book.save(path)


def _list_cells(sheet: Any, result: AuditResult, copied: Copied) -> None:
    """One row per suspicious cell, with the columns that every file of findings has."""
    from openpyxl.styles import Alignment, Font  # noqa: PLC0415 - optional
    from openpyxl.worksheet.properties import PageSetupProperties  # noqa: PLC0415 - optional

    for place, name in enumerate(COLUMNS):
        sheet.column_dimensions[cell_name(0, place)[:-1]].width = WIDTHS[name]
    sheet.freeze_panes, sheet.print_title_rows = "A2", "1:1"
    sheet.page_setup.orientation, sheet.page_setup.fitToHeight = "landscape", 0
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.auto_filter.ref = f"A1:{cell_name(len(result), len(COLUMNS) - 1)}"
    sheet.append(head(sheet, list(COLUMNS)))
    long, short = ("reason", "value", "proposal", "alternatives"), ("error", "confidence", "group")
    align = {
        name: Alignment(vertical="top", wrap_text=name in long, horizontal="center" if name in short else "left")
        for name in COLUMNS
    }
    asked, grounds, link = fill(ASKED), fills(), Font(color="1B5C77", underline="single")
    table = flat(result.to_file())
    for number, row in enumerate(table.to_pylist()):
        cells = {name: made_cell(sheet, _plain(row[name]), where="the list of suspicious cells") for name in COLUMNS}
        for name, cell in cells.items():
            cell.alignment = align[name]
        cells["value"].fill = ground(row["error"], grounds)
        cells["error"].number_format = cells["confidence"].number_format = SHARE
        cells["decision"].fill, cells["decision"].number_format = asked, "@"  # text, so that =Berlin is no formula
        if number < LINKS:
            cells["record"].font = link
            _link(cells["record"], number + 2, f"{_quoted(copied.sheet)}!{copied.places[number]}")
        sheet.append(list(cells.values()))
    _offer(sheet)


def _link(cell: Any, row: int, place: str) -> None:
    """Lead from a cell of the first column to another place in the workbook."""
    from openpyxl.worksheet.hyperlink import Hyperlink  # noqa: PLC0415 - optional

    cell.row, cell.column = row, 1
    text = cell.value
    cell.hyperlink = Hyperlink(ref=f"A{row}", location=place)
    cell.value = text


def _offer(sheet: Any) -> None:
    """A drop-down for decisions; another text is asked about, not refused."""
    from openpyxl.worksheet.datavalidation import DataValidation  # noqa: PLC0415 - optional

    letters = cell_name(0, COLUMNS.index("decision"))[:-1]
    offer = DataValidation(
        type="list",
        formula1='"accept,reject,wrong"',
        allow_blank=True,
        showErrorMessage=True,
        errorStyle="warning",
        errorTitle="Another value?",
        error="For another value, type = and the value, such as =Berlin. Else choose accept, reject or wrong.",
    )
    offer.add(f"{letters}2:{letters}{MAX_ROWS}")
    sheet.data_validations.append(offer)


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | bool | int | float) else str(value)


def _quoted(sheet: str) -> str:
    return "'" + sheet.replace("'", "''") + "'"
