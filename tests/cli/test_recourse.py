"""`carat recourse` end to end."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import carat
from carat.cli import run
from tests.support.commands import give_stdin
from tests.support.planted import DOMAINS, mixed_rows, planted_table

ROWS = mixed_rows()
COLUMNS = ["record", "rank", "score", "percentile", "valid", "changed", *DOMAINS]


@pytest.fixture(scope="module")
def folder(planted: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("recourse")
    carat.fit(planted, profile="instant").save(path / "model")
    pyarrow.csv.write_csv(pa.Table.from_pylist(ROWS), path / "rows.csv")
    return path


def recourse(folder: Path, out: Path | str, *options: str) -> int:
    return run(["recourse", f"{folder}/model", f"{folder}/rows.csv", "--out", str(out), *options])


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in Path(f"{path}.records.jsonl").read_text(encoding="utf-8").splitlines()]


def test_every_record(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "r.parquet"
    assert recourse(folder, out, "--all", "--k", "3") == 0
    table = pq.read_table(out)
    assert table.column_names == COLUMNS
    rows = table.to_pylist()
    first = {row["record"]: row for row in rows if row["rank"] == 1}
    assert first[1]["changed"] == ["Carrier"]
    assert first[1]["Carrier"].startswith("Carrier-1")
    assert first[1]["valid"]
    assert all(row["Good"] is None for row in rows if row["record"] == 2)
    assert max(row["rank"] for row in rows) <= 3
    about = lines(out)
    assert [line["record"] for line in about] == [0, 1, 2, 3]
    assert "already normal" in str(about[0]["reason"])
    assert about[1]["reason"] is None
    assert [line["count"] for line in about] == [sum(row["record"] == n for row in rows) for n in range(4)]
    assert all(line["exhausted"] for line in about)


def test_without_top_or_all_only_the_anomalous(folder: Path, tmp_path: Path) -> None:
    assert recourse(folder, tmp_path / "r.csv") == 0
    with (tmp_path / "r.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    anomalous = {
        str(row["record"])
        for row in carat.load(folder / "model").score(folder / "rows.csv").to_pylist()
        if row["anomalous"]
    }
    assert anomalous
    about = lines(tmp_path / "r.csv")
    assert {str(line["record"]) for line in about} == anomalous
    blank = {str(line["record"]) for line in about if "is blank" in str(line["reason"])}
    assert len(blank) == 1, "a row that only lacks a value is listed, but has no fix"
    assert {row["record"] for row in rows} == anomalous - blank
    assert json.loads(rows[0]["changed"])


def test_another_threshold(folder: Path, tmp_path: Path) -> None:
    """What is anomalous, and what is valid, by a quantile or a score, without a new fit."""
    score = {row["record"]: row["score"] for row in carat.load(folder / "model").score(folder / "rows.csv").to_pylist()}
    low, high = sorted(score.values())[1:3]
    between = (low + high) / 2
    by_score = ("--threshold-score", f"{between}", "--gate", "score")
    assert recourse(folder, tmp_path / "s.parquet", *by_score) == 0
    rows = pq.read_table(tmp_path / "s.parquet").to_pylist()
    assert {row["record"] for row in rows} == {name for name, value in score.items() if value < between}
    assert all(row["valid"] == (row["score"] >= between) for row in rows)
    assert recourse(folder, tmp_path / "a.parquet", "--threshold-score", f"{between}") == 0
    rows = pq.read_table(tmp_path / "a.parquet").to_pylist()
    assert [line["record"] for line in lines(tmp_path / "a.parquet")] == [1, 2, 3], "the alarm lists the blank one too"
    assert {row["record"] for row in rows} == {1, 3}
    assert all(row["valid"] == (row["score"] >= between) for row in rows)
    assert recourse(folder, tmp_path / "q.parquet", "--threshold", "0.99") == 0
    assert {line["record"] for line in lines(tmp_path / "q.parquet")} == set(score)
    assert recourse(folder, tmp_path / "x.parquet", "--threshold", "0.1", "--threshold-score", "1") == 2


def test_the_page_says_what_it_lists(folder: Path, tmp_path: Path) -> None:
    for options, title in (
        ((), "Anomalous rows in rows.csv"),
        (("--top", "2"), "Strangest rows in rows.csv"),
        (("--all",), "All rows in rows.csv"),
    ):
        assert recourse(folder, tmp_path / "r.csv", "--report", str(tmp_path / "p.html"), "--force", *options) == 0
        assert f"<title>{title}</title>" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_the_strangest_come_first(folder: Path, tmp_path: Path) -> None:
    assert recourse(folder, tmp_path / "r.jsonl", "--top", "2") == 0
    about = lines(tmp_path / "r.jsonl")
    scores = [float(str(line["score"])) for line in about]
    everything = carat.load(folder / "model").score(folder / "rows.csv").to_pylist()
    assert scores == [row["score"] for row in sorted(everything, key=lambda row: (-row["alarm"], row["score"]))][:2]
    assert recourse(folder, tmp_path / "s.jsonl", "--top", "2", "--gate", "score") == 0
    scores = [float(str(line["score"])) for line in lines(tmp_path / "s.jsonl")]
    assert scores == sorted(row["score"] for row in everything)[:2]


def test_top_holds_over_many_parts(planted: pa.Table, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The strangest of a stream, whose parts come one after the other."""
    model = carat.load(folder / "model")
    table = planted_table(3000, seed=9)
    strange = {5: "Carrier-5a", 1500: "Carrier-0a", 2999: "Carrier-3a"}
    carriers = [strange.get(i, text) for i, text in enumerate(table["Carrier"].to_pylist())]
    table = table.set_column(2, "Carrier", pa.array(carriers))
    pieces = pa.Table.from_batches(table.to_batches(max_chunksize=100))
    whole = sorted((-row["alarm"], row["score"]) for row in model.score(table).to_pylist())
    found = [(-row["alarm"], row["score"]) for row in model.recourse(pieces, top=7, k=1).records]
    assert [alarm for alarm, _ in found] == pytest.approx([alarm for alarm, _ in whole[:7]])
    assert [score for _, score in found] == pytest.approx([score for _, score in whole[:7]])
    scores = sorted(score for _, score in whole)
    found = [row["score"] for row in model.recourse(pieces, top=7, k=1, gate="score").records]
    assert found == pytest.approx(scores[:7])


