"""What a worker does: holds a model, runs jobs over parts of the data, and puts away what they write, whole."""

from __future__ import annotations

import os
import shutil
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from carat.data.sources import Stretch, StretchSource
from carat.devices import pick_device
from carat.distributed.packing import pack, unpack
from carat.errors import InputError
from carat.fitting import load
from carat.fitting.model import Model
from carat.jobs.job import Job, Part
from carat.jobs.recourse_job import Chosen, RecourseJob

Maker = Callable[[Model, Any], Job[Any]]


class Task(Protocol):
    """A piece of work that gives the same outcome on every worker, however often it is done."""

    def run(self, held: Any) -> Any:
        """Do it with what the worker holds."""
        ...

    def __str__(self) -> str:
        """For messages: which rows it is about."""
        ...


@dataclass(frozen=True)
class Held:
    """What every worker of a job over a model holds: read once, from the folder of the model.

    Args:
        folder: of the model, and of the parts.
        identity: of the model.
        device: where it computes.
    """

    folder: Path
    identity: str
    device: str

    def take(self) -> Model:
        """Read the model."""
        place = self.folder / "model"
        if not place.is_dir():
            raise InputError(f"{place}: not found on a worker; the output must be in a folder that all machines share")
        model = load(place).to(pick_device(self.device))
        if model.identity != self.identity:
            raise InputError("a worker has read another model than the one it was sent; is its carat the same version?")
        return model


@dataclass(frozen=True)
class Run:
    """A job over a part of the data.

    Args:
        number: of the part; what it writes is called so.
        folder: where parts are put.
        make: makes the job.
        sinks: make what takes its batches.
        path: of the table.
        stretch: rows of the table; None where the records were chosen before.
        chosen: those, packed.
        scores: whether somebody listens to the scores.
    """

    number: int
    folder: Path
    make: Maker
    sinks: Sequence[Callable[[Model, Path], Any]]
    path: str
    stretch: Stretch | None
    chosen: bytes | None = None
    scores: bool = False

    def run(self, held: Model) -> bytes:
        """The `Part` of the job, and the outcome of every sink, packed."""
        place = self.folder / f".{self.number}.{uuid.uuid4().hex}"
        place.mkdir()
        sinks = [make(held, place / str(number)) for number, make in enumerate(self.sinks)]
        scores: list[Tensor] = []
        job = self._job(held)
        if self.scores:
            job.scored.append(scores.append)
        part: Part = job.run_part(*sinks)
        part.scores = scores
        outcomes = [sink.outcome for sink in sinks]
        commit(place, self.folder / str(self.number))
        return pack((part, outcomes))

    def _job(self, held: Model) -> Job[Any]:
        if self.stretch is not None:
            return self.make(held, StretchSource(self.path, self.stretch))
        assert self.chosen is not None
        chosen: Chosen = unpack(self.chosen, held)
        job = self.make(held, held.empty())
        assert isinstance(job, RecourseJob)
        job.given = chosen
        return job

    def __str__(self) -> str:
        if self.stretch is None:
            return f"part {self.number + 1:,} of the rows"
        return f"rows {self.stretch.start:,} to {self.stretch.stop - 1:,}"


@dataclass(frozen=True)
class Choose:
    """The strangest records of a stretch of a table.

    Args:
        make: makes the job.
        path: of the table.
        stretch: which rows.
        scores: whether somebody listens to the scores.
    """

    make: Maker
    path: str
    stretch: Stretch
    scores: bool = False

    def run(self, held: Model) -> bytes:
        """The `Part` of the job, and the records or None, packed."""
        job = self.make(held, StretchSource(self.path, self.stretch))
        assert isinstance(job, RecourseJob)
        scores: list[Tensor] = []
        if self.scores:
            job.scored.append(scores.append)
        chosen = job.choose()
        return pack((Part(job.tally, job.summary, scores), chosen))

    def __str__(self) -> str:
        return f"rows {self.stretch.start:,} to {self.stretch.stop - 1:,}"


def commit(made: Path, place: Path) -> None:
    """Put a folder in its place, unless a worker that was taken for dead has done so before: then that one counts."""
    try:
        os.rename(made, place)
    except OSError:
        if not place.is_dir():
            raise
        with suppress(OSError):
            shutil.rmtree(made)
