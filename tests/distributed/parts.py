"""Tables in row groups, a pool without processes, and a sink that kills its worker."""

from __future__ import annotations

import json
import os
import re
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import carat
from carat import jobs
from carat.data.sources import plan_stretches
from carat.distributed.spread import _parts, _Spread, parts_beside, spread
from carat.distributed.worker import Task
from carat.jobs import Job, Sidecar, Strangest, TableSink
from carat.jobs.sinks import PlainSink
from carat.recourse import Settings
from carat.report import PageSink
from carat.results.batches import ExplainBatch, ResultBatch, ScoreBatch
from tests.support.planted import mixed_rows, planted_table

GROUP = 40
"""Rows of a row group, and of a stretch."""
KINDS = ("score", "explain", "recourse", "top", "all")


def table(rows: int = 200) -> pa.Table:
    """Normal records, and some that are not: corrupted, with a blank, with an entity that training never met."""
    normal = planted_table(seed=3).slice(0, rows - 20)
    odd = pa.Table.from_pylist(mixed_rows() * 5, schema=normal.schema)
    half = rows // 2
    return pa.concat_tables([normal.slice(0, half), odd, normal.slice(half)])


def written(folder: Path, cuts: Sequence[int] = ()) -> Path:
    """The table as a Parquet file, with row groups that end at these rows, else all of one size."""
    rows, path = table(), folder / "rows.parquet"
    if not cuts:
        pq.write_table(rows, path, row_group_size=GROUP)
        return path
    with pq.ParquetWriter(path, rows.schema) as file:
        for begin, end in zip([0, *cuts], [*cuts, rows.num_rows], strict=True):
            file.write_table(rows.slice(begin, end - begin))
    return path


def job_of(kind: str, model: carat.Model, path: Path) -> Job[Any]:
    """A job of some kind over the whole file."""
    if kind == "score":
        return jobs.score(model, str(path))
    if kind == "explain":
        return jobs.explain(model, str(path))
    return jobs.recourse(model, str(path), Settings(k=2), top=30 if kind == "top" else None, all=kind == "all")


def sinks_of(job: Job[Any], folder: Path) -> list[Any]:
    """Every sink that a command would pour it into."""
    make: dict[str, Any] = {"score": ScoreBatch.rows, "explain": ExplainBatch.rows, "recourse": ResultBatch.rows}
    out = folder / "out.parquet"
    sinks: list[Any] = [Sidecar(out), TableSink(out, make[job.name]), Strangest(job.model, 4)]
    if isinstance(job, jobs.RecourseJob):
        beside: TableSink[ResultBatch] = TableSink(folder / "out.records.jsonl", ResultBatch.records)
        sinks += [beside, PageSink(job, folder / "page.html")]
    return sinks


def outcome(kind: str, model: carat.Model, path: Path, folder: Path, how: Callable[..., Any] | None) -> dict[str, Any]:
    """All that comes of a job, in one process (None) or by something that runs it over parts."""
    folder.mkdir()
    job = job_of(kind, model, path)
    sinks = sinks_of(job, folder)
    if how is None:
        job.into(*sinks)
    else:
        how(job, path, *sinks)
    about = json.loads((folder / "out.parquet.about.json").read_text())
    about["origin"].pop("made")
    about["summary"].pop("seconds", None)
    shown = next(sink.explained for sink in sinks if isinstance(sink, Strangest))
    files = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.endswith("about.json")}
    if "page.html" in files:  # its footer says when it was made, to the minute
        files["page.html"] = re.sub(rb"made \d{4}-\d\d-\d\d \d\d:\d\d UTC", b"", files["page.html"])
    return {**files, "about": about, "strangest": [one.to_json() for one in shown]}


class Inline:
    """A pool of one worker, which is this process."""

    def __init__(self, model: carat.Model) -> None:
        self.model = model

    def run(self, tasks: Sequence[Task]) -> Iterator[Any]:
        """What the tasks give."""
        return (task.run(self.model) for task in tasks)


def inline(job: Job[Any], path: Path, *sinks: Any) -> None:
    """As `spread`, but here."""
    planned = plan_stretches(path, 1)
    taking = [sink for sink in sinks if not isinstance(sink, Sidecar)]
    with parts_beside(sinks[1].writer.path, job) as held, ExitStack() as stack:
        for sink in sinks:
            stack.enter_context(sink)
        job.gather(_parts(_Spread(job, str(path), taking, Inline(job.model), held, planned)))  # type: ignore[arg-type]
        for sink in sinks:
            sink.finish(job)


def on_workers(job: Job[Any], path: Path, *sinks: Any) -> None:
    """On two workers of the cluster that is there."""
    spread(job, path, *sinks, workers=2, rows=1)


class Deadly(PlainSink[Any]):
    """Kills each worker that gets as far as row 40 or beyond, while there are candles to blow out.

    Args:
        candles: a folder with a file for each worker that shall die.
    """

    def __init__(self, candles: Path) -> None:
        self.candles = candles

    def part(self) -> Any:
        """The one that kills."""
        return partial(_DeadlyPart, self.candles)

    def merge(self, outcome: None, folder: Path) -> None:
        """Nothing comes of it."""


class _DeadlyPart(PlainSink[Any]):
    outcome = None

    def __init__(self, candles: Path, model: carat.Model, place: Path) -> None:
        self.candles = candles

    def take(self, batch: Any) -> None:
        """The rows are written by now, but the part is not complete."""
        candle = next(self.candles.iterdir(), None)
        if batch.table.start >= GROUP and candle is not None:
            candle.unlink()
            os.kill(os.getpid(), signal.SIGKILL)
