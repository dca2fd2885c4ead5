"""A model folder as a function of Arrow batches: the same answers as the model's, however the rows are cut."""

from __future__ import annotations

import logging
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import carat
from carat.batches import BatchFunction, Explaining, Recourse, Scoring
from carat.errors import InputError, ModelFolderError
from tests.engines.conftest import in_order, named

FUNCTIONS: list[type[BatchFunction]] = [Scoring, Explaining, Recourse]


def answers(model: carat.Model, rows: pa.Table, kind: type[BatchFunction]) -> pa.Table:
    """What the model says in one go."""
    if kind is Scoring:
        return named(model.score(rows, judge_all=False))
    if kind is Explaining:
        return named(model.explain(rows))
    return named(pa.concat_tables([batch.rows() for batch in model.recourse(rows, judge_all=False).batches]))


@pytest.mark.parametrize("kind", FUNCTIONS)
@pytest.mark.parametrize("size", [17, 1_000])
def test_answers_are_the_models_own_however_rows_are_cut(
    kind: type[BatchFunction], size: int, folder: Path, model: carat.Model, rows: pa.Table
) -> None:
    function = pickle.loads(pickle.dumps(kind(folder, id="number")))
    batches = list(function.each(rows.to_batches(max_chunksize=size)))
    assert all(isinstance(batch, pa.RecordBatch) and batch.schema == function.schema(rows.schema) for batch in batches)
    found, expected = in_order(pa.Table.from_batches(batches)), in_order(answers(model, rows, kind))
    assert len(found) > 20, "there is something to compare"
    assert found.drop_columns(_numbers(found)).equals(expected.drop_columns(_numbers(found)))
    for name in _numbers(found):
        assert found[name].to_pylist() == pytest.approx(expected[name].to_pylist(), abs=1e-5)


def _numbers(table: pa.Table) -> list[str]:
    """Columns of fractions, whose last bits may depend on how many rows are computed together."""
    return [field.name for field in table.schema if pa.types.is_floating(field.type)]


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_no_rows_give_the_columns_alone(kind: type[BatchFunction], folder: Path, rows: pa.Table) -> None:
    function = kind(folder, id="number")
    empty = function(rows.slice(0, 0))
    assert (len(empty), empty.schema) == (0, function.schema(rows.schema))
    batch = function(pa.RecordBatch.from_pylist([], schema=rows.schema))
    assert isinstance(batch, pa.RecordBatch)
    assert batch.num_rows == 0


def test_names_keep_the_type_of_their_column(folder: Path, rows: pa.Table) -> None:
    texts = rows.set_column(4, "number", rows["number"].cast(pa.string()).dictionary_encode())
    for function in (Scoring(folder, id="number"), Recourse(folder, id="number")):
        found = function(texts)
        assert found.schema.field("record").type == pa.string()
        assert set(found["record"].to_pylist()) <= set(texts["number"].to_pylist())
    assert Scoring(folder).schema(rows.schema).field("record").type == pa.int64()
    assert Scoring(folder)(rows)["record"].to_pylist() == list(range(len(rows)))


def test_a_models_own_id_column_names_the_rows(tmp_path: Path, rows: pa.Table) -> None:
    carat.fit(rows, profile="instant", id="number", device="cpu").save(tmp_path / "model")
    assert Scoring(tmp_path / "model")(rows)["record"].equals(rows["number"])
    again = rows.append_column("other", pc.add(rows["number"], 5))
    assert Scoring(tmp_path / "model", id="other")(again)["record"].equals(again["other"])
    with pytest.raises(InputError, match="no column 'number' for `id`"):
        Scoring(tmp_path / "model")(rows.drop_columns(["number"]))


def test_options_reach_the_job(folder: Path, rows: pa.Table) -> None:
    assert Scoring(folder, judge_all=True)(rows)["alarm"].null_count == 0
    assert Scoring(folder, gate="score")(rows)["alarm"].null_count == len(rows)
    kept = Recourse(folder, k=2, constraints={"immutable": ["Good"]}, all=True)(rows)
    assert max(kept["rank"].to_pylist()) <= 2
    assert not any("Good" in changed for changed in kept["changed"].to_pylist())
    priced = Recourse(folder, k=1, constraints={"cost": {"change": 1}})
    assert priced.schema(rows.schema).names[-1] == "cost" == priced(rows).column_names[-1]


def test_nothing_is_logged_and_the_model_is_loaded_once(
    folder: Path, rows: pa.Table, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[Any] = []
    monkeypatch.setattr("carat.batches._models", {})

    def load(path: Any) -> carat.Model:
        loaded.append(path)
        return carat.load(path)

    monkeypatch.setattr("carat.batches.load", load)
    with caplog.at_level(logging.DEBUG, "carat"):
        for function in (Scoring(folder), Recourse(folder), Scoring(folder)):
            list(function.each(rows.to_batches(max_chunksize=100)))
    assert caplog.records == []
    assert loaded == [str(folder)]


def test_bad_input_is_one_clear_line(folder: Path, rows: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(ModelFolderError, match="no such model folder"):
        Scoring(tmp_path / "nothing")
    with pytest.raises(InputError, match="no column 'Port'; the columns are: Good"):
        Scoring(folder)(rows.select(["Good", "Carrier"]))
    with pytest.raises(InputError, match="Table or RecordBatch, got dict"):
        Scoring(folder)({"Port": "Port-1a"})
    with pytest.raises(InputError, match="unknown argument 'gat'"):
        Scoring(folder, gat="score")  # type: ignore[call-arg]
    with pytest.raises(InputError, match="`threads` must be"):
        Explaining(folder, threads=0)


def test_a_folder_that_changes_underneath_is_noticed(
    folder: Path, rows: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = carat.load(folder)
    model.save(tmp_path / "model")
    function = Scoring(tmp_path / "model")
    model.with_threshold(0.2).save(tmp_path / "model", force=True)
    with pytest.raises(InputError, match="another model than when `Scoring` was made"):
        function(rows)
