"""A CSV file that is not UTF-8: every command that reads a table takes `--encoding`, and so do the calls behind it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

import carat
from carat.cli import run
from carat.errors import InputError
from tests.support.commands import INSTANT
from tests.support.planted import planted_table

LATIN = ("--encoding", "latin-1", "--quiet")


def written(path: Path, table: pa.Table) -> Path:
    """A table in Latin-1, with an umlaut in the name of a column and in every value of it."""
    port = pa.array([f"Ä{text}" for text in table["Port"].to_pylist()])
    table = table.set_column(0, "Pört", port)
    lines = [",".join(table.column_names), *(",".join(row.values()) for row in table.to_pylist())]
    path.write_bytes("\n".join([*lines, ""]).encode("latin-1"))
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "old.csv", planted_table(600))
    written(tmp_path / "new.csv", planted_table(60, seed=4))
    assert run(["fit", "old.csv", "--out", "model", *INSTANT, *LATIN]) == 0
    return tmp_path


def test_every_command_takes_it(folder: Path) -> None:
    assert "Pört" in carat.load("model").vocabulary.names
    for command in ("score", "explain", "recourse"):
        assert run([command, "model", "new.csv", "--out", f"{command}.jsonl", *LATIN]) == 0
    assert run(["update", "model", "new.csv", "--all", "--forget", "old.csv", "--out", "newer", *LATIN]) == 0
    assert carat.load("newer").training["history"][0]["forgotten"] > 500
    likelihoods = [json.loads(line) for line in Path("explain.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(likelihoods) == 60
    assert "Pört" in likelihoods[0]


def test_without_it_one_line_names_it(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["fit", "old.csv", *INSTANT], ["score", "model", "new.csv"], ["update", "model", "new.csv"]):
        assert run([*arguments, "--out", "x.csv" if arguments[0] == "score" else "x"]) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert "not UTF-8 text; say how it is written with --encoding, such as latin-1" in line
        assert "save it as UTF-8 (in Excel: Save As, CSV UTF-8)" in line


def test_the_calls_take_it_too(folder: Path) -> None:
    model = carat.load("model")
    rows = pyarrow.csv.read_csv("new.csv", read_options=pyarrow.csv.ReadOptions(encoding="latin-1"))
    assert model.score("new.csv", encoding="latin-1") == model.score(rows)
    assert model.explain("new.csv", encoding="latin-1") == model.explain(rows)
    result = model.recourse("new.csv", top=3, k=1, encoding="latin-1")
    assert result.to_frame() == model.recourse(rows, top=3, k=1).to_frame()
    assert result.fixed().column_names == rows.column_names
    assert model.update("new.csv", encoding="latin-1").identity == model.update(rows).identity
    with pytest.raises(InputError, match="`encoding` is for csv files"):
        model.score(rows, encoding="latin-1")


def test_where_the_word_means_something_else_the_message_shows_another_way(folder: Path) -> None:
    with pytest.raises(InputError, match=r"not UTF-8 text; save it .*Excel.*pandas.read_csv\(…, dtype=str, enc"):
        carat.fit("old.csv", profile="instant")
    (folder / "old.jsonl").write_bytes('{"Pört": "Ä"}\n'.encode("latin-1"))
    with pytest.raises(InputError, match="not UTF-8 text; save it as UTF-8$"):
        carat.fit("old.jsonl", profile="instant")
