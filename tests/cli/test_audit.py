"""`carat audit`: cells on a terminal, in files and pipes; resumed, refused, and never half-written."""

from __future__ import annotations

import gzip
import io
import json
import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import carat
from carat.auditing.findings import Findings
from carat.auditing.workbook import read_findings
from carat.cli import run
from carat.cli.audit_view import show
from carat.files import locked
from carat.observing import Silent
from carat.training import Run
from tests.cli.test_terminal import Terminal, bare, complete
from tests.support.audits import STEPS, cities, fake_audit
from tests.support.commands import give_stdin, snapshot, write_csv

AUDIT = ("audit", "t.csv")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder, with a table in it; the audit itself is made up."""
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "t.csv", cities())
    return tmp_path


def rows_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command on a terminal of 100 columns; what it printed on standard output, colours included."""

    def call(*arguments: str, code: int = 0) -> str:
        shown = Terminal()
        monkeypatch.setattr(sys, "stdout", shown)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert run([*arguments]) == code
        return shown.getvalue()

    return call


def test_a_terminal_shows_the_most_suspicious_cells(folder: Path, terminal: Callable[..., str]) -> None:
    before = snapshot(folder)
    text = bare(terminal(*AUDIT))
    lines = [line.rstrip() for line in text.splitlines()]
    assert lines == [
        "",
        "Row 3  City  Le?ith → Leith  typo, 97% likely wrong, fix 92% likely right",
        "  the reason of a typo.",
        "  Or: Lima",
        "",
        "Row 7  2 cells to fix together",
        "  City  Scotland! → Leith  misplaced, 90% likely wrong, fix 85% likely right",
        "    the reason of a misplaced.",
        "  Land  Leith! → Scotland  misplaced, 90% likely wrong, fix 85% likely right",
        "    the reason of a misplaced.",
        "",
        "Row 5  Land  blank → Peru  missing, 60% likely wrong, fix 55% likely right",
        "  the reason of a missing.",
        "",
        "Suspicious cells by column",
        "  City  2  5.0% of its cells",
        "  Land  2  5.0% of its cells",
        "",
    ]
    assert snapshot(folder) == before, "nothing is written"


def test_it_says_what_it_took_and_how_it_ended(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "c.csv"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "40 rows are too few to learn much; treat the list as a hint, and look at each cell before you change it",
        "columns: City, Land; leave one out with --without NAME",
        "left out: number (a different value in every row), Kind (only one value); "
        "use one anyway with --also NAME, or name the row ID with --id NAME",
        "c.csv: 4 suspicious cells in 3 of 40 rows: 1 typo, 2 misplaced, 1 missing",
    ]


def test_show_limits_what_is_shown_and_keeps_swaps_whole(terminal: Callable[..., str]) -> None:
    text = bare(terminal(*AUDIT, "--show", "2", "--out", "c.csv"))
    assert "Le?ith" in text
    assert "Scotland!" in text
    assert "Leith!" in text
    assert "missing" not in text
    assert pd.read_csv("c.csv").shape == (4, 11)
    assert terminal(*AUDIT, "--show", "0", "--out", "d.csv") == ""
    assert terminal(*AUDIT, "--quiet", "--out", "e.csv") == ""
    assert terminal(*AUDIT, "--quiet", code=2) == "", "there is nothing to show or write"
    assert terminal(*AUDIT, "--cut", "1") == ""


def test_a_pipe_gets_json_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "-", "--quiet"]) == 0
    explicit = capsys.readouterr().out
    assert rows_of(explicit) == carat.audit(cities()).to_file().to_pylist()
    for options in ([], ["--json"], ["--json", "--quiet"]):
        assert run([*AUDIT, *options]) == 0
        assert capsys.readouterr().out == explicit


