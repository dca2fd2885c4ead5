"""Jobs: one pass, one runner, nothing half-written, and the same answers through every door."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from torch import Tensor

import carat
from carat import jobs
from carat.data import Table, Vocabulary, open_source
from carat.errors import Cancelled, InputError
from carat.jobs.sinks import JsonSink, PlainSink
from carat.observing import Remark, Silent
from carat.recourse import Constraints, Settings
from carat.recourse.constraints import ResolvedConstraints
from carat.report import PageSink
from carat.results import ExplainBatch, ResultBatch, ScoreBatch
from tests.support.fitted import frame, instant_of, twice_corrupted
from tests.support.planted import corrupted, planted_table

RECORDS = frame([*corrupted()[0], *twice_corrupted()])


class Watching(Silent):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.stages: dict[str, list[int]] = {}
        self.remarks: list[Remark] = []
        self._last = ""

    def stage(self, name: str, total: int | None) -> Watching:
        self._last = name
        self.stages[name] = []
        return self

    def advance(self, steps: int = 1, note: str = "") -> None:
        self.stages[self._last].append(steps)

    def remark(self, remark: Remark) -> None:
        self.remarks.append(remark)


@pytest.fixture
def model() -> carat.Model:
    return instant_of("counts")


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.jobs.job.PIECE", 5)
    monkeypatch.setattr("carat.jobs.recourse_job.BATCH", 5)


@pytest.mark.usefixtures("small_pieces")
def test_batches_make_up_what_the_model_gives(model: carat.Model) -> None:
    scored, explained = jobs.score(model, RECORDS), jobs.explain(model, RECORDS)
    assert pa.concat_tables([batch.rows() for batch in scored]).equals(model.score(RECORDS))
    assert pa.concat_tables([batch.rows() for batch in explained]).equals(model.explain(RECORDS))
    found = jobs.recourse(model, RECORDS, Settings(k=3), all=True)
    batches = list(found)
    assert [len(batch) for batch in batches] == [5] * 7 + [1]
    assert pa.concat_tables([batch.rows() for batch in batches]).equals(
        model.recourse(RECORDS, k=3, all=True).to_arrow()
    )
    assert scored.summary.records == explained.summary.records == found.summary.records == 36
    assert found.summary.counterfactuals == sum(int(batch.outcome.mask.sum()) for batch in batches)
    assert explained.summary.with_flagged == 36


def test_into_every_sink(model: carat.Model, tmp_path: Path) -> None:
    lines: list[str] = []
    job = jobs.recourse(model, RECORDS, Settings(k=2), top=7)
    strangest = jobs.Strangest(model, 3)
    table: jobs.TableSink[ResultBatch] = jobs.TableSink(tmp_path / "out.parquet", ResultBatch.rows)
    summary = job.into(
        jobs.Sidecar(tmp_path / "out.parquet", {"k": 2}), table, strangest, JsonSink(model, lines.append)
    )
    result = model.recourse(RECORDS, k=2, top=7)
    assert pa.parquet.read_table(tmp_path / "out.parquet").equals(result.to_arrow())
    assert [json.loads(line) for line in lines] == result.to_json()
    assert [one.record for one in strangest.explained] == [row["record"] for row in result.records[:3]]
    about = json.loads((tmp_path / "out.parquet.about.json").read_text(encoding="utf-8"))
    assert about["origin"]["model"] == model.identity
    assert about["origin"]["records"] == summary.read == 36
    assert about["options"] == {"k": 2}
    assert about["summary"]["records"] == 7


ROWS: dict[str, Any] = {"score": ScoreBatch.rows, "explain": ExplainBatch.rows, "recourse": ResultBatch.rows}


@pytest.mark.parametrize("kind", list(ROWS))
def test_no_records_give_the_columns(kind: str, model: carat.Model, tmp_path: Path) -> None:
    getattr(jobs, kind)(model, RECORDS.slice(0, 0)).into(jobs.TableSink(tmp_path / "o.parquet", ROWS[kind]))
    table = pa.parquet.read_table(tmp_path / "o.parquet")
    assert table.num_rows == 0
    assert table.column_names[0] == "record"


def test_an_empty_list_of_rows_gives_an_empty_result(model: carat.Model) -> None:
    none = RECORDS.slice(0, 0)
    assert model.score([]).equals(model.score(none))
    assert model.explain([]).equals(model.explain(none))
    assert model.recourse([]).to_frame().equals(model.recourse(none).to_frame())


class Stopping(PlainSink[Any]):
    """Does something after so many batches."""

    def __init__(self, after: int, act: Any) -> None:
        self.left, self.act = after, act

    def take(self, batch: Any) -> None:
        self.left -= 1
        if not self.left:
            self.act()


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("kind", list(ROWS))
def test_cancelled_between_batches_and_nothing_is_written(kind: str, model: carat.Model, tmp_path: Path) -> None:
    cancel = jobs.Cancel()
    make = getattr(jobs, kind)
    options = {"all": True} if kind == "recourse" else {}
    job = make(model, RECORDS, cancel=cancel, **options)
    seen: list[int] = []
    stopping = Stopping(2, cancel.set)
    counting = Stopping(-1, None)
    counting.take = lambda batch: seen.append(len(batch))  # type: ignore[method-assign]
    rows = ROWS[kind]
    with pytest.raises(Cancelled, match="cancelled"):
        job.into(jobs.Sidecar(tmp_path / "o.csv"), jobs.TableSink(tmp_path / "o.csv", rows), stopping, counting)
    assert seen == [5, 5]
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("small_pieces")
def test_a_sink_that_fails_leaves_no_half_of_the_others(model: carat.Model, tmp_path: Path) -> None:
    def fail() -> None:
        raise RuntimeError("disk full")

    (tmp_path / "o.csv").write_text("before")
    table: jobs.TableSink[ScoreBatch] = jobs.TableSink(tmp_path / "o.csv", ScoreBatch.rows, force=True)
    with pytest.raises(RuntimeError, match="disk full"):
        jobs.score(model, RECORDS).into(table, Stopping(3, fail))
    assert [path.name for path in tmp_path.iterdir()] == ["o.csv"]
    assert (tmp_path / "o.csv").read_text() == "before"


def test_records_as_ids(model: carat.Model) -> None:
    """Whoever has ids already, such as a benchmark, goes through the same job; records keep their names."""
    table = Table.read(open_source(RECORDS), model.schema, model.vocabulary)
    few = table.take(torch.tensor([7, 3]))
    whole = model.recourse(RECORDS, k=3, all=True).to_arrow().to_pylist()
    rows = pa.concat_tables([batch.rows() for batch in jobs.recourse(model, few, Settings(k=3), all=True)]).to_pylist()
    assert rows == [row for wanted in (7, 3) for row in whole if row["record"] == wanted]


@pytest.mark.usefixtures("small_pieces")
def test_every_batch_is_decoded_once(model: carat.Model, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whoever looks at it: the table, the terminal, the page."""
    decoded: list[int] = []
    decode = Table.decode

    def counting(table: Table) -> pa.Table:
        decoded.append(len(table))
        return decode(table)

    monkeypatch.setattr(Table, "decode", counting)
    job = jobs.recourse(model, RECORDS, Settings(k=3), all=True)
    table: jobs.TableSink[ResultBatch] = jobs.TableSink(tmp_path / "o.csv", ResultBatch.rows)
    job.into(table, jobs.Strangest(model, 3), PageSink(job, tmp_path / "p.html"))
    assert decoded == [5] * 7 + [1]


