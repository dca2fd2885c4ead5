"""Findings as a workbook: what a person sees in it, and what comes back from it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest
from openpyxl.comments import Comment
from openpyxl.worksheet.formula import ArrayFormula

import carat
from carat.auditing.result import AuditResult
from carat.auditing.workbook import looks, read_findings, tables, write_findings
from carat.data import open_source
from carat.data.workbooks import values
from carat.errors import InputError
from tests.support.audits import cities, fake_audit
from tests.support.books import office, write_book
from tests.support.sources import columns_of

CELLS = [("City", 3), ("City", 7), ("Land", 7), ("Land", 5)]
"""The findings of the made-up audit, in order."""


@pytest.fixture(autouse=True)
def made_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)


def rows_of(table: pa.Table) -> list[list[Any]]:
    return [table.column_names, *(list(row) for row in zip(*table.to_pydict().values(), strict=True))]


def written(tmp_path: Path, data: Any = None, **options: Any) -> tuple[AuditResult, Path]:
    result = carat.audit(cities() if data is None else data, **options)
    write_findings(result, tmp_path / "cells.xlsx")
    return result, tmp_path / "cells.xlsx"


def decide(path: Path, **decisions: Any) -> None:
    """Fill in decisions as a person does, by the cell of the sheet."""
    book = openpyxl.load_workbook(path)
    for name, value in decisions.items():
        book["Findings"][name].value = value
    book.save(path)


@pytest.mark.parametrize("options", [{}, {"id": "number"}], ids=["row numbers", "names"])
def test_what_is_written_comes_back(tmp_path: Path, options: dict[str, str]) -> None:
    result, path = written(tmp_path, **options)
    assert read_findings(path) == result.to_file()


def test_the_columns_are_those_of_every_file_of_findings() -> None:
    assert list(looks.COLUMNS) == carat.audit(cities()).to_file().column_names


def test_the_table_is_there_with_its_suspicious_cells_coloured_and_noted(tmp_path: Path) -> None:
    _, path = written(tmp_path)
    assert columns_of(open_source(f"{path}#Table")) == cities().to_pydict()
    sheet = openpyxl.load_workbook(path)["Table"]
    coloured = {cell.coordinate: cell.fill.fgColor.rgb[2:] for row in sheet.iter_rows(min_row=2) for cell in row}
    coloured = {place: colour for place, colour in coloured.items() if colour != "000000"}
    assert coloured == {"B5": "F3BDA6", "B9": "F3BDA6", "C9": "F3BDA6", "C7": "FFF3CF"}, "by certainty"
    noted = {cell.coordinate: cell.comment.text for row in sheet.iter_rows() for cell in row if cell.comment}
    assert set(noted) == set(coloured)
    assert noted["B5"].splitlines() == [
        "97% likely wrong (typo)",
        "Suggested fix: Leith (92% likely right)",
        "the reason of a typo.",
        "Or: Lima",
    ]
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:D41")


def test_the_list_has_a_drop_down_a_filter_and_links(tmp_path: Path) -> None:
    _, path = written(tmp_path)
    sheet = openpyxl.load_workbook(path)["Findings"]
    (offer,) = sheet.data_validations.dataValidation
    assert (offer.type, offer.formula1, offer.errorStyle) == ("list", '"accept,reject,wrong"', "warning")
    assert str(offer.sqref) == "K2:K1048576"
    assert (sheet.freeze_panes, sheet.auto_filter.ref) == ("A2", "A1:K5")
    assert [sheet.cell(row, 1).hyperlink.location for row in range(2, 6)] == [
        *("'Table'!B5", "'Table'!B9", "'Table'!C9", "'Table'!C7")
    ]
    assert sheet["K2"].number_format == "@", "typed text is no formula"
    assert sheet.column_dimensions["I"].width > 50


def test_the_read_me_says_what_to_do(tmp_path: Path) -> None:
    path = write_book(tmp_path / "my table.xlsx", {"A": [["x"], ["a"]], "Cities": rows_of(cities())})
    for data, command in (
        (cities(), "carat apply cells.xlsx TABLE --out FILE"),
        (f"{path}#Cities", "carat apply cells.xlsx 'my table.xlsx#Cities' --out 'my table-fixed.xlsx'"),
    ):
        _, made = written(tmp_path, data)
        sheet = openpyxl.load_workbook(made).worksheets[0]
        texts = [str(cell.value) for row in sheet.iter_rows() for cell in row if cell.value]
        assert sheet.title == "Read me"
        assert "4 suspicious cells in 3 of 40 rows: 1 typo, 2 misplaced, 1 missing." in texts
        assert f"    {command}" in texts
        assert {"accept", "reject", "wrong", "=text"} < {*texts}


def test_a_workbook_that_was_audited_is_copied_as_it_is(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Notes": [["hello"]], "Cities": [[], *rows_of(cities())]})
    book = openpyxl.load_workbook(path)
    sheet = book["Cities"]
    sheet.column_dimensions["B"].width = 44
    sheet["B6"].font = openpyxl.styles.Font(bold=True)
    sheet["B6"].comment = Comment("mine", "me")
    book["Notes"]["B2"] = "=1+1"
    book.active = 1
    book.save(path)
    before = path.read_bytes()
    result, made = written(tmp_path, f"{path}#Cities")
    assert path.read_bytes() == before, "the original is left alone"
    copy = openpyxl.load_workbook(made)
    assert copy.sheetnames == ["Read me", "Findings", "Notes", "Cities"]
    assert [sheet.title for sheet in copy.worksheets if sheet.sheet_view.tabSelected] == ["Read me"]
    cell = copy["Cities"]["B6"]
    assert (cell.value, cell.font.b, cell.fill.fgColor.rgb) == ("Le?ith", True, "00F3BDA6")
    assert cell.comment.text.startswith("mine\n\n97% likely wrong")
    assert copy["Cities"].column_dimensions["B"].width == 44
    assert copy["Notes"]["B2"].value == "=1+1"
    assert copy["Findings"]["A2"].hyperlink.location == "'Cities'!B6"
    assert read_findings(made) == result.to_file()


def test_a_table_that_changed_meanwhile_is_refused(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Cities": rows_of(cities())})
    result = carat.audit(str(path))
    write_book(path, {"Cities": rows_of(cities().slice(1))})
    with pytest.raises(InputError, match="changed while it was audited"):
        write_findings(result, tmp_path / "cells.xlsx")


def test_a_workbook_that_can_not_be_copied_becomes_a_plain_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stumble(*arguments: Any, **named: Any) -> None:
        raise AttributeError("'list' object has no attribute 'find'")

    path = write_book(tmp_path / "t.xlsx", {"Cities": rows_of(cities())})
    result = carat.audit(str(path))
    with monkeypatch.context() as patch:
        patch.setattr(openpyxl, "load_workbook", stumble)
        write_findings(result, tmp_path / "cells.xlsx")
    assert openpyxl.load_workbook(tmp_path / "cells.xlsx").sheetnames == ["Read me", "Findings", "Table"]


def test_sheets_of_the_same_name_are_told_apart(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Findings": rows_of(cities()), "read me": [["x"]]})
    result, made = written(tmp_path, str(path))
    assert openpyxl.load_workbook(made).sheetnames == ["Read me (carat)", "Findings (carat)", "Findings", "read me"]
    assert read_findings(made) == result.to_file()


HOSTILE = [
    "=1+1?",
    "=cmd|' /C calc'!A0?",
    "+1?",
    "-1?",
    "@SUM(1)?",
    "\t=1?",
    "bell \x07?",
    "_x0041_?",
    "#N/A?",
    "a\r\nb?",
]


def test_no_text_is_run_or_lost(tmp_path: Path) -> None:
    city = [["Callao", "Leith"][row % 2] for row in range(40)]
    city[: len(HOSTILE)] = HOSTILE
    table = pa.table({"=City": city, "Land": [["Peru", "Scotland"][row % 2] for row in range(40)]})
    result, path = written(tmp_path, table)
    assert read_findings(path) == result.to_file()
    assert sorted(read_findings(path)["value"].to_pylist()) == sorted(HOSTILE)
    assert columns_of(open_source(f"{path}#Table")) == table.to_pydict()
    book = openpyxl.load_workbook(path)
    kinds = {cell.data_type for sheet in book for row in sheet.iter_rows() for cell in row}
    assert kinds <= {"s", "n"}, "neither formulas nor errors"
    assert book["Table"]["A2"].quotePrefix, "nor after an edit"


def test_numbers_are_numbers_and_codes_are_not(tmp_path: Path) -> None:
    table = cities().append_column("Weight", pa.array([str(10 + row) for row in range(40)]))
    table = table.append_column("Code", pa.array([f"{row % 3:04d}" for row in range(40)]))
    _, path = written(tmp_path, table)
    row = next(openpyxl.load_workbook(path)["Table"].iter_rows(min_row=3, max_row=3, values_only=True))
    assert row[-2:] == (11, "0001")


def test_decisions_come_back_however_they_were_typed(tmp_path: Path) -> None:
    _, path = written(tmp_path)
    decide(path, K2="accept", K3="=Berlin", K4=ArrayFormula("K4", "=Berlin"), K5="=4000")
    assert openpyxl.load_workbook(path)["Findings"]["K3"].data_type == "f"
    assert read_findings(path)["decision"].to_pylist() == ["accept", "=Berlin", "=Berlin", "=4000"]


def test_libreoffice_saves_it_and_it_still_comes_back(tmp_path: Path) -> None:
    result, path = written(tmp_path)
    decide(path, K2="accept", K4="reject")
    (tmp_path / "again").mkdir()
    again = office(path, "xlsx", tmp_path / "again")
    expected = result.to_file().to_pylist()
    expected[0]["decision"], expected[2]["decision"] = "accept", "reject"
    found = read_findings(again).to_pylist()
    for row, other in zip(found, expected, strict=True):  # LibreOffice keeps 15 digits
        assert row.pop("error") == pytest.approx(other.pop("error"))
        assert row.pop("confidence") == pytest.approx(other.pop("confidence"))
    assert found == expected
    read_me = office(path, "csv", tmp_path).read_text(encoding="utf-8")
    assert "carat apply cells.xlsx TABLE --out FILE" in read_me


def test_rows_may_be_sorted_removed_and_added_and_columns_too(tmp_path: Path) -> None:
    result, path = written(tmp_path)
    book = openpyxl.load_workbook(path)
    sheet = book["Findings"]
    sheet.delete_rows(3)
    sheet.insert_cols(1)
    sheet["A1"] = "mine"
    sheet["B9"], sheet["C9"], sheet["L9"] = 11, "City", "=Lima"
    book.save(path)
    expected = result.to_file().to_pylist()
    added = {**dict.fromkeys(looks.COLUMNS), "record": 11, "column": "City", "decision": "=Lima"}
    assert read_findings(path).to_pylist() == [expected[0], *expected[2:], added]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"E2": "high"}, "Findings!E2 can't be read as 'error': 'high'"),
        ({"J3": "a"}, "Findings!J3 can't be read as 'group': 'a'"),
        ({"H2": "Lima"}, "Findings!H2 can't be read as 'alternatives': 'Lima'"),
        ({"C1": "what"}, "no column 'value' in row 1 of the sheet 'Findings'; put it back as it was"),
    ],
)
def test_what_can_not_be_read_is_named(tmp_path: Path, changes: dict[str, str], said: str) -> None:
    _, path = written(tmp_path)
    decide(path, **changes)
    with pytest.raises(InputError, match=re.escape(said)):
        read_findings(path)


def test_other_workbooks_are_refused(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Cities": rows_of(cities())})
    with pytest.raises(InputError, match="no sheet 'Findings'; give a workbook that carat audit --out wrote"):
        read_findings(path)
    with pytest.raises(InputError, match="none.xlsx: no such file"):
        read_findings(tmp_path / "none.xlsx")


def test_nothing_found(tmp_path: Path) -> None:
    result, path = written(tmp_path, cut=1.0)
    assert len(result) == 0
    assert read_findings(path).column_names == list(looks.COLUMNS)
    assert read_findings(path).num_rows == 0


def test_only_the_most_suspicious_cells_get_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "NOTES", 1)
    _, path = written(tmp_path)
    sheet = openpyxl.load_workbook(path)["Table"]
    assert [cell.coordinate for row in sheet.iter_rows() for cell in row if cell.comment] == ["B5"]


def test_limits_of_a_workbook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    result = carat.audit(cities().append_column("Long", pa.array(["a" * 40_000, *["b"] * 39])))
    with pytest.raises(InputError, match="column 'Long': a text of 40,000 characters"):
        write_findings(result, tmp_path / "cells.xlsx")
    monkeypatch.setattr(values, "MAX_ROWS", 40)
    with pytest.raises(InputError, match="40 rows, and a sheet of a workbook holds 39"):
        write_findings(replace(carat.audit(cities())), tmp_path / "cells.xlsx")
    assert not list(tmp_path.iterdir())
