"""Bars: what they count, and that they end full."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from carat.data import open_source
from carat.data.sources.watched import Watched
from carat.observing import Bars, Logged, Silent, watching
from tests.support.commands import give_stdin


def table(rows: int) -> pa.Table:
    return pa.table({"A": [f"entity {number % 97:04d}" for number in range(rows)], "B": ["b"] * rows})


@pytest.mark.parametrize("rows", [1, 50, 20_000])
def test_how_many_rows_there_are_about(tmp_path: Path, rows: int) -> None:
    pq.write_table(table(rows), tmp_path / "t.parquet")
    pyarrow.csv.write_csv(table(rows), tmp_path / "t.csv")
    lines = [json.dumps(row) for row in table(rows).to_pylist()]
    (tmp_path / "t.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert open_source(table(rows)).about_rows() == rows
    assert open_source(tmp_path / "t.parquet").about_rows() == rows
    for ending in ("csv", "jsonl"):
        assert open_source(tmp_path / f"t.{ending}").about_rows() == pytest.approx(rows, rel=0.02, abs=1)


def test_a_pipe_and_a_packed_file_do_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pa.output_stream(str(tmp_path / "t.csv.gz"), compression="gzip") as file:
        pyarrow.csv.write_csv(table(5), file)
    assert open_source(tmp_path / "t.csv.gz").about_rows() is None
    give_stdin(monkeypatch, [{"A": "a"}])
    assert open_source("-", once=True).about_rows() is None


def test_every_pass_is_a_stage(tmp_path: Path) -> None:
    """The last name serves every pass that follows, and a wrong estimate still ends at 100 %."""
    pyarrow.csv.write_csv(table(1_000), tmp_path / "t.csv")
    progress = Bars()
    source = Watched(open_source(tmp_path / "t.csv"), progress, "first", "second")
    for _ in range(3):
        assert sum(batch.num_rows for batch in source.batches(["A"])) == 1_000
    assert [task.description for task in progress.bars.tasks] == ["first", "second", "second"]
    assert all(task.finished and task.percentage == 100 for task in progress.bars.tasks)
    assert [task.completed for task in progress.bars.tasks] == [1_000] * 3


def test_long_work_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    clock = iter(range(0, 1000, 20))
    stage = Logged(lambda: next(clock)).stage("work", 5)
    for _ in range(5):
        stage.advance()
    assert caplog.messages == ["this takes longer than 30 seconds; progress=True shows how far it is"]
    with watching(True) as bars:
        bars.stage("work", 5).advance()
    assert len(caplog.messages) == 1


def test_a_stage_that_grows() -> None:
    progress = Bars()
    stage = progress.stage("recourse", 0)
    stage.more(10)
    stage.advance(5)
    stage.more(10)
    (task,) = progress.bars.tasks
    assert (task.completed, task.total) == (5, 20)
    stage.finish()
    assert task.finished


def test_without_steps_it_still_ends_full() -> None:
    progress = Bars()
    progress.stage("nothing to read", None).finish()
    assert progress.bars.tasks[0].percentage == 100


def test_names_are_shown_as_they_are() -> None:
    progress = Bars()
    progress.stage("[bold]file.csv", 1).advance(note="[red]loss")
    console = Console(file=io.StringIO(), width=120)
    console.print(progress.bars.get_renderable())
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "[bold]file.csv" in shown
    assert "[red]loss" in shown


def test_silence_has_the_same_manners() -> None:
    stage = Silent().stage("anything", None)
    stage.more(1)
    stage.advance(1, note="x")
    stage.finish()
