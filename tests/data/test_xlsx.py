"""Workbooks as tables: cells as a person sees them, whatever the sheet looks like around them."""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pytest

from carat.data import TableWriter, open_source
from carat.data.workbooks import values
from carat.data.workbooks.values import escaped
from carat.errors import InputError, MissingExtraError
from tests.support.books import office, parts_of, with_part, write_book
from tests.support.sources import columns_of

SHEET = "xl/worksheets/sheet1.xml"


def column(tmp_path: Path, *cells: Any, formats: dict[int, str] | None = None) -> list[str | None]:
    """How the cells of one column read; beside it is one that is never blank."""
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x", "n"], *([cell, "a"] for cell in cells)]})
    if formats:
        book = openpyxl.load_workbook(path)
        for row, code in formats.items():
            book.active.cell(row + 2, 1).number_format = code
        book.save(path)
    return columns_of(open_source(path))["x"]


def test_cells_are_the_text_that_a_person_sees(tmp_path: Path) -> None:
    cells = ["0721", 721, 721.0, 0.5, True, False, None, "", " x ", "NA"]
    assert column(tmp_path, *cells) == ["0721", "721", "721", "0.5", "TRUE", "FALSE", None, None, " x ", "NA"]


def test_dates_are_iso_and_have_a_time_only_where_there_is_one(tmp_path: Path) -> None:
    cells = [date(2024, 3, 1), datetime(2024, 3, 1), datetime(2024, 3, 1, 13, 45, 10), time(6, 30), timedelta(hours=26)]
    read = ["2024-03-01", "2024-03-01", "2024-03-01 13:45:10", "06:30:00", "26:00:00"]
    assert column(tmp_path, *cells, formats={4: "[h]:mm:ss"}) == read


