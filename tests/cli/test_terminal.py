"""What a person at a terminal sees: coloured records, JSON on request, help that runs, Tab that completes."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import carat
from carat.cli import run
from carat.cli.app import HELP
from carat.cli.options import ENDINGS, tables
from carat.cli.recourse import _methods as offered
from carat.cli.view import diff
from carat.data.sources import ENDINGS as READ
from carat.registry import BASELINES, DATASETS, METHODS, named_data
from carat.results.explanation import Counterfactual, EntityView, Explanation, Witness
from tests.support.commands import read_csv, write_csv
from tests.support.planted import mixed_rows

ROWS = mixed_rows()


class Terminal(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def rows(work: Path) -> Path:
    write_csv(work / "rows.csv", pa.Table.from_pylist(ROWS))
    return work


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Runs a command on a terminal of 100 columns; what it printed, colours included."""

    def call(*arguments: str) -> str:
        shown = Terminal()
        monkeypatch.setattr(sys, "stdout", shown)
        monkeypatch.setenv("TERM", "xterm-256color")
        monkeypatch.setenv("COLUMNS", "100")
        monkeypatch.delenv("NO_COLOR", raising=False)
        assert run([*arguments]) == 0
        return shown.getvalue()

    return call


def bare(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def test_recourse_shows_a_coloured_diff_and_writes_nothing(rows: Path, terminal: Callable[..., str]) -> None:
    before = set(rows.iterdir())
    shown = terminal("recourse", "model", "rows.csv", "--top", "3")
    text = bare(shown)
    assert "\x1b[1;31m" in shown, "flagged values are red"
    assert "\x1b[1;32m" in shown, "new ones are green"
    assert re.search(r"Row 1: anomalous, alarm \d\.\d\d, percentile \d", text)
    assert re.search(r"Row 2: anomalous by its alarm, not by its score, alarm \d\.\d\d", text)
    assert "Good is missing; every training row has it." in text
    assert re.search(r"Carrier Carrier-4a \(0\.\d\d\)", text), "the likelihood is readable without colour"
    assert "Carrier Carrier-4a is unlikely here: never seen with" in text
    assert re.search(r"1\.  Carrier Carrier-4a → Carrier-1\w +percentile", text)
    assert "Row 3" in text
    assert "Row 0" not in text
    assert set(rows.iterdir()) == before


def test_recourse_shows_a_few_beside_the_file(rows: Path, terminal: Callable[..., str]) -> None:
    text = bare(terminal("recourse", "model", "rows.csv", "--all", "--out", "r.csv", "--show", "1"))
    assert text.count("Row ") == 1, "the strangest alone"
    assert set(read_csv(rows / "r.csv")["record"].to_pylist()) == {0, 1, 3}, "one row only lacks a value"


def test_explain_shows_only_what_is_flagged(rows: Path, terminal: Callable[..., str]) -> None:
    text = bare(terminal("explain", "model", "rows.csv"))
    assert "Row 1: anomalous" in text
    assert "Row 0" not in text, "nothing is flagged there"
    assert "→" not in text, "explain changes nothing"


def test_score_shows_the_strangest(rows: Path, terminal: Callable[..., str]) -> None:
    text = bare(terminal("score", "model", "rows.csv", "--show", "2"))
    assert text.count("Row ") == 2
    assert "unlikely here" not in text
    assert "Good missing" in bare(terminal("score", "model", "rows.csv"))


@pytest.mark.parametrize("options", [("--quiet",), ("--show", "0"), ("--json",)])
@pytest.mark.parametrize("command", ["score", "explain", "recourse"])
def test_nothing_is_shown_on_request(
    rows: Path, terminal: Callable[..., str], command: str, options: tuple[str, ...]
) -> None:
    assert "Row" not in terminal(command, "model", "rows.csv", "--out", "out.csv", *options)


@pytest.mark.parametrize("command", ["score", "explain"])
def test_a_pipe_gets_the_rows_as_json_lines(rows: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run([command, "model", "rows.csv", "--quiet", "--out", "-"]) == 0
    explicit = capsys.readouterr().out
    assert [json.loads(line) for line in explicit.splitlines()]
    assert run([command, "model", "rows.csv", "--quiet"]) == 0
    assert capsys.readouterr().out == explicit
    for options in (["--json"], ["--json", "--quiet"]):
        assert run([command, "model", "rows.csv", *options]) == 0
        assert capsys.readouterr().out == explicit, "the last line is not among the data"


def test_recourse_as_json_is_one_object_per_record(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The documented schema: what `to_json` gives, and nothing else on standard output."""
    result = carat.load("model").recourse("rows.csv", all=True, k=4)
    for options in ([], ["--quiet"]):
        assert run(["recourse", "model", "rows.csv", "--all", "--k", "4", "--json", *options]) == 0
        assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == result.to_json()
    assert all(len(record["counterfactuals"]) == record["count"] for record in result.to_json())


def test_json_tells_how_it_ended(rows: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def told(*arguments: str) -> dict[str, object]:
        assert run([*arguments, "--json"]) == 0
        captured = capsys.readouterr()
        assert "rows," not in captured.err
        (line,) = captured.out.splitlines()
        found = json.loads(line)
        assert isinstance(found, dict)
        return found

    fitted = told("fit", "planted.csv", "--out", "again", "--profile", "instant")
    assert fitted["model"] == "again"
    assert fitted["domains"] == ["Port", "Good", "Carrier", "Buyer"]
    scored = told("score", "model", "rows.csv", "--out", "s.csv")
    anomalous = sum(read_csv(rows / "s.csv")["anomalous"].to_pylist())
    identity = carat.load("model").identity
    assert scored == {"out": "s.csv", "model": identity, "records": 4, "anomalous": anomalous}
    explained = told("explain", "model", "rows.csv", "--out", "e.csv")
    assert explained["records"] == 4
    assert "Carrier" in explained["flagged"]  # type: ignore[operator]
    repaired = told("recourse", "model", "rows.csv", "--all", "--out", "r.csv")
    assert repaired["counterfactuals"] == read_csv(rows / "r.csv").num_rows
    assert repaired["method"] == "instant"


CARAT = [sys.executable, "-c", "from carat.cli import main; main()"]


def in_terminal(*arguments: str, piped: bool) -> tuple[str, str]:
    """What a command says on a pseudo-terminal, and on standard output if that is a pipe; as in a shell."""
    parent, child = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "100", "OMP_NUM_THREADS": "1"}
    environment.pop("NO_COLOR", None)
    out = subprocess.PIPE if piped else child
    with subprocess.Popen([*CARAT, *arguments], stdout=out, stderr=child, stdin=child, env=environment) as process:
        os.close(child)
        seen = b""
        while part := read(parent):
            seen += part
        data = process.stdout.read() if process.stdout else b""
    os.close(parent)
    assert process.returncode == 0, seen.decode()
    return seen.decode(), data.decode()


def read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how a pseudo-terminal says that its other end has gone
        return b""


def test_a_real_terminal_has_bars_and_colours(rows: Path) -> None:
    text, _ = in_terminal("recourse", "model", "rows.csv", "--all", piped=False)
    assert "scoring" in text
    assert "finding fixes" in text
    assert "100%" in text
    assert "\x1b[1;32m" in text
    assert "for 3 of 4 rows (method instant)" in bare(text)


@pytest.mark.parametrize("command", ["score", "explain", "recourse"])
def test_bars_keep_out_of_the_data(rows: Path, command: str) -> None:
    """Standard output is a pipe, standard error the terminal: `carat score … > scores.jsonl`."""
    text, data = in_terminal(command, "model", "rows.csv", "--out", "-", piped=True)
    assert [json.loads(line)["record"] for line in data.splitlines()]
    assert '"record"' not in text
    assert "100%" in text


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
def test_no_fix_is_cut_off(width: int) -> None:
    long = "An entity with a name of thirty-five signs"
    view = EntityView("Consignee", long, 0.1, 3)
    change = Counterfactual(
        1, 1.0, 50.0, False, {"Consignee": (long, "Another of the same length or so")}, {"Consignee": 0}, 2
    )
    console = Console(file=io.StringIO(), width=width)
    console.print(diff(Explanation("x", -1.0, 0.0, True, (view, view), (change,), None)))
    assert isinstance(console.file, io.StringIO)
    text = " ".join(console.file.getvalue().split())
    assert "…" not in text
    assert "1. Consignee" in text
    for words in (
        "→",
        "Another of the same length or so",
        "percentile 50.0, cost 2, still anomalous",
        "seen with 0 of 1 other value",
    ):
        assert words in text


def test_streams_that_are_closed_or_not_utf8(rows: Path) -> None:
    """`>&-`, `2>&-`, and a locale that knows no arrows."""
    score = f"{sys.executable} -c 'from carat.cli import main; main()' score model rows.csv"
    for line in (f"{score} --out a.csv --quiet >&-", f"{score} --out b.csv 2>&-"):
        assert subprocess.run(["bash", "-c", line], check=False, capture_output=True).returncode == 0, line
    assert read_csv(rows / "a.csv").num_rows == read_csv(rows / "b.csv").num_rows == 4
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    help = subprocess.run([*CARAT, "fit", "--help"], env=latin, capture_output=True, check=False)
    assert help.returncode == 0
    assert "…" in help.stdout.decode()
    write_csv(rows / "arrow.csv", pa.Table.from_pylist([{**mixed_rows()[1], "Buyer": "→ Ødegård 東"}]))
    (rows / "keep.toml").write_text('immutable = ["Buyer"]\n')
    command = [*CARAT, "recourse", "model", "arrow.csv", "--all", "--k", "1", "--constraints", "keep.toml"]
    done = subprocess.run(command, env=latin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.decode("utf-8"))["Buyer"] == "→ Ødegård 東"


def test_nothing_to_do_is_refused(
    rows: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", Terminal())
    assert run(["recourse", "model", "rows.csv", "--quiet"]) == 2
    assert "there is nothing to show or write; add --out FILE" in capsys.readouterr().err
    assert run(["recourse", "model", "rows.csv", "--quiet", "--report", "page.html"]) == 0


def test_what_is_in_the_table_can_not_command_the_terminal() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07line\nbreak\u202eturned\u2066round"
    view = EntityView("Do\x1bmain", evil, 0.1, 3, (Witness("Other", evil, 0, ((evil, 2),)),))
    missing = EntityView("Empty", None, None, 0)
    change = Counterfactual(
        1, 1.0, 50.0, False, {"Do\x1bmain": (evil, evil), "Empty": (None, "new")}, {"Empty": 0}, 2.5
    )
    told = Explanation(evil, -1.0, 0.0, True, (view, missing), (change,), f"because {evil}")
    console = Console(file=io.StringIO(), width=400, no_color=True, force_terminal=False)
    console.print(diff(told))
    assert isinstance(console.file, io.StringIO)
    text = console.file.getvalue()
    assert not {"\x1b", "\x07", "\u202e", "\u2066"} & set(text)
    assert len(text.splitlines()) == 5, "row, strip, words, fix, note"
    assert "cost 2.5, still anomalous" in text
    assert "seen with 0 of 1 other value" in text
    assert "Empty missing → new" in text


def test_ids_keep_their_type(work: Path, planted: pa.Table) -> None:
    numbered = planted.append_column("number", pa.array(range(100, 100 + planted.num_rows)))
    pq.write_table(numbered, work / "n.parquet")
    (work / "carat.toml").write_text('[table]\nid = "number"\ndomains = ["Port", "Good", "Carrier", "Buyer"]\n')
    fit = ["fit", "n.parquet", "--out", "n", "--profile", "instant", "--config", "carat.toml", "--quiet"]
    assert run(fit) == 0
    for command in ("score", "explain", "recourse"):
        assert run([command, "n", "n.parquet", "--out", f"{command}.parquet", "--quiet"]) == 0
        assert pq.read_schema(work / f"{command}.parquet").field("record").type == pa.int64()


def commands_of_the_help() -> list[list[str]]:
    return [line.split()[1:] for line in HELP.splitlines() if line.startswith("    carat ")]


def test_the_help_is_a_tutorial_that_runs(work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (work / "planted.csv").rename(work / "shipments.csv")
    write_csv(work / "today.csv", pa.Table.from_pylist(ROWS))
    shutil.copy(work / "shipments.csv", work / "month.csv")
    shutil.rmtree(work / "model")
    commands = commands_of_the_help()
    assert {command[0] for command in commands} == {"demo", "audit", "apply", "fit", "score", "recourse", "update"}
    for command in commands:
        # The tutorial writes some names twice, on days that are not the same; training is tested elsewhere.
        options = ["--force"] if "--out" in command and "--force" not in command else []
        options += ["--profile", "instant"] if command[0] == "fit" else []
        if command[0] != "demo":
            assert run([*command, *options]) == 0, command
    assert (work / "page.html").exists()
    capsys.readouterr()


def test_a_reader_that_leaves_early_is_no_error(work: Path) -> None:
    carat = f"{sys.executable} -c 'from carat.cli import main; main()'"
    line = f"set -o pipefail; {carat} score model planted.csv --quiet | head -1"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == 1


def test_help_and_mistakes_do_not_wait_for_torch() -> None:
    code = "import sys; from carat.cli import run; run(['--help']); run(['fit', '--nonsense']); "
    code += "assert 'torch' not in sys.modules and 'pyarrow' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "carat recourse model shipments.csv" in done.stdout
    assert "(see carat fit --help)" in done.stderr


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert re.fullmatch(r"carat \d+\.\d+\.\d+\S*\n", capsys.readouterr().out)


def complete(words: str, folder: Path) -> list[str]:
    """What bash would be offered at the end of the words."""
    environment = {
        **os.environ,
        "_CARAT_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'carat'; from carat.cli import main; main([])"],
        env=environment,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.split()


def test_tab_completes(rows: Path) -> None:
    assert complete("carat rec", rows) == ["recourse"]
    assert complete("carat fit ro", rows) == ["rows.csv"]
    assert complete("carat fit shipments:u", rows) == ["shipments:us_import"]
    assert complete("carat recourse model rows.csv --method carat", rows) == ["carat", "carat-plus"]
    assert "--report" in complete("carat recourse model rows.csv --re", rows)


def test_what_tab_offers_is_what_there_is(tmp_path: Path) -> None:
    assert {*offered()} == {*METHODS, *BASELINES} - {"fimap", "dice-random", "dice-genetic", "dice-kdtree"}
    assert ENDINGS == READ
    assert all(named_data(name) is not name for name in DATASETS)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.csv.gz").touch()
    (tmp_path / "sub" / "a.txt").touch()
    assert tables(f"{tmp_path}/su") == [f"{tmp_path}/sub/"]
    assert tables(f"{tmp_path}/sub/") == [f"{tmp_path}/sub/a.csv.gz"]
    assert tables(f"{tmp_path}/none/") == []