def test_json_with_a_file_is_a_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "c.csv", "--json"]) == 0
    first = capsys.readouterr().out
    (told,) = rows_of(first)
    assert (told["out"], told["cells"], told["read"], told["records"]) == ("c.csv", 4, 40, 3)
    assert told["kinds"] == {"typo": 1, "misplaced": 2, "missing": 1}
    assert [each["name"] for each in told["columns"]] == ["number", "City", "Land", "Kind"]
    about = json.loads((folder / "c.csv.about.json").read_text(encoding="utf-8"))
    assert about["job"] == "audit"
    assert about["origin"]["rows"] == 40
    assert about["summary"]["cells"] == 4
    assert run([*AUDIT, "--out", "c.csv", "--json", "--resume"]) == 0
    assert capsys.readouterr().out == first, "complete already, and the same facts"


def test_every_ending(folder: Path) -> None:
    expected = carat.audit(cities()).to_file()
    for name in ("c.csv", "c.csv.gz", "c.parquet", "c.jsonl"):
        assert run([*AUDIT, "--out", name, "--quiet"]) == 0
        assert (folder / f"{name}.about.json").exists()
    assert pq.read_table("c.parquet").cast(expected.schema).equals(expected)
    assert rows_of((folder / "c.jsonl").read_text(encoding="utf-8")) == expected.to_pylist()
    plain = (folder / "c.csv").read_text(encoding="utf-8")
    assert gzip.decompress((folder / "c.csv.gz").read_bytes()).decode() == plain
    lines = plain.splitlines()
    assert lines[0].replace('"', "") == (
        "record,column,value,kind,error,proposal,confidence,alternatives,reason,group,decision"
    )
    assert lines[1].startswith('3,"City","Le?ith","typo",0.97,"Leith",')
    assert '"[""Lima""]"' in lines[1], "a list is a JSON array in one cell"
    assert lines[1].endswith(",,"), "no group, no decision yet"
    assert lines[4].startswith('5,"Land",,"missing"'), "a blank cell stays blank"


def test_options_reach_the_audit(capsys: pytest.CaptureFixture[str]) -> None:
    def found(*options: str) -> list[tuple[Any, str]]:
        assert run([*AUDIT, "--quiet", *options]) == 0
        return [(row["record"], row["column"]) for row in rows_of(capsys.readouterr().out)]

    everything = [(3, "City"), (7, "City"), (7, "Land"), (5, "Land")]
    assert found() == everything
    assert found("--top", "1") == everything[:1]
    assert found("--cut", "0.95") == everything[:1]
    assert found("--columns", "City") == everything[:2]
    assert found("--columns", "City, Kind") == everything[:2]
    assert found("--without", "City") == everything[2:]
    assert found("--columns", "City", "--also", "Land") == everything
    assert found("--id", "number", "--top", "1") == [("N-003", "City")]


