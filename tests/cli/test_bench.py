"""`carat bench` end to end, on a small table."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from carat.cli import run
from carat.data import TableWriter
from carat.experiments import bench as bench_module
from carat.experiments.cells import Cell, read_cells
from tests.support.planted import planted_table


def cells_in(folder: Path) -> dict[tuple[str, int], Cell]:
    return {(cell.key.title, cell.key.seed): cell for cell in read_cells(folder / "cells")}


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "planted.parquet"
    with TableWriter(path) as writer:
        writer.write(planted_table(1500, seed=3))
    return path


@pytest.mark.slow
def test_results_tables_and_figures(
    table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["bench", "--data", str(table), "--profile", "instant", "--methods", "replace-m,rceaa,instant"]
    command += ["--anomalies", "30", "--k", "5", "--out", str(tmp_path / "out"), "--seeds", "0,1"]
    assert run(command) == 0
    results = json.loads((tmp_path / "out/results.json").read_text(encoding="utf-8"))
    assert results["plan"]["seeds"] == [0, 1]
    assert {"metrics", "recovery", "seconds"} <= set(results["cells"][-1])
    cells = cells_in(tmp_path / "out")
    assert set(cells) == {
        (name, seed) for name in ("replace-m", "rceaa", "instant", "detection", "case") for seed in (0, 1)
    }
    measured = {name: cells[name, 0].measured for name in ("instant", "rceaa", "replace-m")}
    assert [len(each.rank) for each in measured.values() if each] == [30, 3, 30], "rceaa gets every tenth"
    assert measured["replace-m"] is not None
    assert set(measured["replace-m"].values["sparsity_index"]) == {0.8}, "one change in four domains"
    tables = (tmp_path / "out/tables.md").read_text(encoding="utf-8")
    assert "| planted | real |" in tables
    assert "± 0.0000" in tables
    assert "| planted, caught at 1 % false alarms |" in tables
    for name in ("time", "metrics", "recovery", "case"):
        assert (tmp_path / f"out/figures/{name}.png").stat().st_size > 1_000
        assert (tmp_path / f"out/figures/{name}.svg").read_text(encoding="utf-8").startswith("<svg")

    # Again: nothing is computed, for every cell is there; a missing one alone is done again.
    def never(*_: object, **__: object) -> None:
        raise AssertionError("a cell was computed again")

    with monkeypatch.context() as patched:
        patched.setattr(bench_module.Bench, "_cell", never)
        assert run(command) == 0
    capsys.readouterr()
    next((tmp_path / "out/cells").glob("planted-seed1-mead-instant-*.json")).unlink()
    assert run(command) == 0
    said = capsys.readouterr().err
    assert "planted-seed0-instant-mead: all 5 cells are done" in said
    assert "planted-seed1-instant-mead: fitting the model, 1 of 5 cells to do" in said
    for key, cell in cells_in(tmp_path / "out").items():
        before, now = cells[key].measured, cell.measured
        assert (now and now.values) == (before and before.values), "the same seed gives the same figures"


def test_a_second_file_of_the_same_name_gets_cells_of_its_own(table: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with TableWriter(tmp_path / "other/planted.parquet") as writer:
        writer.write(planted_table(1500, seed=4))
    command = ["bench", "--profile", "instant", "--methods", "instant", "--quiet", "--detector", "counts"]
    command += ["--anomalies", "10", "--k", "4", "--out", str(tmp_path / "out")]
    assert run([*command, "--data", str(table), "--data", str(tmp_path / "other/planted.parquet")]) == 0
    found = read_cells(tmp_path / "out/cells")
    assert len(found) == 6
    assert len({cell.key.fingerprint for cell in found}) == len({cell.key.model for cell in found}) == 2
    page = (tmp_path / "out/tables.md").read_text(encoding="utf-8")
    for cell in found:
        assert f"| planted [{cell.key.fingerprint[:6]}] | real |" in page


def test_detectors_and_sizes_are_kept_apart(table: Path, tmp_path: Path) -> None:
    """A folder may hold several comparisons; each one's tables are its own."""
    command = ["bench", "--data", str(table), "--profile", "instant", "--methods", "instant", "--no-dial", "--quiet"]
    command += ["--out", str(tmp_path), "--k", "4"]
    assert run([*command, "--anomalies", "10", "--detector", "counts,mead"]) == 0
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| planted (counts) |" in page
    assert "| planted (mead) |" in page
    assert run([*command, "--anomalies", "12", "--detector", "counts"]) == 0
    page = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "| planted | real | 60 | 4 | 1,200 | 12 | 0 |" in page
    assert "mead" not in page


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--methods", "carrat"], "unknown method 'carrat'"),
        (["--data", "nowhere.csv"], "nowhere.csv: no such file"),
        (["--seeds", "0,x"], "--seeds must be whole numbers separated by commas, got '0,x'"),
    ],
)
def test_bad_input_is_one_line(
    options: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bench", "--out", str(tmp_path / "out"), *options]) == 2
    message = capsys.readouterr().err.strip()
    assert said in message
    assert len(message.splitlines()) == 1
