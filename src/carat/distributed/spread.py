"""A job spread over workers: the same rows, page and summary as of one process, put together from parts."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import torch

from carat.data.sources import Stretch, plan_stretches
from carat.detectors import OutsideDetector
from carat.distributed.cluster import check_reachable, connected
from carat.distributed.packing import pack, unpack
from carat.distributed.pool import Pool
from carat.distributed.worker import Choose, Held, Run, Task
from carat.errors import InputError
from carat.jobs.job import Job, Part, Summary
from carat.jobs.recourse_job import BATCH, Chosen, RecourseJob
from carat.jobs.sinks import Sidecar, TableSink


def spread(
    job: Job[Any], path: str | Path, *sinks: Any, ray: str | None = None, workers: int | None = None, rows: int = 0
) -> Summary:
    """Run a job on the workers of a cluster instead of here.

    Args:
        job: of the whole table; it has not run.
        path: of the table, a Parquet file.
        sinks: where its batches would go. Each must be able to take parts: a `TableSink` of a Parquet file, a
            `Sidecar`, `Strangest`, or a page.
        ray: address of the cluster; None starts a local one.
        workers: how many; None is as many as the cluster has processors.
        rows: of the smallest stretch, if its row groups are small; 0 is the usual number.
    """
    taking = [sink for sink in sinks if not isinstance(sink, Sidecar)]
    planned = plan_stretches(check_table(path), *([rows] if rows else []))
    with connected(ray) as there, parts_beside(place_of(sinks), job) as held:
        gpu = job.model.device.type == "cuda"
        with Pool(there, held.take, workers=workers, gpu=gpu, check=job.cancel.check) as pool, ExitStack() as stack:
            for sink in sinks:
                stack.enter_context(sink)
            job.gather(_parts(_Spread(job, str(Path(path).absolute()), taking, pool, held, planned)))
            for sink in sinks:
                sink.finish(job)
    return job.summary


def check(path: Any, out: Any, ray: str | None) -> None:
    """Refuse, before any work, what `spread` would refuse."""
    check_table(path)
    check_out(out)
    check_reachable(ray)


def check_table(path: Any) -> Path:
    """Refuse what can't be read in stretches."""
    if isinstance(path, str | Path) and Path(path).suffix.lower() == ".parquet":
        return Path(path)
    shown = path if isinstance(path, str | Path) else f"a {type(path).__name__}"
    raise InputError(f"{shown}: many machines read one Parquet file together; convert the table, or leave out `ray`")


def check_out(out: Any) -> Path:
    """Refuse an output that can't be put together from parts."""
    if isinstance(out, str | Path) and Path(out).suffix.lower() == ".parquet":
        return Path(out)
    given = "" if out is None else f", got {out}"
    raise InputError(f"many machines write one Parquet file together; give `out` a name that ends in .parquet{given}")


def place_of(sinks: Sequence[Any]) -> Path:
    """The output; its folder is the one that all machines share."""
    tables = [sink.writer.path for sink in sinks if isinstance(sink, TableSink)]
    found = [path for path in tables if path is not None and path.suffix.lower() == ".parquet"]
    return check_out(found[-1] if found else None)


@contextmanager
def parts_beside(out: Path, job: Job[Any]) -> Iterator[Held]:
    """A folder for the parts and for the model that all workers read; it goes with the job."""
    if isinstance(job.model.detector, OutsideDetector):
        raise InputError("a detector from outside is not stored, so workers can't load it; leave out `ray`")
    folder = out.absolute().with_name(f".{out.name}.{os.getpid()}.parts")
    shutil.rmtree(folder, ignore_errors=True)  # of a process that was killed and had the same number
    folder.mkdir()
    try:
        job.model.save(folder / "model")
        yield Held(folder, job.model.identity, job.model.device.type)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class _Spread:
    """A job, and what its parts need to know."""

    def __init__(
        self, job: Job[Any], path: str, sinks: Sequence[Any], pool: Pool, held: Held, planned: Sequence[Stretch]
    ) -> None:
        self.job, self.path, self.sinks, self.pool, self.held, self.planned = job, path, sinks, pool, held, planned
        self.make = job.recipe()
        self.listened = bool(job.scored)

    def runs(self, of: Sequence[tuple[Stretch | None, bytes | None]]) -> list[Task]:
        """One run per part."""
        makers = [sink.part() for sink in self.sinks]
        return [
            Run(number, self.held.folder, self.make, makers, self.path, stretch, chosen, self.listened)
            for number, (stretch, chosen) in enumerate(of)
        ]

    def merged(self, tasks: Sequence[Task], lengths: Sequence[int], title: str) -> Iterator[Part]:
        """The parts of the job, in order; what the sinks got of each is merged, and its files go."""
        stage = self.job.observer.stage(title, sum(lengths))
        for number, packed in enumerate(self.pool.run(tasks)):
            part, outcomes = unpack(packed, self.job.model)
            folder = self.held.folder / str(number)
            for sink, outcome in zip(self.sinks, outcomes, strict=True):
                sink.merge(outcome, folder)
            shutil.rmtree(folder, ignore_errors=True)
            yield part
            stage.advance(lengths[number])
        stage.finish()


def _parts(of: _Spread) -> Iterator[Part]:
    job = of.job
    if isinstance(job, RecourseJob) and job.top is not None:
        yield from _strangest_first(of, job)
        return
    title = {"score": "scoring", "explain": "explaining"}.get(job.name, "scoring and finding fixes")
    yield from of.merged(of.runs([(stretch, None) for stretch in of.planned]), list(map(len, of.planned)), title)


def _strangest_first(of: _Spread, job: RecourseJob) -> Iterator[Part]:
    """First each stretch names its strangest records; then those of all are searched for, in the usual batches."""
    assert job.top is not None
    kept: Chosen | None = None
    stage = job.observer.stage("scoring", sum(map(len, of.planned)))
    choices = [Choose(of.make, of.path, stretch, of.listened) for stretch in of.planned]
    for stretch, packed in zip(of.planned, of.pool.run(choices), strict=True):
        part, chosen = unpack(packed, job.model)
        if chosen is not None:
            kept = (chosen if kept is None else Chosen.join([kept, chosen])).strangest(job.top)
        yield part
        stage.advance(len(stretch))
    stage.finish()
    if kept is not None:
        batches = [kept.take(index) for index in torch.arange(len(kept.table)).split(BATCH)]
        lengths = [len(batch.table) for batch in batches]
        yield from of.merged(of.runs([(None, pack(batch)) for batch in batches]), lengths, "finding fixes")