def test_seed_and_profile_reach_the_audit(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def asking(table: Any, options: Any, run: Run, *taught: Any) -> Findings:
        asked.append((options.profile, options.seed, run.seed))
        return fake_audit(table, options, run)

    monkeypatch.setattr("carat.auditing.audit.audit_table", asking)
    assert run([*AUDIT, "--quiet", "--seed", "9", "--profile", "fast"]) == 0
    assert asked == [("fast", 9, 9)]


def test_tables_come_from_anywhere(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    give_stdin(monkeypatch, cities().to_pylist())
    assert run(["audit", "-", "--quiet"]) == 0
    piped = capsys.readouterr().out
    pq.write_table(cities(), folder / "t.parquet")
    assert run(["audit", "t.parquet", "--quiet"]) == 0
    assert capsys.readouterr().out == piped
    assert run(["audit", "flights", "--quiet", "--columns", "Carrier,Origin"]) == 0


def test_a_latin_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = "Stadt,Land\n" + "Köln,Ö\nZürich,Ü\n" * 9 + "K?öln,Ö\n"
    (folder / "l.csv").write_bytes(text.encode("latin-1"))
    assert run(["audit", "l.csv", "--quiet"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line == (
        "carat: l.csv: not UTF-8 text; say how it is written with --encoding, such as latin-1, cp1252 or utf-16"
    )
    assert run(["audit", "l.csv", "--quiet", "--encoding", "latin-1"]) == 0
    assert [row["proposal"] for row in rows_of(capsys.readouterr().out)] == ["Köln"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("nothing.csv", "nothing.csv: no such file"),
        ("t.csv --cut 0", "--cut is a probability, above 0 and at most 1; got 0.0"),
        ("t.csv --cut 1.2", "--cut is a probability"),
        ("t.csv --top 0", "--top"),
        ("t.csv --profile paper", "unknown --profile 'paper' for an audit; choose from: instant, fast"),
        ("t.csv --columns Cty", "--columns: t.csv has no column 'Cty'; did you mean 'City'?"),
        ("t.csv --columns ,", "--columns names no column"),
        ("t.csv --also City --without City", "column 'City' is in both --also and --without; remove one"),
        (
            "t.csv --id City",
            "column 'City' can't identify the rows: 'Callao' appears in 20 rows; use another column, or omit --id",
        ),
        ("t.csv --id Land", "column 'Land' can't identify the rows: it is blank in 1 row;"),
        ("t.csv --encoding klingon", "unknown --encoding 'klingon'"),
        ("flights --encoding latin-1", "--encoding is for csv files"),
        ("t.csv --out t.csv", "t.csv: already exists; use --force to replace it"),
        ("t.csv --out none/c.csv", "there is no folder none"),
        ("t.csv --out c.xls", "c.xls: a table ends in .csv, .csv.gz, .parquet, .jsonl, .xlsx; choose one of them"),
        ("t.csv --resume", "--resume continues an audit that writes to a file; add its --out CELLS"),
        ("t.csv --out - --resume", "--resume continues an audit that writes to a file"),
    ],
)
def test_bad_input_is_one_clear_line(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: str, said: str
) -> None:
    before = snapshot(folder)
    assert run(["audit", *arguments.split(), "--quiet"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    (line,) = captured.err.splitlines()
    assert said in line
    assert snapshot(folder) == before


def test_an_existing_file_needs_force(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "c.csv", "--quiet"]) == 0
    before = snapshot(folder)
    assert run([*AUDIT, "--out", "c.csv", "--top", "1"]) == 2
    assert "c.csv: already exists; use --force to replace it" in capsys.readouterr().err
    assert snapshot(folder) == before
    assert run([*AUDIT, "--out", "c.csv", "--top", "1", "--force"]) == 0
    assert pd.read_csv("c.csv").shape[0] == 1


def failing(at: int, error: BaseException) -> Any:
    """The made-up audit, killed in a stage; what it has finished by then stays in its folder."""

    def made(table: Any, options: Any, run: Run, *taught: Any) -> Findings:
        class Dying(Silent):
            done = 0

            def advance(self, steps: int = 1, note: str = "") -> None:
                self.done += 1
                if self.done == at:
                    raise error

        return fake_audit(table, options, Run(seed=run.seed, checkpoints=run.checkpoints, observer=Dying()))

    return made


def test_an_interrupted_audit_resumes_to_the_same_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*AUDIT, "--out", "whole.csv", "--quiet"]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("carat.auditing.audit.audit_table", failing(2, KeyboardInterrupt()))
        assert run([*AUDIT, "--out", "c.csv"]) == 130
    said = capsys.readouterr().err
    assert "c.csv.partial: progress is saved; to continue, run the same command with --resume" in said
    assert not (folder / "c.csv").exists()
    assert {path.name for path in (folder / "c.csv.partial").iterdir()} == {
        "audit.json",
        "stage-0.json",
        "stage-1.json",
    }

    assert run([*AUDIT, "--out", "c.csv"]) == 2
    assert "c.csv.partial: holds an unfinished audit; continue with --resume" in capsys.readouterr().err
    assert run([*AUDIT, "--out", "c.csv", "--resume", "--seed", "1"]) == 2
    assert "belongs to an audit with other data or settings" in capsys.readouterr().err

    seen: list[set[str]] = []

    def looking(table: Any, options: Any, run: Run, *taught: Any) -> Findings:
        assert run.checkpoints is not None
        seen.append({path.name for path in run.checkpoints.iterdir()})
        return fake_audit(table, options, run)

    monkeypatch.setattr("carat.auditing.audit.audit_table", looking)
    assert run([*AUDIT, "--out", "c.csv", "--resume"]) == 0
    assert seen == [{"audit.json", "stage-0.json", "stage-1.json"}], "what was finished is there"
    assert (folder / "c.csv").read_bytes() == (folder / "whole.csv").read_bytes()
    assert not (folder / "c.csv.partial").exists()
    assert STEPS > 2


def test_force_starts_over_but_removes_nothing_of_yours(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "c.csv.partial").mkdir()
    (folder / "c.csv.partial" / "audit.json").write_text("{}", encoding="utf-8")
    assert run([*AUDIT, "--out", "c.csv", "--force", "--quiet"]) == 0
    assert not (folder / "c.csv.partial").exists()
    (folder / "d.csv.partial").mkdir()
    (folder / "d.csv.partial" / "thesis.txt").write_text("mine", encoding="utf-8")
    for option in ("--force", "--resume"):
        assert run([*AUDIT, "--out", "d.csv", option]) == 2
        assert "d.csv.partial: is in the way and not from an audit" in capsys.readouterr().err
    assert (folder / "d.csv.partial" / "thesis.txt").exists()


def test_nothing_to_resume_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "c.csv", "--resume"]) == 0
    assert "c.csv.partial: nothing to resume, starting from the beginning" in capsys.readouterr().err
    assert run([*AUDIT, "--out", "c.csv", "--resume"]) == 0
    assert "c.csv: already complete, nothing to resume" in capsys.readouterr().err


def test_two_audits_do_not_write_the_same_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not even with --force: it would clear away the progress of the one that runs."""
    (folder / "c.csv.partial").mkdir()
    (folder / "c.csv.partial" / "audit.json").write_text("{}", encoding="utf-8")
    done = threading.Event()
    held = threading.Event()

    def hold() -> None:
        with locked(folder / "c.csv"):
            held.set()
            done.wait(60)

    other = threading.Thread(target=hold)
    other.start()
    assert held.wait(60)
    try:
        assert run([*AUDIT, "--out", "c.csv", "--force"]) == 2
        assert "c.csv: another process is writing it" in capsys.readouterr().err
        assert (folder / "c.csv.partial" / "audit.json").exists()
    finally:
        done.set()
        other.join()


def test_our_fault_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", failing(1, RuntimeError("oh")))
    assert run([*AUDIT, "--quiet"]) == 1
    assert run([*AUDIT, "--quiet", "--out", "c.csv"]) == 1
    assert not (folder / "c.csv").exists()


def drawn(table: Any, width: int = 200, limit: int = 10) -> str:
    console = Console(file=io.StringIO(), width=width, no_color=True)
    show(carat.audit(table), limit, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_what_is_in_the_table_can_not_command_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07line\nbreak\u202eturned\u2066round?"
    text = drawn({f"Do\x1bmain{evil}": [*[evil] * 2, *["b"] * 38], "b": ["x", "y"] * 20})
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(text)
    assert len(text.splitlines()) == 12, "a line break in a value makes no new line"


def test_text_from_right_to_left_does_not_turn_the_line() -> None:
    text = drawn({"עיר": [*["חי?פה"] * 2, *["חיפה"] * 38], "b": ["x", "y"] * 20})
    assert "\u2068עיר\u2069  \u2068חי?פה\u2069 → \u2068חיפה\u2069  typo" in text
    assert "\u2068" not in drawn({"都市": [*["東?京"] * 2, *["東京"] * 38], "b": ["x", "y"] * 20})


@pytest.mark.parametrize("width", [30, 60, 100])
def test_nothing_is_cut_off(width: int) -> None:
    long = "A value with a name of about forty signs"
    text = " ".join(drawn({"Column": [*[f"{long}?"] * 2, *[long] * 38], "b": ["x", "y"] * 20}, width).split())
    assert f"{long}? → {long}" in text
    assert "likely right" in text
    assert "…" not in text


def test_hundreds_of_columns_stay_short() -> None:
    table = {f"c{n}": [*["a?"] * 2, *["b"] * 38] for n in range(500)}
    text = drawn(table, limit=3)
    assert "and 488 more columns" in text
    assert len(text.splitlines()) < 40


@pytest.mark.parametrize(
    "table",
    [
        {"a": ["x?", "x", "x"]},
        {"a": pa.nulls(4, pa.string()), "b": ["x", "y", "x", "y"]},
        {"score": ["1", "2"] * 9, "record": ["a?", "b"] * 9, "column": ["u", "v"] * 9, "decision": ["c", "d"] * 9},
    ],
    ids=["one column", "a blank column", "names of our own"],
)
def test_odd_tables(folder: Path, table: Any) -> None:
    write_csv(folder / "odd.csv", pa.table(table))
    assert run(["audit", "odd.csv", "--out", "c.jsonl", "--quiet"]) == 0
    rows = rows_of((folder / "c.jsonl").read_text(encoding="utf-8"))
    assert [row["column"] for row in rows if row["kind"] == "typo"] == [
        name for name in table for cell in pa.array(table[name]).to_pylist() if cell and "?" in cell
    ]


def test_tab_completes(folder: Path) -> None:
    assert complete("carat au", folder) == ["audit"]
    assert complete("carat audit t", folder) == ["t.csv"]
    assert complete("carat audit t.csv --profile ", folder) == ["instant", "fast"]
    assert complete("carat audit t.csv --encoding la", folder) == ["latin-1"]
    assert complete("carat audit t.csv --enc", folder) == ["--encoding"]


def test_a_name_with_a_comma_goes_into_quotes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_csv(folder / "q.csv", pa.table({"City, old": ["a?", "b"] * 9, "New": ["c?", "d"] * 9}))
    assert run(["audit", "q.csv", "--quiet", "--without", '"City, old"']) == 0
    assert {row["column"] for row in rows_of(capsys.readouterr().out)} == {"New"}


def test_the_last_line_counts_one_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*AUDIT, "--out", "c.csv", "--top", "1"]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.fullmatch(r"c\.csv: 1 suspicious cell in 1 of 40 rows: 1 typo", last)


def test_a_workbook_of_findings(folder: Path) -> None:
    assert run([*AUDIT, "--out", "c.xlsx", "--quiet"]) == 0
    assert read_findings(folder / "c.xlsx") == carat.audit(cities()).to_file()
    assert json.loads(Path("c.xlsx.about.json").read_text())["summary"]["cells"] == 4
    assert sorted(path.name for path in folder.iterdir()) == ["c.xlsx", "c.xlsx.about.json", "t.csv"]
    assert run(["audit", "c.xlsx#Table", "--out", "d.csv", "--quiet"]) == 0
    assert run([*AUDIT, "--out", "e.csv", "--quiet"]) == 0
    assert Path("d.csv").read_text() == Path("e.csv").read_text(), "a sheet is a table like any other"


def test_what_a_workbook_can_not_hold_is_said_before_the_audit(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def audited(*arguments: object) -> Findings:
        raise AssertionError("the audit began")

    monkeypatch.setattr("carat.auditing.audit.audit_table", audited)
    write_csv(folder / "long.csv", cities().append_column("Long", pa.array(["a" * 40_000, *["b"] * 39])))
    assert run(["audit", "long.csv", "--out", "c.xlsx", "--quiet"]) == 2
    assert "long.csv: column 'Long': a text of 40,000 characters" in capsys.readouterr().err
    assert not Path("c.xlsx").exists()
