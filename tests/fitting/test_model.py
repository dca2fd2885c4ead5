"""The trained bundle, as a Python user meets it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch

import carat
from carat.errors import InputError
from carat.results import SCORE_COLUMNS
from tests.support.planted import record


@pytest.fixture(scope="module")
def model(planted: pa.Table) -> carat.Model:
    return carat.fit(planted, profile="instant")


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_answers_in_the_users_library(library: Any, model: carat.Model, planted: pa.Table) -> None:
    frame = library(planted.slice(0, 7).to_pydict())
    scored = model.score(frame)
    assert type(scored) is type(frame)
    assert tuple(scored.columns if library is not pa.table else scored.column_names) == SCORE_COLUMNS


def test_percentile_and_anomalous(model: carat.Model, planted: pa.Table) -> None:
    scored = model.score(planted).to_pylist()
    reference = model.reference
    for row in scored[:50]:
        assert row["percentile"] == pytest.approx(100 * float((reference <= row["score"]).double().mean()), abs=1e-3)
        assert row["anomalous"] == (row["score"] < model.threshold_score or row["alarm"] >= model.scale.alarm)
    assert [row["record"] for row in scored] == list(range(len(scored)))


def test_the_strangest_record_is_the_strange_one(model: carat.Model) -> None:
    good = record(Port=1, Good=1, Carrier=1, Buyer=1)
    scored = model.score(pl.DataFrame([good, {**good, "Carrier": "Carrier-4a"}]))
    assert scored["anomalous"].to_list() == [False, True]
    assert scored["score"][0] > scored["score"][1]


def test_id_column_names_the_records(planted: pa.Table) -> None:
    table = planted.append_column("bill", pa.array([f"B{i}" for i in range(planted.num_rows)]))
    model = carat.fit(table, id="bill", profile="instant")
    assert "bill" not in model.schema.domains
    assert model.score(table.slice(3, 2))["record"].to_pylist() == ["B3", "B4"]


def test_unseen_entities_are_named(model: carat.Model) -> None:
    strange = {**record(Port=1, Good=1, Carrier=1, Buyer=1), "Port": "Atlantis"}
    assert model.unseen(pa.Table.from_pylist([strange, strange])) == {"Port": {"Atlantis": 2}}


def test_numeric_columns_become_ranges(planted: pa.Table) -> None:
    weight = pa.array([None if i % 10 == 0 else float(i % 100) for i in range(planted.num_rows)])
    model = carat.fit(planted.append_column("Weight", weight), numeric={"Weight": 4}, profile="instant")
    texts = model.vocabulary.domains[-1].entities.to_pylist()
    assert texts == ["below 25", "25 to below 50", "50 to below 75", "75 or more"]
    assert model.score(planted.append_column("Weight", weight)).num_rows == planted.num_rows


def test_a_missing_column_is_named(model: carat.Model, planted: pa.Table) -> None:
    with pytest.raises(InputError, match="no column 'Carrier'"):
        model.score(planted.drop_columns(["Carrier"]))


def test_datasets_by_name_and_a_file_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = carat.fit("shipments:ecuador_export", profile="instant")
    assert model.schema.domains[0] == "Shipper"
    assert model.schema.metapaths
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        carat.fit("shipment.csv")


def test_checkpoints_of_another_fit_are_refused(planted: pa.Table, tmp_path: Path) -> None:
    first = carat.fit(planted, explainer=False, detector="mead", checkpoints=tmp_path / "c")
    again = carat.fit(planted, explainer=False, detector="mead", checkpoints=tmp_path / "c")
    assert torch.equal(first.reference, again.reference)
    with pytest.raises(InputError, match="other data or settings"):
        carat.fit(planted.slice(1), explainer=False, detector="mead", checkpoints=tmp_path / "c")


def test_profiles_choose_detectors_and_arguments_win(planted: pa.Table) -> None:
    assert carat.fit(planted, profile="instant").detector.name == "counts"
    assert carat.fit(planted, profile="instant", detector="mead").detector.name == "mead"
    with pytest.raises(InputError, match="did you mean 'fast'"):
        carat.fit(planted, profile="fastt")


def test_lazy_imports() -> None:
    """`import carat` must not pull in what only a part of the users has installed."""
    import subprocess
    import sys

    code = "import carat, sys; print([m for m in ('pandas', 'polars', 'sklearn', 'pyod') if m in sys.modules])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )


def test_what_is_wrong_with_an_outside_detector_is_said_before_the_long_part(planted: pa.Table) -> None:
    class Late(carat.explain.CountsExplainer):
        def fit(self, data: Any, run: Any = None) -> Any:
            raise AssertionError("the explainer must not be fitted before the detector was tried")

    with pytest.raises(InputError, match="one score per row"):
        carat.fit(planted, detector=lambda frame: [0.0], explainer=Late())