def test_dates_counted_from_1904(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    book.active.append(["x"])
    book.active.append([date(2024, 3, 1)])
    book.save(tmp_path / "t.xlsx")
    assert columns_of(open_source(tmp_path / "t.xlsx")) == {"x": ["2024-03-01"]}


def test_zeros_that_only_a_format_shows(tmp_path: Path) -> None:
    formats = {0: "00000", 1: r"000\-00", 2: "0.00", 3: "00000", 4: '"No. "000'}
    assert column(tmp_path, 721, 12345, 3.5, 0.5, 7, formats=formats) == ["00721", "123-45", "3.5", "0.5", "No. 007"]


def test_errors_are_their_text(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["x", "n"])
    book.active.append(["#N/A", "a"])
    book.active.append(["#DIV/0!", "a"])
    assert book.active["A2"].data_type == "e"
    book.save(tmp_path / "t.xlsx")
    assert columns_of(open_source(tmp_path / "t.xlsx"))["x"] == ["#N/A", "#DIV/0!"]


def test_signs_that_xml_has_no_place_for(tmp_path: Path) -> None:
    path = tmp_path / "t.xlsx"
    texts = [
        "bell \x07",
        "_x0041_",
        "line\nend\r\n",
        "tab\t",
        "<&>\"'",
        "\ud7ff\ufffd",
        "=1+1",
        "+1",
        "-1",
        "@x",
        "#N/A",
    ]
    with TableWriter(path) as writer:
        writer.write(pa.table({"=x": texts}))
    assert columns_of(open_source(path)) == {"=x": texts}
    sheet = openpyxl.load_workbook(path).active
    assert {cell.data_type for row in sheet.iter_rows() for cell in row} == {"s"}, "no formula, no error"


def test_another_sheet_by_its_name(tmp_path: Path) -> None:
    path = write_book(tmp_path / "b#1.xlsx", {"First": [["a"], [1]], "Q1 # 2024": [["b"], [2]], "Empty": []})
    assert columns_of(open_source(path)) == {"a": ["1"]}
    assert columns_of(open_source(f"{path}#Q1 # 2024")) == {"b": ["2"]}
    assert columns_of(open_source(Path(f"{path}#First"))) == {"a": ["1"]}
    assert open_source(f"{path}#First").label == f"{path}#First"
    with pytest.raises(InputError, match="no sheet 'Frist'; did you mean 'First'"):
        open_source(f"{path}#Frist")
    with pytest.raises(InputError, match="the sheet 'Empty' is empty"):
        open_source(f"{path}#Empty")


def test_the_first_sheet_that_a_person_sees(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Hidden": [["a"], [1]], "Seen": [["b"], [2]]})
    book = openpyxl.load_workbook(path)
    book["Hidden"].sheet_state = "hidden"
    book.active = 1
    book.save(path)
    assert columns_of(open_source(path)) == {"b": ["2"]}
    assert columns_of(open_source(f"{path}#Hidden")) == {"a": ["1"]}


def test_a_table_may_stand_anywhere_on_its_sheet(tmp_path: Path) -> None:
    rows: list[list[Any]] = [
        [],
        [],
        [None, None, "x", None, "y"],
        [None, None, 1, None, "a"],
        [],
        [None, None, None, None, "b"],
        [],
        [],
    ]
    path = write_book(tmp_path / "t.xlsx", {"Table": rows})
    book = openpyxl.load_workbook(path)
    book.active["H20"].fill = openpyxl.styles.PatternFill("solid", fgColor="FF0000")
    book.save(path)
    source = open_source(path)
    assert columns_of(source) == {"x": ["1", None, None], "y": ["a", None, "b"]}
    assert source.about_rows() == 3


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["a", "b", "a"], [1, 2, 3]], "there are 2 columns named 'a'; rename all but one"),
        ([["a", None, "b"], [1, 2, 3]], "column B of the sheet 'Table' has values but no name in row 1; name it"),
        ([["a", " ", "b"], [1, 2, 3]], "column B of the sheet 'Table' has values but no name in row 1; name it"),
        ([["a", "b"]], "there is a header but no rows on the sheet 'Table'"),
        ([["a"], ["=1+1"]], "Table!A2 holds a formula that was never calculated; open the workbook in Excel"),
    ],
)
def test_bad_sheets_are_one_clear_line(rows: list[list[Any]], said: str, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.title = "Table"
    for row in rows:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        columns_of(open_source(tmp_path / "t.xlsx"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,b\n1,2\n", "not an Excel workbook; if it is text, rename it to .csv"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "an Excel file of the old format (.xls)"),
        (
            b"\xd0\xcf\x11\xe0" + bytes(600) + "EncryptedPackage".encode("utf-16-le"),
            "protected by a password; save a copy without one",
        ),
        (b"PK\x05\x06" + bytes(18), "not an Excel workbook, or a damaged one"),
        (b"", "the file is empty (0 bytes)"),
    ],
    ids=["text", "xls", "password", "zip", "empty"],
)
def test_what_only_looks_like_a_workbook(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.xlsx").write_bytes(content)
    with pytest.raises(InputError, match=re.escape(said)):
        open_source(tmp_path / "t.xlsx")


def test_damaged_workbooks_are_one_clear_line(tmp_path: Path) -> None:
    path = write_book(tmp_path / "whole.xlsx", {"Table": [["a"], *([n] for n in range(200))]})
    whole = path.read_bytes()
    for cut in range(10, len(whole), 97):
        (tmp_path / "cut.xlsx").write_bytes(whole[:cut])
        with pytest.raises(InputError, match="damaged"):
            open_source(tmp_path / "cut.xlsx")
    with_part(path, SHEET, parts_of(path)[SHEET][:300])
    with pytest.raises(InputError, match="damaged"):
        open_source(path)


def test_the_value_of_a_formula_is_read(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x"], [1]]})
    cells = b'<c r="A2"><f>1+1</f><v>2</v></c></row><row r="3"><c r="A3" t="str"><f>""</f><v></v></c></row>'
    cells += b'<row r="4"><c r="A4" t="str"><f>"a"</f><v>a</v></c>'
    content = re.sub(rb'<c r="A2".*?</c>', cells, parts_of(path)[SHEET])
    assert columns_of(open_source(with_part(path, SHEET, content))) == {"x": ["2", None, "a"]}


def test_cells_need_no_names_and_elements_may_have_a_prefix(tmp_path: Path) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x", "y"], ["a", 1]]})
    content = (
        b'<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><x:sheetData><x:row>'
        b'<x:c t="inlineStr"><x:is><x:t>p</x:t></x:is></x:c><x:c t="inlineStr"><x:is><x:t>q</x:t></x:is></x:c></x:row>'
        b'<x:row><x:c><x:v>1</x:v></x:c><x:c t="e"><x:v>#N/A</x:v></x:c></x:row></x:sheetData></x:worksheet>'
    )
    assert columns_of(open_source(with_part(path, SHEET, content))) == {"p": ["1"], "q": ["#N/A"]}


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write_book(tmp_path / "t.xlsx", {"Table": [["x"], [1]]})
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'carat-recourse[excel]'")):
        open_source(path)
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'carat-recourse[excel]'")):
        TableWriter(tmp_path / "out.xlsx")


def test_limits_of_a_sheet_are_one_clear_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(table: pa.Table) -> None:
        with TableWriter(tmp_path / "out.xlsx") as writer:
            writer.write(table)

    with pytest.raises(InputError, match="a text of 32,768 characters, and a cell of a workbook holds 32,767"):
        write(pa.table({"x": ["a" * 32_768]}))
    with pytest.raises(InputError, match="16,385 columns, and a sheet of a workbook holds 16,384; write .csv"):
        write(pa.table({f"c{n}": ["a"] for n in range(16_385)}))
    monkeypatch.setattr(values, "MAX_ROWS", 11)
    with pytest.raises(InputError, match="11 rows, and a sheet of a workbook holds 10; write .csv"):
        write(pa.table({"x": ["a"] * 11}))
    assert not list(tmp_path.iterdir())
    write(pa.table({"x": ["a"] * 10}))


def test_libreoffice_reads_what_is_written_and_is_read(tmp_path: Path) -> None:
    texts = ["=1+1", "+1", "-1", "@SUM(1)", "0721", "a,b\nc", "Ä"]
    with TableWriter(tmp_path / "t.xlsx") as writer:
        writer.write(pa.table({"x": texts, "n": [1.5] * 7}))
    assert columns_of(open_source(office(tmp_path / "t.xlsx", "csv", tmp_path)))["x"] == texts
    (tmp_path / "again").mkdir()
    again = office(tmp_path / "t.xlsx", "xlsx", tmp_path / "again")
    assert columns_of(open_source(again)) == {"x": texts, "n": ["1.5"] * 7}


@pytest.mark.slow
def test_a_hundred_thousand_rows(tmp_path: Path) -> None:
    import time as clock

    table = pa.table({f"c{n}": [f"v{(row * 7 + n) % 1000}" for row in range(100_000)] for n in range(8)})
    with TableWriter(tmp_path / "t.xlsx") as writer:
        writer.write(table)
    start = clock.perf_counter()
    source = open_source(tmp_path / "t.xlsx")
    assert source.about_rows() == 100_000
    assert columns_of(source, ["c3"])["c3"] == table["c3"].to_pylist()
    assert clock.perf_counter() - start < 30


def test_escapes_are_undone() -> None:
    for text in ("_x0007_", "\x07_x", "_x005F_", "a_xZZZZ_"):
        assert values.unescaped(escaped(text)) == text
    assert values.unescaped("_xD800_") == "_xD800_", "half a character is no text"
