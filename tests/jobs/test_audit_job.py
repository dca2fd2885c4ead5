"""The job of an audit: remarks, a summary, sinks that hold all or nothing, cancellation, checkpoints."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import carat
from carat import jobs
from carat.auditing.findings import Findings
from carat.auditing.options import AuditOptions
from carat.auditing.result import AuditResult
from carat.errors import Cancelled, InputError
from carat.observing import Remark, Stage
from tests.jobs.test_jobs import Watching
from tests.support.audits import STEPS, cities, fake_audit


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)


def said(data: Any, options: AuditOptions | None = None) -> dict[str, str]:
    job = jobs.audit(data, options)
    list(job)
    return {remark.code: remark.text for remark in job.summary.remarks}


def test_one_result_and_its_summary() -> None:
    watching = Watching()
    job = jobs.audit(cities(), AuditOptions(top=2, seed=3), observer=watching)
    (result,) = job
    done = job.summary
    assert (done.read, done.records, done.cells, done.kinds, done.rate) == (40, 2, 3, {"typo": 1, "misplaced": 2}, 0.02)
    assert done.origin is not None
    assert done.origin.options == {**AuditOptions().facts(), "top": 2, "seed": 3}
    assert (done.origin.data, done.origin.rows) == ("the table", 40)
    assert result.remarks == tuple(done.remarks) == tuple(watching.remarks)
    assert list(watching.stages) == ["reading the table", "auditing"]
    json.dumps(done.facts(), allow_nan=False)
    with pytest.raises(InputError, match="a job runs once"):
        list(job)


def test_it_says_what_it_took_and_left_out() -> None:
    unusual = [f"u{n}" if n % 3 else "often" for n in range(40)]
    table = cities().append_column("Note", pa.array(unusual)).append_column("tags", pa.array([["a"]] * 40))
    told = said(table)
    assert told.pop("few-rows").startswith("40 rows are too few")
    assert told == {
        "audited": "columns: City, Land",
        "text-alone": "only the text is checked in: Note (most values occur only once)",
        "left-out": "left out: number (a different value in every row), Kind (only one value), tags (lists or structs)",
    }


def test_left_out_columns_can_be_taken_or_name_the_rows() -> None:
    def remedies(options: AuditOptions) -> tuple[str, ...]:
        job = jobs.audit(cities(), options)
        list(job)
        return next(remark.remedies for remark in job.summary.remarks if remark.code == "left-out")

    assert remedies(AuditOptions()) == ("also", "id")
    assert remedies(AuditOptions(id="number")) == ("also",)
    assert remedies(AuditOptions(without=["Kind", "number"])) == (), "who left them out knows how to take them in"


def test_a_column_that_nothing_predicts_is_pointed_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    def foretold(share: float, kind: str) -> Any:
        def made(*given: Any) -> Findings:
            found = fake_audit(*given).top(1)
            columns = tuple(replace(each, foretold=share if each.name == "City" else 0.9) for each in found.columns)
            return replace(found, columns=columns, kind=[kind])

        return made

    # Half of the cells say Leith or Callao: whoever guesses is right every other time.
    for share, kind, told in ((0.5, "typo", True), (0.8, "typo", False), (0.5, "mismatch", False)):
        monkeypatch.setattr("carat.auditing.audit.audit_table", foretold(share, kind))
        assert ("nothing predicts City:" in said(cities()).get("unforetold", "")) is told


def test_few_rows_and_nothing_to_vote_on() -> None:
    few = said({"a": ["x", "y", "z", "z"], "b": ["u", "v", "w", "w"]})
    assert few["few-rows"].startswith("4 rows are too few")
    rare = {name: [f"{name}{n}" if n % 3 else "often" for n in range(40)] for name in ("a", "b")}
    assert "can't vote on any" in said(rare)["nothing-voted"]
    assert "few-rows" not in said({"a": ["x", "y"] * 100, "b": ["u", "v"] * 100})


def test_a_table_in_which_nothing_can_be_checked_is_no_clean_table() -> None:
    with pytest.raises(InputError, match="one row; an audit needs at least two"):
        said({"a": "x", "b": "y"})
    with pytest.raises(InputError, match=r"b \(left out by name\); leave fewer columns out with `without`"):
        said({"a": ["x", "y"], "b": ["x", "y"]}, AuditOptions(without=["a", "b"]))
    told = r"nothing to check: a \(a different value in every row\), b \(only one value\); name a column with `also`"
    with pytest.raises(InputError, match=told):
        said({"a": ["x", "y"], "b": ["z", "z"]})
    assert "text-alone" in said({"a": ["x", "y"], "b": ["z", "z"]}, AuditOptions(also=("a",)))


def test_it_says_what_the_decisions_of_another_table_teach() -> None:
    def remark(record: int, value: str, decision: str) -> str:
        cell = {"record": record, "column": "City", "value": value, "decision": decision}
        job = jobs.audit(cities(), decisions=pa.Table.from_pylist([cell]))
        list(job)
        (text,) = [each.text for each in job.summary.remarks if each.code == "decisions"]
        return text

    here = cities()["City"].to_pylist()[0]
    assert remark(0, here, "reject") == "learned from 1 decided cell"
    for decision in ("reject", "=Leith", "wrong"):
        assert remark(4_000, "Elsewhere", decision).startswith(
            "no decided cell is in the table with the value that it had: what carries"
        )
    assert remark(0, here, "").startswith("the list holds no decisions")


def test_hundreds_of_columns_are_not_all_listed() -> None:
    text = said({f"c{n}": ["x", "y"] * 20 for n in range(500)})["audited"]
    assert text.startswith("columns: c0, c1,")
    assert text.endswith("c11 and 488 more")


def test_an_index_that_names_no_row_is_said() -> None:
    frame = cities().to_pandas().set_index(pd.Index([1] * 40))
    assert "the index of the frame repeats labels" in said(frame)["index"]
    assert "index" not in said(frame, AuditOptions(id="number"))


@pytest.mark.parametrize("labels", [[f"r{row}" for row in range(40)], range(40)], ids=["text", "numbers"])
def test_an_index_that_lacks_a_label_gives_way_to_positions(labels: Any) -> None:
    """And a cell of the row without a label can be fixed."""
    frame = cities().to_pandas().set_axis([None if row == 3 else label for row, label in enumerate(labels)], axis=0)
    result = carat.audit(frame)
    assert [remark.text for remark in result.remarks if remark.code == "index"] == [
        "the index of the frame has no label for some rows, so `record` is the position of a row, counted from 0: call "
        "reset_index() first, or name a column that identifies the rows with `id`"
    ]
    assert [cell.record for cell in result] == [3, 7, 7, 5]
    assert result.fixed(certain=0.5)["City"].iloc[3] == "Leith"


def test_remarks_go_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "carat"):
        carat.audit(cities())
    assert "columns: City, Land" in caplog.messages
    assert any('use one anyway with also=["NAME"]' in message for message in caplog.messages)


def test_sinks_get_the_cells_and_the_word_on_them(tmp_path: Path) -> None:
    file = tmp_path / "cells.jsonl"
    job = jobs.audit(cities(), AuditOptions(id="number"))
    summary = job.into(jobs.Sidecar(file, {"cut": 0.5}), jobs.TableSink(file, AuditResult.to_file))
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    assert [row["record"] for row in rows] == ["N-003", "N-007", "N-007", "N-005"]
    about = json.loads((tmp_path / "cells.jsonl.about.json").read_text(encoding="utf-8"))
    assert (about["job"], about["summary"]["cells"], about["options"]) == ("audit", 4, {"cut": 0.5})
    assert about["origin"]["options"]["id"] == "number"
    assert about["remarks"] == [remark.text for remark in summary.remarks]


def test_no_sink_keeps_half(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: Any) -> Findings:
        raise InputError("no")

    monkeypatch.setattr("carat.auditing.audit.audit_table", broken)
    with pytest.raises(InputError):
        jobs.audit(cities()).into(
            jobs.Sidecar(tmp_path / "c.csv"), jobs.TableSink(tmp_path / "c.csv", AuditResult.to_file)
        )
    assert list(tmp_path.iterdir()) == []


def test_an_empty_result_has_the_columns() -> None:
    assert jobs.audit(cities()).empty().to_file().schema.names == carat.audit(cities()).to_file().schema.names


class Stopping(Watching):
    """Cancels in a stage, after so many steps."""

    def __init__(self, cancel: jobs.Cancel, name: str, steps: int) -> None:
        super().__init__()
        self._cancel, self._name, self._steps = cancel, name, steps

    def stage(self, name: str, total: int | None) -> Watching:
        super().stage(name, total)
        if name == self._name and not self._steps:
            self._cancel.set()
        return self

    def advance(self, steps: int = 1, note: str = "") -> None:
        super().advance(steps, note)
        if self._last == self._name and len(self.stages[self._name]) == self._steps:
            self._cancel.set()


@pytest.mark.parametrize(("stage", "steps"), [("reading the table", 0), ("auditing", 0), ("auditing", 2)])
def test_cancelling_stops_between_steps(tmp_path: Path, stage: str, steps: int) -> None:
    cancel = jobs.Cancel()
    watching = Stopping(cancel, stage, steps)
    file = tmp_path / "c.csv"
    with pytest.raises(Cancelled):
        jobs.audit(cities(), observer=watching, cancel=cancel).into(jobs.TableSink(file, AuditResult.to_file))
    assert len(watching.stages[stage]) == steps
    assert list(tmp_path.iterdir()) == []


def test_a_cancelled_audit_does_not_begin() -> None:
    cancel = jobs.Cancel()
    cancel.set()
    with pytest.raises(Cancelled):
        list(jobs.audit("no such file.csv", cancel=cancel))


def test_the_observer_of_the_science_is_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    def remarking(table: Any, options: Any, run: Any, *taught: Any) -> Findings:
        run.observer.remark(Remark("slow", "this takes a while"))
        stage: Stage = run.observer.stage("x", None)
        stage.more(3)
        return fake_audit(table, options, run)

    monkeypatch.setattr("carat.auditing.audit.audit_table", remarking)
    assert said(cities())["slow"] == "this takes a while"


def test_checkpoints_belong_to_one_audit(tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "progress"
    first = carat.audit(cities(), checkpoints=folder)
    assert {path.name for path in folder.iterdir()} == {"audit.json", *(f"stage-{step}.json" for step in range(STEPS))}
    again = carat.audit(cities(), checkpoints=folder, top=1)
    assert again.to_arrow() == first.to_arrow().slice(0, 1), "how many are shown decides nothing"
    for data, options in ((cities(41), {}), (cities(), {"seed": 1}), (cities(), {"without": ["City"]})):
        with pytest.raises(InputError, match="belongs to an audit with other data or settings"):
            carat.audit(data, checkpoints=folder, **options)
    (folder / "audit.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"audit\.json: is damaged; remove .*progress and start over"):
        carat.audit(cities(), checkpoints=folder)
