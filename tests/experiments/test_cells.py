"""Cells: told apart by what decides them, read back as they were written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from carat.errors import CaratError
from carat.experiments.cells import Case, Cell, newest, read_cells, told_apart, write_cell
from tests.experiments.test_tables import cell

ONE = cell("table", "carat", 0.5, [1, 0])


def test_round_trip(tmp_path: Path) -> None:
    case = Case(domains=["A"], anomaly=["a"], original=["b"], shown={"carat": [["c"]]})
    cells = [
        ONE,
        replace(ONE, key=replace(ONE.key, kind="case", method=""), measured=None, case=case),
        replace(ONE, key=replace(ONE.key, kind="stability"), measured=None, stability={"ape": {"x": [1.0, 2.0]}}),
        replace(ONE, key=replace(ONE.key, kind="detection"), measured=None, detection={"ape": {"roc_auc": 0.9}}),
        replace(ONE, key=replace(ONE.key, method="fimap"), measured=None, error="gave up"),
    ]
    for each in cells:
        write_cell(tmp_path, each)
    found = {each.key: each for each in read_cells(tmp_path)}
    assert len(found) == 5
    for each in cells:
        back = found[each.key]
        assert back.made
        assert (back.detection is None) == (each.detection is None)
        assert replace(back, made="") == Cell.from_json(json.loads(json.dumps(each.to_json())))


@pytest.mark.parametrize(
    "other",
    [
        {"fingerprint": "g"},
        {"model": "n"},
        {"version": "9"},
        {"seed": 1},
        {"kind": "dial"},
        {"prefer": 0.25},
        {"method": "carat-plus"},
        {"k": 5},
        {"anomalies": 3},
        {"detector": "ape"},
        {"profile": "paper"},
    ],
    ids=str,
)
def test_whatever_decides_a_cell_gives_it_a_file_of_its_own(other: dict[str, object]) -> None:
    assert replace(ONE.key, **other).file != ONE.key.file  # type: ignore[arg-type]


def test_the_newest_model_counts(tmp_path: Path) -> None:
    old, new = (replace(ONE, key=replace(ONE.key, model=name), made=made) for name, made in (("m", "1"), ("n", "2")))
    other = replace(ONE, key=replace(ONE.key, seed=1), made="0")
    assert newest([new, old, other]) == [new, other]


def test_other_rows_under_the_same_name_are_told_apart() -> None:
    twin = replace(ONE, key=replace(ONE.key, fingerprint="0123456789"))
    assert [each.key.data for each in told_apart([ONE, twin], detectors=False)] == ["table [f]", "table [012345]"]
    assert [each.key.data for each in told_apart([ONE], detectors=True)] == ["table (mead)"]


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    write_cell(tmp_path, ONE)
    (tmp_path / ONE.key.file).write_text("{")
    with pytest.raises(CaratError, match=f"{ONE.key.file}: is damaged"):
        read_cells(tmp_path)
