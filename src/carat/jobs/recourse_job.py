"""Recourse: choose the records, search for each what would have made it normal."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from carat.arguments import check_flag
from carat.data import Table
from carat.data.vocabulary import MISSING
from carat.errors import InputError
from carat.explain.choice import flagged
from carat.fitting.model import Model
from carat.jobs.job import PIECE, Cancel, Job, Summary
from carat.observing import Observer, Stage
from carat.recourse import Method, Outcome, Settings
from carat.results.batches import ResultBatch
from carat.results.explanation import FILLED
from carat.results.gate import strangest_first

BATCH = 256
"""Records that a method is given at once."""


@dataclass
class RecourseSummary(Summary):
    """What a search did.

    Args:
        anomalous: records read that are anomalous, those that were not searched for among them.
        counterfactuals: how many were found.
        records_without_repair: records for which there is none.
        seconds: spent by the method alone, after all training, reading and scoring.
    """

    anomalous: int = 0
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
        gate: as `Job` takes it; so are `judge_all` and `encoding`.
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
        gate: str = "both",
        judge_all: bool | None = None,
        encoding: str | None = None,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        if top is not None and all:
            raise InputError("give `top` or `all`, not both")
        if top is not None and not hasattr(top, "__index__"):
            raise InputError(f"`top` must be a whole number, got {top!r}")
        if top is not None and top < 1:
            raise InputError(f"`top` must be at least 1, got {top}")
        super().__init__(
            model, data, gate=gate, judge_all=judge_all, encoding=encoding, observer=observer, cancel=cancel
        )
        like = None if isinstance(data, Table) else self.data
        self.method = model.method(method, like=like) if method is None or isinstance(method, str) else method
        self.settings = settings.resolve(model.vocabulary)
        self.top, self.all = top, check_flag("all", all)
        self.summary = RecourseSummary()

    def _batches(self) -> Iterator[ResultBatch]:
        self._remark_unknown()
        scoring = self.observer.stage("scoring", self._rows)
        searching: Stage | None = None
        for chosen in self._wanted(scoring):
            if searching is None:
                searching = self.observer.stage("finding fixes", 0)
            searching.more(len(chosen.table))
            yield from self._searched(chosen, searching)
        scoring.finish()
        if self.top is None and not self.all:
            self._remark_if_learned()
        self._remark_cleared()
        self._remark_unseen()
        self._remark_if_aged()

    def _wanted(self, scoring: Stage) -> Iterator[_Chosen]:
        """The records to search for: all, the anomalous, or the strangest, the worst first.

        Of the strangest, no more than `top` records are ever held.
        """
        strangest: list[_Chosen] = []
        for part in self._tables():
            looked = self._looked(part, scoring)
            listed = self.model.scale.anomalous(looked.score, looked.alarm)
            self.summary.anomalous += int(listed.sum())
            self._count_listed(listed)
            if self.top is not None:
                strangest = [_Chosen.join([*strangest, looked]).strangest(self.top)]
                continue
            rows = torch.arange(len(part)) if self.all else torch.nonzero(listed).flatten()
            if len(rows):
                yield looked.take(rows)
        if self.top is not None:
            scoring.finish()
        yield from strangest

    def _looked(self, table: Table, scoring: Stage) -> _Chosen:
        """A table with scores and alarms; the judge takes its time, so it can be stopped in between."""
        score = self._score(table.ids)
        alarms = []
        for ids in table.ids.split(PIECE) if len(table) else [table.ids]:
            self.cancel.check()
            alarms.append(self._alarm(ids))
            scoring.advance(len(ids))
        told = [alarm for alarm in alarms if alarm is not None]
        return _Chosen(table, score, torch.cat(told) if told else None)

    def _searched(self, chosen: _Chosen, stage: Stage) -> Iterator[ResultBatch]:
        device, scale = self.model.device, self.model.scale
        for index in torch.arange(len(chosen.table)).split(BATCH):
            some = chosen.take(index)
            began = time.perf_counter()
            outcome = self.method.find(some.table.ids.to(device), self.settings, some.score).to("cpu")
            self.summary.seconds += time.perf_counter() - began
            outcome = self._without_fixes_for_blanks(some, outcome)
            found = outcome.mask.sum(dim=1)
            self.summary.records += len(index)
            self.summary.counterfactuals += int(found.sum())
            self.summary.records_without_repair += int((found == 0).sum())
            yield ResultBatch(some.table, some.score, outcome, scale, alarm=some.alarm)
            stage.advance(len(index))

    def _without_fixes_for_blanks(self, chosen: _Chosen, outcome: Outcome) -> Outcome:
        """The same without counterfactuals for records that are anomalous by what they lack, and by nothing else.

        No value of theirs is in doubt, and a blank is not filled here: whatever else changes would make them worse.
        """
        scale, missing = self.model.scale, chosen.table.ids == MISSING
        fine = ~scale.below(chosen.score) & ~flagged(outcome.likelihood).any(dim=1)
        blank = scale.alarming(chosen.alarm, len(missing)) & fine & missing.any(dim=1)
        if not blank.any():
            return outcome
        expected = torch.tensor(self.model.evidence.filled) >= FILLED
        names, reasons = self.model.vocabulary.names, list(outcome.reasons)
        for row in blank.nonzero().flatten().tolist():
            lacking = missing[row] & expected if (missing[row] & expected).any() else missing[row]
            listed = ", ".join(names[domain] for domain in lacking.nonzero().flatten().tolist())
            reasons[row] = f"no value looks wrong, but {listed} is blank, and carat recourse fills no blanks"
        return replace(outcome, mask=outcome.mask & ~blank[:, None], reasons=reasons)

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
    gate: str = "both",
    judge_all: bool | None = None,
    encoding: str | None = None,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
) -> RecourseJob:
    """A job that looks for what would have made records normal; see `RecourseJob` for the arguments."""
    return RecourseJob(
        model,
        data,
        settings or Settings(),
        method=method,
        top=top,
        all=all,
        gate=gate,
        judge_all=judge_all,
        encoding=encoding,
        observer=observer,
        cancel=cancel,
    )


@dataclass(frozen=True)
class _Chosen:
    """Records with their scores [n], and their alarms [n] where there are any."""

    table: Table
    score: Tensor
    alarm: Tensor | None

    def take(self, index: Tensor) -> _Chosen:
        """The records with these numbers."""
        return _Chosen(self.table.take(index), self.score[index], None if self.alarm is None else self.alarm[index])

    def strangest(self, count: int) -> _Chosen:
        """The so many strangest, the strangest first."""
        return self.take(strangest_first(self.score, self.alarm)[:count])

    @classmethod
    def join(cls, parts: list[_Chosen]) -> _Chosen:
        """Several as one."""
        told = [part.alarm for part in parts if part.alarm is not None]
        scores = torch.cat([part.score for part in parts])
        return cls(Table.join([part.table for part in parts]), scores, torch.cat(told) if told else None)
