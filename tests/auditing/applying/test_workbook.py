"""Changes in a copy of a workbook: the cells that were asked for, and nothing else."""

from __future__ import annotations

import re
from datetime import date
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.styles import Font, PatternFill

from carat.auditing.applying.edits import Edit
from carat.auditing.applying.workbook import formula_cells, patch_workbook
from carat.data import open_source
from carat.data.workbooks import walking
from carat.errors import InputError
from tests.support.books import office, parts_of, with_part, write_book
from tests.support.sources import columns_of

SHEET, WORKBOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
ROWS: list[list[Any]] = [
    ["City", "Postcode", "Since", "Weight", "Twice"],
    ["Leith", 721, date(2024, 3, 1), 10, None],
    ["Lieth", 1234, date(2024, 3, 2), 11.5, None],
    [None, None, None, "12 kg", None],
    [],
    ["Porto", 4000, date(2024, 3, 4), 13, None],
]


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A workbook with a style, a width, a format with zeros, a formula, another sheet and a chart."""
    path = write_book(tmp_path / "t.xlsx", {"Table": ROWS, "Other": [["n"], [3]]})
    made = openpyxl.load_workbook(path)
    sheet, other = made["Table"], made["Other"]
    sheet.column_dimensions["A"].width = 33
    sheet["A3"].font, sheet["A3"].fill = Font(bold=True), PatternFill("solid", fgColor="00FF00")
    for row in (2, 3, 6):
        sheet.cell(row, 2).number_format = "00000"
        sheet.cell(row, 5).value = f"=D{row}*2"
    other["B1"] = "=SUM(Table!D2:D3)"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=4, min_row=1, max_row=3))
    other.add_chart(chart, "D2")
    made.save(path)
    for part in (SHEET, SHEET.replace("1", "2")):
        with_part(path, part, re.sub(rb"(<f>[^<]*</f>)<v ?/>", rb"\1<v>20</v>", parts_of(path)[part]))
    return path


def patched(book: Path, *edits: Edit) -> Path:
    out = book.with_name("out.xlsx")
    patch_workbook(book, out, edits)
    return out


def test_only_the_cell_changes(book: Path) -> None:
    out = patched(book, Edit(1, 0, "Lieth", "Leith"))
    expected = columns_of(open_source(book))
    expected["City"][1] = "Leith"
    assert columns_of(open_source(out)) == expected
    before, after = parts_of(book), parts_of(out)
    assert list(before) == list(after)
    assert [name for name in before if before[name] != after[name]] == [SHEET]
    whole = re.compile(rb'<c r="A3".*?</c>')
    assert whole.sub(b"", before[SHEET]) == whole.sub(b"", after[SHEET]), "byte for byte around it"
    cell = openpyxl.load_workbook(out)["Table"]["A3"]
    assert (cell.value, cell.font.b, cell.fill.fgColor.rgb) == ("Leith", True, "0000FF00")


def test_other_sheets_widths_formulas_and_charts_are_kept(book: Path) -> None:
    made = openpyxl.load_workbook(patched(book, Edit(0, 3, "10", "20")))
    assert made.sheetnames == ["Table", "Other"]
    assert made["Table"].column_dimensions["A"].width == 33
    assert made["Table"]["E2"].value == "=D2*2"
    assert made["Other"]["B1"].value == "=SUM(Table!D2:D3)"
    assert len(made["Other"]._charts) == 1


def test_numbers_dates_and_formats_with_zeros_stay_what_they_are(book: Path) -> None:
    out = patched(
        book,
        Edit(0, 3, "10", "12.50"),
        Edit(1, 1, "01234", "00007"),
        Edit(0, 1, "00721", "EH6 7"),
        Edit(0, 2, "2024-03-01", "2025-12-31"),
        Edit(1, 2, "2024-03-02", "soon"),
    )
    sheet = openpyxl.load_workbook(out)["Table"]
    assert (sheet["D2"].value, sheet["B3"].value, sheet["B2"].value) == (12.5, 7, "EH6 7")
    assert (sheet["C2"].value.date(), sheet["C3"].value) == (date(2025, 12, 31), "soon")
    read = columns_of(open_source(out))
    assert read["Postcode"][:2] == ["EH6 7", "00007"]
    assert read["Since"][:2] == ["2025-12-31", "soon"]
    back = out.with_name("back.xlsx")
    patch_workbook(out, back, [Edit(0, 3, "12.50", "10")])
    assert openpyxl.load_workbook(back)["Table"]["D2"].value == 10


def test_blank_and_dirty_cells_become_what_their_column_is(book: Path) -> None:
    edits = [
        Edit(2, 0, None, "Bergen"),
        Edit(2, 1, None, "05003"),
        Edit(2, 2, None, "2024-03-03"),
        Edit(2, 3, "12 kg", "12"),
        Edit(3, 0, None, "Oslo"),
        Edit(3, 3, None, "14"),
    ]
    out = patched(book, *edits)
    sheet = openpyxl.load_workbook(out)["Table"]
    assert [sheet.cell(4, place).value for place in (1, 2, 4)] == ["Bergen", 5003, 12]
    assert sheet["C4"].value.date() == date(2024, 3, 3)
    assert [sheet.cell(5, place).value for place in (1, 2, 4)] == ["Oslo", None, 14]
    read = columns_of(open_source(out))
    assert [read[edit_name][2] for edit_name in ("City", "Postcode", "Since")] == ["Bergen", "05003", "2024-03-03"]


def test_a_truth_stays_one_and_a_cell_can_be_emptied(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x", "y"], [True, "a"], [False, "b"]]})
    out = patched(
        path, Edit(0, 0, "TRUE", "FALSE"), Edit(1, 0, "FALSE", "no"), Edit(0, 1, "a", None), Edit(1, 1, "b", "")
    )
    sheet = openpyxl.load_workbook(out).active
    assert [[cell.value for cell in row] for row in sheet.iter_rows(min_row=2)] == [[False, None], ["no", None]]


@pytest.mark.parametrize(
    "text", ["=1+1", "=cmd|' /C calc'!A0", "+1", "-1+2", "@SUM(1)", "\t=1", "<&>", "bell \x07", "_x0041_"]
)
def test_no_text_becomes_a_formula(book: Path, text: str) -> None:
    out = patched(book, Edit(0, 0, "Leith", text))
    assert columns_of(open_source(out))["City"][0] == text
    assert openpyxl.load_workbook(out)["Table"]["A2"].data_type == "s"


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (Edit(0, 0, "Leeds", "Leith"), "row 0, column 'City' holds 'Leith', not 'Leeds'; is this the table that"),
        (Edit(0, 0, None, "Leith"), "row 0, column 'City' holds 'Leith', not a blank"),
        (Edit(2, 0, "Leith", "Leeds"), "row 2, column 'City' is blank, not 'Leith'"),
        (Edit(0, 3, "10.5", "11"), "row 0, column 'Weight' holds '10', not '10.5'"),
        (Edit(9, 0, "Leith", "Leeds"), "there is no row 9 with a column number 0"),
        (Edit(0, 7, "Leith", "Leeds"), "there is no row 0 with a column number 7"),
        (Edit(0, 4, "20", "21"), "Table!E2 holds a formula, which is left alone; reject this fix"),
        (Edit(0, 0, "Leith", "a" * 32_768), "a text of 32,768 characters"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_written(book: Path, edit: Edit, said: str) -> None:
    out = book.with_name("out.xlsx")
    with pytest.raises(InputError, match=re.escape(said)):
        patch_workbook(book, out, [Edit(1, 0, "Lieth", "Leith"), edit])
    assert [path.name for path in book.parent.iterdir()] == [book.name]


def test_cells_with_formulas_are_told(book: Path) -> None:
    assert formula_cells(book) == {(0, 4), (1, 4), (4, 4)}


@pytest.mark.parametrize("settings", [b'<calcPr calcId="1"/>', b""])
def test_formulas_are_calculated_anew(book: Path, settings: bytes) -> None:
    workbook = re.sub(rb"<calcPr[^>]*/>", settings, parts_of(book)[WORKBOOK])
    with_part(book, WORKBOOK, workbook)
    out = patched(book, Edit(0, 3, "10", "20"))
    assert openpyxl.load_workbook(out).calculation.fullCalcOnLoad
    assert re.sub(rb'<calcPr fullCalcOnLoad="1"/>| fullCalcOnLoad="1"', b"", parts_of(out)[WORKBOOK]) == workbook


def test_without_formulas_the_list_of_sheets_is_left_alone(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x"], ["a"]]})
    workbook = re.sub(rb"<calcPr[^>]*/>", b"", parts_of(path)[WORKBOOK])
    with_part(path, WORKBOOK, workbook)
    assert parts_of(patched(path, Edit(0, 0, "a", "b")))[WORKBOOK] == workbook


def test_another_sheet(book: Path) -> None:
    out = book.with_name("out.xlsx")
    patch_workbook(f"{book}#Other", out, [Edit(0, 0, "3", "4")])
    assert columns_of(open_source(f"{out}#Other"), ["n"]) == {"n": ["4"]}
    assert columns_of(open_source(out)) == columns_of(open_source(book))
    assert parts_of(out)[SHEET] == parts_of(book)[SHEET]


def test_cells_that_are_not_there_look_like_their_row_or_column(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x", "y"], ["a", "b"], ["c", "d"], ["e", "f"]]})
    rows = (
        b'<cols><col min="2" max="2" width="9" style="0"/></cols><sheetData>'
        b'<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c><c r="B1" t="inlineStr"><is><t>y</t></is></c></row>'
        b'<row r="2" s="0" customFormat="1"/><row r="4"><c r="B4" t="inlineStr"><is><t>f</t></is></c></row></sheetData>'
    )
    content = re.sub(rb"<sheetData>.*</sheetData>", rows, parts_of(path)[SHEET])
    with_part(path, SHEET, content)
    edits = [
        Edit(row, column, None, f"{row}{column}") for row in range(3) for column in range(2) if (row, column) != (2, 1)
    ]
    out = patched(path, *edits)
    assert columns_of(open_source(out)) == {"x": ["00", "10", "20"], "y": ["01", "11", "f"]}
    assert re.findall(rb'<(?:row|c) r="(\w+)"', parts_of(out)[SHEET]) == [
        *(b"1", b"A1", b"B1", b"2", b"A2", b"B2", b"3", b"A3", b"B3", b"4", b"A4", b"B4")
    ]


@given(
    chunk=st.integers(1, 300),
    places=st.sets(st.tuples(st.integers(0, 4), st.integers(0, 3)), min_size=1),
    text=st.text(max_size=12).filter(lambda text: "\ud800" not in text),
)
def test_any_cells_however_the_file_comes(
    chunk: int, places: set[tuple[int, int]], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("any")
    rows: list[list[Any]] = [
        ["a", "b", "c", "d"],
        [1, None, "x", 2.5],
        [],
        [None, "&", None, None],
        ["y"],
        [None, None, None, "z"],
    ]
    path = write_book(folder / "t.xlsx", {"Table": rows})
    before = columns_of(open_source(path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walking, "CHUNK", chunk)
        patch_workbook(path, folder / "out.xlsx", [Edit(r, c, before["abcd"[c]][r], text) for r, c in places])
    for row, column in places:
        before["abcd"[column]][row] = text or None
    kept = [row for row in range(5) if any(before[name][row] for name in "abcd")]
    after = columns_of(open_source(folder / "out.xlsx")) if kept else {name: [] for name in "abcd"}
    assert {name: cells[: len(after[name])] for name, cells in before.items()} == {
        name: after.get(name, []) for name in before
    }


def test_libreoffice_opens_it(book: Path) -> None:
    out = patched(book, Edit(1, 0, "Lieth", "=Leith"), Edit(3, 0, None, "Oslo"), Edit(0, 3, "10", "20"))
    read = columns_of(open_source(office(out, "csv", book.parent)))
    assert read["City"] == ["Leith", "=Leith", None, "Oslo", "Porto"]
    assert read["Weight"][0] == "20"
