"""Lists of cells as people and programs hand them back."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import carat
from carat.auditing.decisions import CellList, Decision, ListedCell, list_of, read_cells
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row, write_list
from tests.support.audits import cities, fake_audit

HEADER = "record,column,value,kind,error,proposal,confidence,alternatives,reason,group,decision\n"


def text_list(path: Path, text: str, encoding: str = "utf-8") -> CellList:
    path.write_bytes(text.encode(encoding))
    return read_cells(path)


def test_what_an_audit_writes_is_read_in_every_format(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from carat.cli import run
    from tests.support.commands import write_csv

    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", cities())
    found = []
    for ending in ("csv", "csv.gz", "parquet", "jsonl"):
        assert run(["audit", "t.csv", "--id", "number", "--out", f"cells.{ending}", "--quiet"]) == 0
        cells = read_cells(f"cells.{ending}")
        assert cells.id == "number"
        assert cells.about["origin"]["rows"] == 40
        found.append([(c.record, c.column, c.value, c.proposal, c.group, c.checked) for c in cells])
        assert [c.confidence for c in cells] == pytest.approx([0.92, 0.85, 0.85, 0.55])
    assert found[0][0] == ("N-003", "City", "Le?ith", "Leith", None, True)
    assert found[0][3] == ("N-005", "Land", None, "Peru", None, True)
    assert found[0] == found[1] == found[2] == found[3]


def test_a_list_of_a_spreadsheet(tmp_path: Path) -> None:
    text = (
        "\ufeffRecord;column;VALUE;kind;error;proposal;confidence;reason;group;decision\r\n"
        '17.0;City;Lieth;typo;0,97;Leith;0,93;"one; letter";2.0; ACCEPT \r\n'
        "18;City;TRUE;typo;97%;<blank>;93%;;;'=San José\r\n"
        ";;;;;;;;;\r\n"
    )
    one, two = text_list(tmp_path / "cells.csv", text)
    assert (one.record, one.value, one.error, one.confidence) == ("17.0", "Lieth", 0.97, 0.93)
    assert (one.group, one.reason, one.decision) == ("2", "one; letter", Decision("accept"))
    assert (two.proposal, two.confidence, two.decision) == ("", 0.93, Decision("text", "San José"))
    assert list(text_list(tmp_path / "wide.csv", text, "utf-16")) == [one, two]
    (tmp_path / "cells.csv.gz").write_bytes(gzip.compress(text.encode()))
    assert list(read_cells(tmp_path / "cells.csv.gz")) == [one, two]


@pytest.mark.parametrize(
    ("said", "decision"),
    [
        ("accept", Decision("accept")),
        ("REJECT ", Decision("reject")),
        ("\tWrong", Decision("wrong")),
        ("=Leith", Decision("text", "Leith")),
        ("= Leith ", Decision("text", "Leith")),
        ("=", Decision("text", "")),
        ("=<blank>", Decision("text", "")),
        ("==1", Decision("text", "=1")),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_decisions(said: str | None, decision: Decision | None) -> None:
    (cell,) = list_of(listed(row(0, "a", "x", "y", decision=said)))
    assert cell.decision == decision


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("0,a,x,,,y,,,,,yes\n", "line 2: the decision 'yes' is not known; write accept, reject, wrong, or =text"),
        ("0,a,x,,,y,,,,,#NAME?\n", "type an apostrophe before it: '=text"),
        ("0,a,x,,,,,,,,accept\n", "line 2: there is no suggested fix to accept"),
        ("0,a,x,,,y,,,,,\n,a,,,,,,,,,accept\n", "line 3: `record` is empty"),
        ("0,,,,,,,,,,=z\n", "line 2: `column` is empty"),
        ("0,a,x,,,y,much,,,,\n", "line 2: `confidence` is 'much', not a probability"),
        ("0,a,x,,1.5,y,,,,,\n", "line 2: `error` is '1.5', not a probability"),
        ("0,a,x,,,y,,,,,accept\n0,a,,,,,,,,,reject\n", "lines 2 and 3 decide differently about the same cell"),
        ("17,a,x,,,y,,,,,=1\n17.0,a,,,,,,,,,=2\n", "lines 2 and 3 decide differently about the same cell"),
        ("0,a,x\n", "line 2: 3 cells instead of 11 (0,a,x); add the missing commas"),
    ],
)
def test_one_clear_line_with_the_row(tmp_path: Path, lines: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        text_list(tmp_path / "cells.csv", HEADER + lines)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "cells.csv" in str(raised.value)


@pytest.mark.parametrize(
    ("label", "unit"),
    [("a.csv", "line"), ("A.CSV.GZ", "line"), ("a.jsonl", "line"), ("a.xlsx", "row"), ("a.parquet", "row")],
)
def test_a_text_has_lines_and_a_sheet_has_rows(label: str, unit: str) -> None:
    assert CellList((), label).where(ListedCell(29, "0", "City")) == f"{label}, {unit} 29"
    assert CellList(()).where(ListedCell(29, "0", "City")) == "the list, row 29"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("row,column,decision", "no column 'record'"),
        ("record,name,decision", "no column 'column'"),
        ("record,column,value", "neither a column 'decision' nor a column 'proposal'"),
        ("record,column,proposal", "no column 'value'"),
        ("a,b", "no column 'record'"),
    ],
)
def test_what_a_list_needs(tmp_path: Path, header: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        text_list(tmp_path / "cells.csv", header + "\n" + ",".join("x" for _ in header.split(",")) + "\n")


def test_columns_may_be_dropped_and_reordered(tmp_path: Path) -> None:
    (cell,) = text_list(tmp_path / "cells.csv", "decision,column,note,record\n=x,City,mine,4\n")
    assert (cell.record, cell.column, cell.decision, cell.checked) == ("4", "City", Decision("text", "x"), False)


def test_an_added_row_and_a_listed_one_are_one_cell(tmp_path: Path) -> None:
    (cell,) = list_of(listed(row(4, "City", "x", "y"), added(4, "City", "accept")))
    assert (cell.value, cell.proposal, cell.decision) == ("x", "y", Decision("accept"))
    (same,) = list_of(listed(row(4, "City", "x", "y", decision="reject"), added("4.0", "City", "Reject")))
    assert same.decision == Decision("reject")


def test_a_blank_cell_is_checked_only_where_an_audit_listed_it() -> None:
    one, two = list_of(listed(row(1, "a", None, "y"), added(2, "a", "=z")))
    assert (one.checked, two.checked) == (True, False)


def test_an_empty_list(tmp_path: Path) -> None:
    (tmp_path / "none.jsonl").write_bytes(b"")
    assert len(read_cells(tmp_path / "none.jsonl")) == 0
    assert len(text_list(tmp_path / "none.csv", HEADER)) == 0
    pq.write_table(listed(), tmp_path / "none.parquet")
    assert len(read_cells(tmp_path / "none.parquet")) == 0


def test_what_is_no_list(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_cells(tmp_path / "none.csv")
    (tmp_path / "x.changes.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match="undo them with `revert`"):
        read_cells(tmp_path / "x.changes.jsonl")
    (tmp_path / "old.csv").write_bytes(HEADER.encode() + "0,a,é,,,y,,,,,\n".encode("latin-1"))
    with pytest.raises(InputError, match="save the list as 'CSV UTF-8'"):
        read_cells(tmp_path / "old.csv")
    (tmp_path / "bad.jsonl").write_text("{")
    with pytest.raises(InputError, match="line 1: not JSON"):
        read_cells(tmp_path / "bad.jsonl")


def test_a_damaged_word_on_the_audit_is_none(tmp_path: Path) -> None:
    path = write_list(tmp_path / "cells.csv", row(0, "a", "x", "y"))
    for text in ("{", "[]", json.dumps({"job": "score", "options": {"id": "a"}})):
        (tmp_path / "cells.csv.about.json").write_text(text)
        assert read_cells(path).id is None


def test_frames_of_every_library() -> None:
    table = listed(row(3, "City", "x", "", decision="accept"), row(4, "City", None, None))
    for frame in (table, table.to_pandas(), pl.from_arrow(table)):
        one, two = list_of(frame, blank="")
        assert (one.record, one.proposal, one.decision) == ("3", "", Decision("accept"))
        assert (two.value, two.proposal) == (None, None)


def test_the_frame_of_a_result_comes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    frame = carat.audit(cities().to_pandas()).to_frame()
    frame["decision"] = ["accept", "", "reject", "=Chile"]
    assert isinstance(frame, pd.DataFrame)
    cells = list_of(frame, blank="")
    assert [None if c.decision is None else c.decision.word for c in cells] == ["accept", None, "reject", "text"]
    assert [c.record for c in cells] == ["3", "7", "7", "5"]
    assert [c.group for c in cells] == [None, "7", "7", None]


def test_lists_in_a_needed_column_are_refused() -> None:
    table = pa.table({"record": [0], "column": ["a"], "value": ["x"], "proposal": [["y"]], "decision": ["accept"]})
    with pytest.raises(InputError, match="'proposal' of the list holds lists"):
        list_of(table)
