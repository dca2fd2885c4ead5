"""Update: look at new records, let in those that belong, take others out; the outcome is a new model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from carat.arguments import check_flag
from carat.data import Table, open_source
from carat.errors import InputError
from carat.fitting.model import Model, has_networks, opened
from carat.fitting.update import Change
from carat.fitting.update import update as update_records
from carat.jobs.decided import Decided
from carat.jobs.job import Cancel, Job, Summary, pieces
from carat.observing import Observer, watching
from carat.results.batches import ScoreBatch
from carat.training import Run

NETWORKS = (
    "the networks were not trained again: what they learned from the forgotten rows stays in their weights until the "
    "next fit"
)


@dataclass
class UpdateSummary(Summary):
    """What an update did; see `carat.fitting.update.Change`."""

    added: int = 0
    skipped: int = 0
    forgotten: int = 0
    not_found: int = 0
    new_values: int = 0
    gone_values: int = 0
    calibrated: bool = True
    seconds: float = 0.0


class UpdateJob(Job[ScoreBatch]):
    """Takes records into a model, and others out of it. Its batches are the scored records that may join.

    Args:
        model: stays as it is; `updated` is the new one, there when the job has ended.
        data: records to add, as `Job` takes them; None adds none.
        forget: records to forget; None forgets none.
        all: also add the records that the gate lists.
        decisions: what a person decided about cells of the records: the output of an audit, with its decisions.
        encoding: of CSV files with records; None is UTF-8.
        observer: is told of progress and remarks.
        cancel: stops the job between two batches.
    """

    name = "update"
    summary: UpdateSummary
    updated: Model

    def __init__(
        self,
        model: Model,
        data: Any = None,
        *,
        forget: Any = None,
        all: bool = False,
        decisions: Any = None,
        encoding: str | None = None,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        if data is None and decisions is not None:
            raise InputError("`decisions` are about rows to add; give those rows, too")
        if data is None and forget is None:
            raise InputError("there is nothing to do; give rows to add, or rows to forget with `forget`")
        # The counts clear most records, or an update would take minutes.
        super().__init__(
            model,
            model.empty() if data is None else data,
            judge_all=False,
            encoding=encoding,
            observer=observer,
            cancel=cancel,
        )
        self.forget, self.all, self._adds = forget, check_flag("all", all), data is not None
        self.encoding = encoding
        self.decided = None if decisions is None else Decided.read(decisions, model.vocabulary)
        self.summary = UpdateSummary()

    def _batches(self) -> Iterator[ScoreBatch]:
        began = time.monotonic()
        parts: list[Table] = []
        skipped = [torch.empty(0, dtype=torch.bool)]
        stage = self.observer.stage("looking at the new rows", self._rows)
        for part in self._tables():
            for piece in pieces(part):
                table, decided = self._as_decided(piece)
                batch = self._looked(table)
                parts.append(table)
                skipped.append(batch.anomalous & ~decided & (not self.all))
                self.summary.records += len(table)
                yield batch
                stage.advance(len(piece))
        stage.finish()
        if self.decided is not None:
            self.decided.check_met(self.model.schema.id)
        if self._adds and self.learned_from is not None:
            again = f"the model has learned from {self.learned_from} of these rows already: now they count twice"
            self.remark("learned-from-already", again, warning=True)
        added = Table.join(parts) if parts else self.model.empty()
        run = Run(seed=self.model.training.get("seed", 0), device=self.model.device, observer=self.observer)
        self.updated, change = update_records(
            self.model,
            added,
            skipped=None if self.all else torch.cat(skipped),
            forget=self._forgotten(),
            label=self.label,
            run=run,
            began=began,
        )
        self.summary.seconds = round(time.monotonic() - began, 2)
        self._tell(change)

    def _as_decided(self, piece: Table) -> tuple[Table, Tensor]:
        """Records with the cells that a person decided on, and which of them have one, bool [n]."""
        if self.decided is None:
            return piece, torch.zeros(len(piece), dtype=torch.bool)
        return self.decided.apply(piece)

    def _looked(self, piece: Table) -> ScoreBatch:
        """Scores and alarms of records; where all may join, nobody asks for them."""
        if self.all:
            return ScoreBatch(piece, torch.full((len(piece),), torch.inf), self.model.scale)
        return ScoreBatch(piece, self._score(piece.ids), self.model.scale, self._alarm(piece.ids))

    def _forgotten(self) -> Table | None:
        if self.forget is None:
            return None
        source = open_source(opened(self.forget), encoding=self.encoding)
        return Table.read(source, self.model.schema, self.model.vocabulary)

    def _tell(self, change: Change) -> None:
        if self.updated is self.model:
            text = "no row was added or forgotten, so the model stays as it is"
            self.remark("unchanged", text, warning=True)
        for name, value in vars(change).items():
            setattr(self.summary, name, value)
        if self.decided is not None:
            self.remark("decided", self.decided.in_words())
        if change.skipped:
            rows = "1 row was" if change.skipped == 1 else f"{change.skipped:,} rows were"
            self.remark("skipped", f"{rows} skipped: the model calls {_them(change.skipped)} anomalous")
        if self.forget is not None:
            if change.not_found:
                rows = "1 row was" if change.not_found == 1 else f"{change.not_found:,} rows were"
                lacks = f"{rows} not forgotten: the model does not hold {_them(change.not_found)}"
                self.remark("not-found", lacks, warning=True)
            if change.forgotten and has_networks(self.model):
                self.remark("networks", NETWORKS, warning=True)

    def empty(self) -> ScoreBatch:
        """A batch without records, for its columns."""
        return ScoreBatch(self.model.empty(), torch.empty(0), self.model.scale)


def update(
    model: Model,
    data: Any = None,
    *,
    forget: Any = None,
    all: bool = False,
    decisions: Any = None,
    encoding: str | None = None,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
) -> UpdateJob:
    """A job that takes records into a model and others out of it; see `UpdateJob`."""
    return UpdateJob(
        model,
        data,
        forget=forget,
        all=all,
        decisions=decisions,
        encoding=encoding,
        observer=observer,
        cancel=cancel,
    )


def updated_model(
    model: Model,
    data: Any = None,
    *,
    forget: Any = None,
    all: bool = False,
    decisions: Any = None,
    encoding: str | None = None,
    progress: bool | Observer = False,
) -> Model:
    """The new model, for `Model.update`."""
    with watching(progress) as observer:
        job = update(model, data, forget=forget, all=all, decisions=decisions, encoding=encoding, observer=observer)
        for _ in job:
            pass
        return job.updated


def _them(count: int) -> str:
    return "it" if count == 1 else "them"