def test_every_record_is_scored_once() -> None:
    """The method is handed the scores that chose the records."""
    model = instant_of("counts")
    calls: list[Tensor | None] = []
    method = model.method()

    class Spy:
        name = "spy"

        def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Any:
            calls.append(score)
            return method.find(ids, settings, score)

    batches = list(jobs.recourse(model, RECORDS, Settings(k=2), method=Spy(), all=True))
    assert len(calls) == 1
    assert calls[0] is not None
    assert torch.equal(calls[0], batches[0].score)


@pytest.mark.usefixtures("small_pieces")
def test_constraints_are_resolved_once_per_job(model: carat.Model, monkeypatch: pytest.MonkeyPatch) -> None:
    resolved: list[Constraints] = []
    resolve = Constraints.resolve

    def counting(given: Constraints, words: Vocabulary) -> ResolvedConstraints:
        resolved.append(given)
        return resolve(given, words)

    monkeypatch.setattr(Constraints, "resolve", counting)
    settings = Settings(k=2, constraints=Constraints(immutable=["Port"]))
    rows = pa.concat_tables([batch.rows() for batch in jobs.recourse(model, RECORDS, settings, all=True)])
    assert "Port" not in {name for changed in rows["changed"].to_pylist() for name in changed}
    assert len(resolved) == 1