def test_constraints_and_costs(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "constraints.toml"
    file.write_text(
        'immutable = ["Carrier"]\n[forbidden]\nPort = ["Port-9z"]\n[cost]\nchange = 2\ndomains = { Port = 1.5 }\n',
        encoding="utf-8",
    )
    out = tmp_path / "r.parquet"
    assert recourse(folder, out, "--all", "--constraints", str(file)) == 0
    table = pq.read_table(out)
    assert table.column_names == [*COLUMNS, "cost"]
    for row in table.to_pylist():
        assert "Carrier" not in row["changed"]
        assert row["cost"] == pytest.approx(sum(3.5 if name == "Port" else 2 for name in row["changed"]))
    assert "has no effect: Port Port-9z" in capsys.readouterr().err
    assert "Carrier may not change" in str(lines(out)[1]["reason"])


def test_nothing_is_possible_for_one_record(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "constraints.toml"
    file.write_text('[allowed]\nCarrier = ["Nobody"]\n', encoding="utf-8")
    out = tmp_path / "r.parquet"
    assert recourse(folder, out, "--all", "--constraints", str(file)) == 0
    about = lines(out)
    assert about[1]["count"] == 0
    assert about[1]["reason"] == "the constraints leave no value for Carrier"
    assert int(str(about[3]["count"])) > 0
    # Which value of a row without a flagged one is the least likely is the judge's business; only row 1 is certain.
    without = [line["reason"] for line in about if line["count"] == 0 and "is blank" not in str(line["reason"])]
    assert all("the constraints leave no value for Carrier" in str(reason) for reason in without)
    said = f"{len(without)} row{' has' if len(without) == 1 else 's have'} none (see {out}.records.jsonl)"
    assert f"; {said}; 1 row has only blanks to fill: carat audit suggests values\n" in capsys.readouterr().err


def test_pipes(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    give_stdin(monkeypatch, ROWS)
    assert run(["recourse", f"{folder}/model", "-", "--out", "-", "--all", "--k", "1"]) == 0
    printed = capsys.readouterr()
    rows = [json.loads(line) for line in printed.out.splitlines()]
    assert list(rows[0]) == COLUMNS
    assert not list(Path().glob("-*"))


def test_an_empty_table_has_the_columns(folder: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.parquet"
    pq.write_table(planted_table(2).slice(0, 0), empty)
    assert run(["recourse", f"{folder}/model", str(empty), "--out", f"{tmp_path}/r.parquet"]) == 0
    assert pq.read_table(tmp_path / "r.parquet").column_names == COLUMNS
    assert lines(tmp_path / "r.parquet") == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--method", "carat"], "the method 'carat' needs a trained explainer"),
        (["--method", "carrat"], "did you mean 'carat'?"),
        (["--method", "fimap"], "runs in carat bench only"),
        (["--method", "rceaa"], "rceaa needs the detector mead or ape"),
        (["--top", "3", "--all"], "--top or --all, not both"),
        (["--constraints", "nowhere.toml"], "nowhere.toml: no such file"),
        (["--k", "0"], "--k"),
        (["--prefer", "2"], "--prefer"),
    ],
)
def test_bad_input_is_one_line(
    options: list[str], said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert recourse(folder, tmp_path / "r.csv", *options) == 2
    message = capsys.readouterr().err.strip()
    assert said in message
    assert len(message.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_what_is_there_is_not_replaced(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "r.csv"
    Path(f"{out}.records.jsonl").write_text("mine", encoding="utf-8")
    assert recourse(folder, out) == 2
    assert "already exists" in capsys.readouterr().err
    assert not out.exists()
    assert recourse(folder, out, "--force") == 0


def test_a_page_beside(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = tmp_path / "page.html"
    assert recourse(folder, tmp_path / "r.csv", "--top", "3", "--report", str(page)) == 0
    text = page.read_text(encoding="utf-8")
    assert text.startswith("<!doctype html>")
    assert "Carrier-4a" in text
    assert "the model holds its training rows" in text
    assert "3 rows to look at in a browser" in capsys.readouterr().err
    assert recourse(folder, tmp_path / "other.csv", "--report", str(page)) == 2, "nothing is replaced unasked"
    assert recourse(folder, tmp_path / "other.csv", "--report", f"{tmp_path}/page.pdf") == 2
    assert "end its name in .html" in capsys.readouterr().err
    assert not (tmp_path / "other.csv").exists()
