"""Recourse: choose the records, search for each what would have made it normal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from carat.data import Table
from carat.errors import InputError
from carat.fitting.model import Model
from carat.jobs.job import Cancel, Job, Summary
from carat.observing import Observer, Stage
from carat.recourse import Method, Settings
from carat.results.batches import ResultBatch

BATCH = 256
"""Records that a method is given at once."""


@dataclass
class RecourseSummary(Summary):
    """What a search did.

    Args:
        counterfactuals: how many were found.
        records_without_repair: records for which there is none.
        seconds: spent by the method alone, after all training, reading and scoring.
    """

    counterfactuals: int = 0
    records_without_repair: int = 0
    seconds: float = 0.0


class RecourseJob(Job[ResultBatch]):
    """What would have made some records of a table normal.

    Args:
        model: the model.
        data: as `Job` takes it.
        settings: how to search.
        method: what searches: a name, an object, or None for the best the model can do.
        top: only the so many strangest records, the strangest first.
        all: every record, not only the anomalous ones.
        observer: is told of progress and remarks.
        cancel: stops the job between two batches.
    """

    name = "recourse"
    summary: RecourseSummary

    def __init__(
        self,
        model: Model,
        data: Any,
        settings: Settings,
        *,
        method: str | Method | None = None,
        top: int | None = None,
        all: bool = False,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        if top is not None and all:
            raise InputError("give `top` or `all`, not both")
        if top is not None and not hasattr(top, "__index__"):
            raise InputError(f"`top` must be a whole number, got {top!r}")
        if top is not None and top < 1:
            raise InputError(f"`top` must be at least 1, got {top}")
        super().__init__(model, data, observer=observer, cancel=cancel)
        like = None if isinstance(data, Table) else self.data
        self.method = model.method(method, like=like) if method is None or isinstance(method, str) else method
        self.settings = settings.resolve(model.vocabulary)
        self.top, self.all = top, all
        self.summary = RecourseSummary()

    def _batches(self) -> Iterator[ResultBatch]:
        self._remark_unknown()
        scoring = self.observer.stage("scoring", self._rows)
        searching: Stage | None = None
        for table, score in self._wanted(scoring):
            if searching is None:
                searching = self.observer.stage("finding fixes", 0)
            searching.more(len(table))
            yield from self._searched(table, score, searching)
        scoring.finish()
        if self.top is None and not self.all:
            self._remark_if_learned()
        self._remark_unseen()

    def _wanted(self, scoring: Stage) -> Iterator[tuple[Table, Tensor]]:
        """The records to search for and their scores [n]: all, the anomalous, or the strangest, the worst first.

        Of the strangest, no more than `top` records are ever held.
        """
        strangest: list[tuple[Table, Tensor]] = []
        for part in self._tables():
            score = self._score(part.ids)
            scoring.advance(len(part))
            if self.top is not None:
                strangest = [_strangest([*strangest, (part, score)], self.top)]
                continue
            wanted = self.model.scale.anomalous(score)
            rows = torch.arange(len(part)) if self.all else torch.nonzero(wanted).flatten()
            if len(rows):
                yield part.take(rows), score[rows]
        if self.top is not None:
            scoring.finish()
        yield from strangest

    def _searched(self, table: Table, score: Tensor, stage: Stage) -> Iterator[ResultBatch]:
        device, scale = self.model.device, self.model.scale
        for index in torch.arange(len(table)).split(BATCH):
            some, scores = table.take(index), score[index]
            began = time.perf_counter()
            outcome = self.method.find(some.ids.to(device), self.settings, scores).to("cpu")
            self.summary.seconds += time.perf_counter() - began
            found = outcome.mask.sum(dim=1)
            self.summary.records += len(some)
            self.summary.counterfactuals += int(found.sum())
            self.summary.records_without_repair += int((found == 0).sum())
            yield ResultBatch(some, scores, outcome, scale)
            stage.advance(len(some))

    def _remark_unknown(self) -> None:
        assert self.settings.resolved is not None
        unknown = self.settings.resolved[1].unknown
        if unknown:
            more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
            said = f"these values were never seen in training and can't be suggested: {', '.join(unknown[:5])}{more}"
            self.remark("constraints-without-effect", f"constraints: {said}", warning=True)

    def empty(self) -> ResultBatch:
        """A batch without records, for its columns."""
        return self.model.empty_batch(self.settings)


def recourse(
    model: Model,
    data: Any,
    settings: Settings | None = None,
    *,
    method: str | Method | None = None,
    top: int | None = None,
    all: bool = False,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
) -> RecourseJob:
    """A job that looks for what would have made records normal; see `RecourseJob` for the arguments."""
    return RecourseJob(
        model, data, settings or Settings(), method=method, top=top, all=all, observer=observer, cancel=cancel
    )


def _strangest(parts: list[tuple[Table, Tensor]], count: int) -> tuple[Table, Tensor]:
    """Of several tables and their scores, the records with the lowest scores, the lowest first, as one table."""
    tables, scores = Table.join([table for table, _ in parts]), torch.cat([score for _, score in parts])
    order = scores.argsort(stable=True)[:count]
    return tables.take(order), scores[order]