def test_observers_hear_of_progress_and_remarks(model: carat.Model) -> None:
    watching = Watching()
    strange = RECORDS.slice(0, 2).to_pylist()
    strange[0]["Port"] = "Atlantis"
    jobs.score(model, frame(strange), observer=watching).into()
    assert sum(watching.stages["scoring"]) == 2
    assert [(remark.code, remark.text) for remark in watching.remarks] == [
        ("unseen", "never seen in training: Port Atlantis (1×)")
    ]
    watching = Watching()
    settings = Settings(constraints=Constraints(forbidden={"Port": ["Atlantis"]}))
    job = jobs.recourse(model, planted_table(), settings, observer=watching)
    job.into()
    assert [remark.code for remark in watching.remarks] == ["constraints-without-effect", "learned-from"]
    assert job.summary.remarks == watching.remarks


def test_python_users_hear_the_same(model: carat.Model, caplog: pytest.LogCaptureFixture) -> None:
    """What the command line says of records that were learned from, and of constraints without effect."""
    with caplog.at_level(logging.WARNING, logger="carat"):
        result = model.recourse(planted_table(), constraints={"forbidden": {"Port": ["Atlantis"]}})
    said = [record.getMessage() for record in caplog.records]
    assert said == [remark.text for remark in result.remarks]
    assert "has no effect: Port Atlantis" in said[0]
    assert "the model learned from 1,080 of these rows" in said[1]
    caplog.clear()
    model.score(planted_table().slice(1))
    assert not caplog.records, "where every record repeats, a part of the table is like any other rows"


def test_a_result_knows_where_it_comes_from(model: carat.Model, tmp_path: Path) -> None:
    result = model.recourse(RECORDS, top=2)
    assert result.origin is not None
    assert result.origin.model == model.identity
    assert result.origin.records == 36
    assert result.scored is not None
    assert len(result.scored) == 36, "also those that are not in the result"
    pa.csv.write_csv(RECORDS, tmp_path / "a.csv")
    again = model.recourse(str(tmp_path / "a.csv"), top=2).origin
    assert again is not None
    assert again.fingerprint == result.origin.fingerprint
    assert again.data == str(tmp_path / "a.csv")


def test_a_job_runs_once(model: carat.Model) -> None:
    job = jobs.score(model, RECORDS)
    list(job)
    with pytest.raises(InputError, match="a job runs once"):
        list(job)
    assert job.summary.records == 36


def test_top_and_all_exclude_each_other(model: carat.Model) -> None:
    with pytest.raises(InputError, match="`top` or `all`"):
        jobs.recourse(model, RECORDS, top=1, all=True)


def different_records(rows: int, seed: int) -> pa.Table:
    """Records that hardly ever repeat."""
    draw = np.random.default_rng(seed)
    return pa.table({name: [f"{name}-{each}" for each in draw.integers(0, 60, rows)] for name in "ABCD"})


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (lambda table, order: table, "learned from 1,800 of these rows"),
        (lambda table, order: table.take(order), "learned from 1,800 of these rows"),
        (lambda table, order: table.take(order[:700]), "learned from most of these rows"),
        (lambda table, order: pa.concat_tables([table, different_records(300, 1)]), "learned from most of these rows"),
        (lambda table, order: different_records(2_000, 1), None),
        (lambda table, order: pa.concat_tables([table, different_records(2_000, 1)]), None),
    ],
)
def test_training_records_are_recognised_in_any_order(asked: Any, said: str | None) -> None:
    table = different_records(2_000, 0)
    model = carat.fit(table, profile="instant", explainer=False)
    job = jobs.score(model, asked(table, np.random.default_rng(0).permutation(2_000)))
    job.into()
    remarks = [remark.text for remark in job.summary.remarks if remark.code == "learned-from"]
    assert len(remarks) == (said is not None)
    assert said is None or said in remarks[0]


def test_a_model_without_a_sketch_knows_its_very_table_alone(caplog: pytest.LogCaptureFixture) -> None:
    """As folders that were written before there were sketches."""
    table = different_records(2_000, 0)
    fitted = carat.fit(table, profile="instant", explainer=False)
    old = replace(fitted, training={name: fact for name, fact in fitted.training.items() if name != "sketch"})
    old.score(table.slice(1))
    assert not caplog.records
    old.score(table)
    assert "the model learned from 1,800 of these rows" in caplog.text
