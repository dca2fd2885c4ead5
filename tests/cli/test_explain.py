"""`carat explain` end to end."""

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
from tests.support.planted import DOMAINS, planted_table, record

GOOD = record(Port=1, Good=1, Carrier=1, Buyer=1)
ROWS = [GOOD, {**GOOD, "Carrier": "Carrier-4a"}, {**GOOD, "Good": None}, {**GOOD, "Buyer": "Nobody"}]


@pytest.fixture(scope="module")
def folder(planted: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("explain")
    carat.fit(planted, profile="instant").save(path / "model")
    pyarrow.csv.write_csv(pa.Table.from_pylist(ROWS), path / "rows.csv")
    return path


def test_columns_and_values(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", f"{folder}/model", f"{folder}/rows.csv", "--out", f"{folder}/e.parquet"]) == 0
    table = pq.read_table(folder / "e.parquet")
    assert table.column_names == ["record", *DOMAINS, "flagged"]
    rows = table.to_pylist()
    assert [row["record"] for row in rows] == [0, 1, 2, 3]
    assert [row["flagged"] for row in rows] == [[], ["Carrier"], [], ["Buyer"]]
    assert rows[2]["Good"] is None
    assert rows[1]["Carrier"] < 0.5 < rows[0]["Carrier"]
    said = capsys.readouterr().err
    assert "never seen in training: Buyer Nobody (1×)" in said
    assert "4 rows, 2 with a flagged value (Carrier 1, Buyer 1)" in said


def test_csv_writes_the_list_as_json(folder: Path) -> None:
    assert run(["explain", f"{folder}/model", f"{folder}/rows.csv", "--out", f"{folder}/e.csv", "--quiet"]) == 0
    with (folder / "e.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [json.loads(row["flagged"]) for row in rows] == [[], ["Carrier"], [], ["Buyer"]]
    assert rows[2]["Good"] == ""


def test_json_lines_to_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["explain", f"{folder}/model", f"{folder}/rows.csv", "--out", "-", "--quiet"]) == 0
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert lines[1]["flagged"] == ["Carrier"]


def test_no_rows(folder: Path) -> None:
    pq.write_table(planted_table(2).slice(0, 0), folder / "empty.parquet")
    assert run(["explain", f"{folder}/model", f"{folder}/empty.parquet", "--out", f"{folder}/none.parquet"]) == 0
    assert pq.read_table(folder / "none.parquet").column_names == ["record", *DOMAINS, "flagged"]


def test_a_model_without_explainer_says_what_to_do(
    planted: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow.csv.write_csv(planted, tmp_path / "t.csv")
    arguments = [
        "fit",
        f"{tmp_path}/t.csv",
        "--out",
        f"{tmp_path}/m",
        "--profile",
        "instant",
        "--no-explainer",
        "--quiet",
    ]
    assert run(arguments) == 0
    assert carat.load(tmp_path / "m").explainer is None
    assert run(["explain", f"{tmp_path}/m", f"{tmp_path}/t.csv", "--out", f"{tmp_path}/e.csv"]) == 2
    assert "fit it again with --explainer" in capsys.readouterr().err
    assert not (tmp_path / "e.csv").exists()


def test_the_same_in_python(folder: Path) -> None:
    frame = carat.load(folder / "model").explain(pa.Table.from_pylist(ROWS))
    assert frame.column_names == ["record", *DOMAINS, "flagged"]
    assert frame["flagged"].to_pylist()[1] == ["Carrier"]


def test_context_without_explainer_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["fit", f"{folder}/rows.csv", "--out", f"{folder}/c", "--detector", "context", "--no-explainer"]
    assert run(arguments) == 2
    assert "can't be fitted without one" in capsys.readouterr().err
