"""`carat apply`, and `carat audit --fixed`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from carat.cli import run
from tests.support.audits import cities, fake_audit
from tests.support.commands import read_csv, snapshot, write_csv


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a table, and the list of an audit of it."""
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", cities())
    assert run(["audit", "t.csv", "--id", "number", "--out", "cells.csv", "--quiet"]) == 0
    return tmp_path


def decide(decisions: list[str]) -> None:
    lines = Path("cells.csv").read_text().splitlines()
    Path("cells.csv").write_text("\n".join([lines[0], *(a + b for a, b in zip(lines[1:], decisions, strict=True))]))


def test_another_sheet_of_a_workbook_and_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["A1"] = "nothing of interest"
    sheet = book.create_sheet("The data")
    table = cities()
    sheet.append(table.column_names)
    for row in zip(*(column.to_pylist() for column in table.columns), strict=True):
        sheet.append(row)
    book.save("t.xlsx")
    assert run(["audit", "t.xlsx#The data", "--id", "number", "--fixed", "by_itself.xlsx", "--quiet"]) == 0
    assert run(["apply", "cells.csv", "t.xlsx#The data", "--id", "number", "--out", "fixed.xlsx"]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    command = "carat apply fixed.xlsx.changes.jsonl 'fixed.xlsx#The data' --revert --out "
    assert f"; to undo: {command}" in last
    fixed, itself = (openpyxl.load_workbook(name) for name in ("fixed.xlsx", "by_itself.xlsx"))
    assert [[cell.value for cell in row] for row in fixed["The data"]] == [
        [cell.value for cell in row] for row in itself["The data"]
    ]
    assert fixed.worksheets[0]["A1"].value == "nothing of interest"
    assert run([*shlex.split(command)[1:], "back.xlsx"]) == 0
    back = openpyxl.load_workbook("back.xlsx")["The data"]
    assert [[cell.value for cell in row] for row in back] == [[cell.value for cell in row] for row in sheet]


def test_from_findings_to_a_clean_table_and_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(["", "accept", "", "=Chile"])
    assert run(["apply", "cells.csv", "t.csv", "--out", "fixed.csv"]) == 0
    said = capsys.readouterr().err
    assert "Changed cells by column" in said
    assert "By kind: 2 misplaced, 1 typo, 1 missing" in said
    last = said.splitlines()[-1]
    assert last == (
        "fixed.csv: 4 cells changed (3 decided by you, 1 certain); "
        "to undo: carat apply fixed.csv.changes.jsonl fixed.csv --revert --out ORIGINAL"
    )
    made = read_csv(Path("fixed.csv"))
    assert made["City"].to_pylist()[3] == "Leith"
    assert (made["City"].to_pylist()[7], made["Land"].to_pylist()[7]) == ("Leith", "Scotland")
    assert made["Land"].to_pylist()[5] == "Chile"
    assert run(["apply", "fixed.csv.changes.jsonl", "fixed.csv", "--revert", "--out", "back.csv"]) == 0
    assert capsys.readouterr().err.splitlines()[-1] == "back.csv: 4 changes undone"
    assert Path("back.csv").read_bytes() == Path("t.csv").read_bytes()


def test_what_is_left_is_said(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    decide(["wrong", "reject", "reject", ""])
    assert run(["apply", "cells.csv", "t.csv", "--out", "fixed.csv", "--certain", "0.95"]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    assert last == (
        "fixed.csv: nothing was changed, it is a copy; 4 left as they are (2 rejected; "
        "1 wrong, but the right value is unknown; 1 below --certain 0.95)"
    )
    assert Path("fixed.csv").read_bytes() == Path("t.csv").read_bytes()


def test_json_and_quiet(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["apply", "cells.csv", "t.csv", "--out", "a.csv", "--json"]) == 0
    found = capsys.readouterr()
    assert json.loads(found.out)["changes"] == 1
    assert json.loads(found.out)["left"] == {"uncertain": 3}
    assert run(["apply", "cells.csv", "t.csv", "--out", "b.csv", "--quiet", "--decided-only"]) == 0
    assert capsys.readouterr() == ("", "")
    assert Path("b.csv").read_bytes() == Path("t.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["cells.csv", "t.csv", "--out", "-"], "--out must name a file"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--certain", "2"], "--certain is a probability"),
        (["cells.csv", "t.csv", "--out", "cells.csv"], "already exists; use --force to replace it"),
        (["cells.csv", "t.csv", "--out", "t.csv"], "is the table itself"),
        (["cells.csv", "t.csv", "--out", "t.csv", "--force"], "is the table itself"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--id", "Kind"], "no row of t.csv is named 'N-003'"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--id", "nummer"], "did you mean 'number'"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--encoding", "utf-16"], "not utf-16 text"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--revert"], "takes the FILE.changes.jsonl of carat apply"),
        (["cells.csv", "t.csv", "--out", "o.csv", "--revert", "--id", "x"], "leave the other options away"),
        (["t.csv", "cells.csv", "--out", "o.csv"], "no column 'record'; give a list of cells as carat audit"),
        (["cells.csv", "flights", "--out", "o.csv"], "flights: no such file"),
    ],
)
def test_bad_input_is_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    before = snapshot(folder)
    assert run(["apply", *arguments]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
    assert "`" not in said
    assert snapshot(folder) == before


def test_a_list_of_another_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(folder / "other.csv", cities(20))
    assert run(["apply", "cells.csv", "other.csv", "--out", "o.csv"]) == 2
    said = capsys.readouterr().err
    assert "is not the table that cells.csv is about" in said
    assert "no row was added, removed or moved, remove cells.csv.about.json" in said
    Path("cells.csv").rename("mine.csv")  # now only the values tell
    decide_none = Path("other.csv").read_text().replace("Le?ith", "Leith")
    Path("other.csv").write_text(decide_none)
    assert run(["apply", "mine.csv", "other.csv", "--out", "o.csv", "--id", "number"]) == 2
    assert "the list is for another table, or the table has changed" in capsys.readouterr().err
    assert not Path("o.csv").exists()


def test_fixed_straight_from_an_audit(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["audit", "t.csv", "--out", "c.csv", "--fixed", "fixed.csv", "--certain", "0.8"]) == 0
    assert "fixed.csv: 3 cells changed; 1 left as it is (1 below --certain 0.8); to undo:" in capsys.readouterr().err
    assert read_csv(Path("fixed.csv"))["City"].to_pylist()[7] == "Leith"
    assert Path("fixed.csv.changes.jsonl").exists()
    assert json.loads(Path("c.csv.about.json").read_text())["options"]["certain"] == 0.8


@pytest.mark.parametrize(
    ("table", "fixed", "message"),
    [
        ("t.csv", "t.csv", "is the table itself"),
        ("t.csv", "o.parquet", "keeps the format of the original; choose a name that ends in .csv"),
        ("flights", "o.csv", "--fixed corrects a copy of a file"),
        ("t.csv", "-", "--fixed must name a file"),
    ],
)
def test_fixed_is_checked_before_the_audit(
    folder: Path, capsys: pytest.CaptureFixture[str], table: str, fixed: str, message: str
) -> None:
    before = snapshot(folder)
    assert run(["audit", table, "--out", "c.csv", "--fixed", fixed]) == 2
    assert message in capsys.readouterr().err
    assert snapshot(folder) == before
