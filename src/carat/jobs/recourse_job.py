"""Recourse: choose the records, search for each what would have made it normal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
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
from carat.jobs.tally import Tally
from carat.observing import Observer, Stage
from carat.recourse import Method, Outcome, Settings
from carat.results.batches import ResultBatch
from carat.results.explanation import FILLED
from carat.results.gate import strangest_first

BATCH = 256
"""Records that a method is given at once on a CPU."""
BATCH_ON_GPU = 4_096
"""The same on a GPU, which larger batches keep busy."""
OURS = ("carat-plus", "instant")
"""Methods that may answer that a record had better stay as it is."""
DOUBTLESS = "no value looks wrong"
IDLE = "changing another value would not make the row more normal"


def batch_rows(device: torch.device) -> int:
    """Records that a method is given at once on a device."""
    return BATCH if device.type == "cpu" else BATCH_ON_GPU


@dataclass
class RecourseSummary(Summary):
    """What a search did.

    Args:
        anomalous: records read that are anomalous, those that were not searched for among them.
        counterfactuals: how many were found.
        records_without_repair: records for which there is none.
        records_only_blank: those of them that only lack values, which are not filled here.
        seconds: spent by the method alone, after all training, reading and scoring.
    """

    anomalous: int = 0
    counterfactuals: int = 0
    records_without_repair: int = 0
    records_only_blank: int = 0
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
        self.given: Chosen | None = None
        """The records to search for, where they were chosen before; then none are read."""
        self.summary = RecourseSummary()

    def _batches(self) -> Iterator[ResultBatch]:
        scoring = self.observer.stage("scoring", self._rows)
        searching: Stage | None = None
        for chosen in self._wanted(scoring):
            if searching is None:
                searching = self.observer.stage("finding fixes", 0)
            searching.more(len(chosen.table))
            yield from self._searched(chosen, searching)
        scoring.finish()

    def recipe(self) -> Callable[[Model, Any], RecourseJob]:
        """Makes a job like this one for the same model and a part of the data."""
        return partial(
            recourse,
            settings=replace(self.settings, resolved=None),
            method=self.method.name,
            top=self.top,
            all=self.all,
            gate=self.gated,
            judge_all=self.judges_all,
        )

    def facts(self) -> dict[str, Any]:
        """How it searches, for the file beside the output."""
        settings = self.settings
        names = ("k", "neighbours", "diversity", "prefer", "budget", "seconds", "shortlist")
        return {
            "method": self.method.name,
            "top": self.top,
            "all": self.all,
            "gate": self.gated,
            **{name: getattr(settings, name) for name in names},
            "constraints": asdict(settings.constraints),
        }

    def choose(self) -> Chosen | None:
        """Of a part of a table that does not begin it, the strangest records; None where it has none."""
        self.tally = Tally.of(self.model, later=True)
        return next(self._wanted(self.observer.stage("scoring", self._rows)), None)

    def _remark_before(self) -> None:
        self._remark_unknown()

    def _remark_after(self) -> None:
        if self.top is None and not self.all:
            self._remark_if_learned()
        self._remark_cleared()
        self._remark_unseen()
        self._remark_if_aged()

    def _wanted(self, scoring: Stage) -> Iterator[Chosen]:
        """The records to search for: all, the anomalous, or the strangest, the worst first.

        Of the strangest, no more than `top` records are ever held.
        """
        if self.given is not None:
            yield self.given
            return
        strangest: list[Chosen] = []
        for part in self._tables():
            looked = self._looked(part, scoring)
            listed = self.model.scale.anomalous(looked.score, looked.alarm)
            self.summary.anomalous += int(listed.sum())
            self._count_listed(listed)
            if self.top is not None:
                strangest = [Chosen.join([*strangest, looked]).strangest(self.top)]
                continue
            rows = torch.arange(len(part)) if self.all else torch.nonzero(listed).flatten()
            if len(rows):
                yield looked.take(rows)
        if self.top is not None:
            scoring.finish()
        yield from strangest

    def _looked(self, table: Table, scoring: Stage) -> Chosen:
        """A table with scores and alarms; the judge takes its time, so it can be stopped in between."""
        score = self._score(table.ids)
        alarms = []
        for ids in table.ids.split(PIECE) if len(table) else [table.ids]:
            self.cancel.check()
            alarms.append(self._alarm(ids))
            scoring.advance(len(ids))
        told = [alarm for alarm in alarms if alarm is not None]
        return Chosen(table, score, torch.cat(told) if told else None)

    def _searched(self, chosen: Chosen, stage: Stage) -> Iterator[ResultBatch]:
        device, scale = self.model.device, self.model.scale
        for index in torch.arange(len(chosen.table)).split(batch_rows(device)):
            some = chosen.take(index)
            began = time.perf_counter()
            outcome = self.method.find(some.table.ids.to(device), self.settings, some.score).to("cpu")
            self.summary.seconds += time.perf_counter() - began
            outcome = self._without_fixes_for_blanks(some, outcome)
            outcome = self._without_idle_fixes(some, outcome)
            found = outcome.mask.sum(dim=1)
            self.summary.records += len(index)
            self.summary.counterfactuals += int(found.sum())
            self.summary.records_without_repair += int((found == 0).sum())
            yield ResultBatch(some.table, some.score, outcome, scale, alarm=some.alarm)
            stage.advance(len(index))

    def _without_fixes_for_blanks(self, chosen: Chosen, outcome: Outcome) -> Outcome:
        """The same without counterfactuals for records that are anomalous by what they lack, and by nothing else.

        No value of theirs is in doubt, and a blank is not filled here: whatever else changes would make them worse.
        """
        blank = ResultBatch(chosen.table, chosen.score, outcome, self.model.scale, alarm=chosen.alarm).only_blank
        if not blank.any():
            return outcome
        assert chosen.alarm is not None
        self.summary.records_only_blank += int(blank.sum())
        missing = chosen.table.ids == MISSING
        expected = torch.tensor(self.model.evidence.filled) >= FILLED
        names, reasons = self.model.vocabulary.names, list(outcome.reasons)
        for row in blank.nonzero().flatten().tolist():
            lacking = missing[row] & expected if (missing[row] & expected).any() else missing[row]
            listed = [names[domain] for domain in lacking.nonzero().flatten().tolist()]
            which = f"{', '.join(listed[:-1])} and {listed[-1]} are" if listed[1:] else f"{listed[0]} is"
            reasons[row] = (
                f"{which} blank. carat recourse does not fill blanks; carat audit does. "
                f"The alarm ({float(chosen.alarm[row]):.2f}) listed this row, not its score"
            )
        return replace(outcome, mask=outcome.mask & ~blank[:, None], reasons=reasons)

    def _without_idle_fixes(self, chosen: Chosen, outcome: Outcome) -> Outcome:
        """The same without counterfactuals that change what looks right for nothing.

        Where no value of an anomalous record that may change is in doubt, only what makes the record more normal is a
        fix. The paper's method and the baselines stay as they are, and so does everything where the judge is not asked.
        """
        if self.gated == "score" or self.method.name not in OURS:
            return outcome
        assert self.settings.resolved is not None
        doubted = (flagged(outcome.likelihood) & self.settings.resolved[1].mutable.cpu()).any(dim=1)
        listed = self.model.scale.anomalous(chosen.score, chosen.alarm) & ~doubted
        idle = listed[:, None] & outcome.mask & (outcome.score <= chosen.score[:, None])
        if not idle.any():
            return outcome
        left = outcome.mask & ~idle
        # What is left moves up, in its order.
        order = left.int().argsort(dim=1, descending=True, stable=True)
        bare = outcome.mask.any(dim=1) & ~left.any(dim=1)
        reasons = list(outcome.reasons)
        for row in bare.nonzero().flatten().tolist():
            said = reasons[row]
            reasons[row] = f"{said or DOUBTLESS}; {IDLE}"
        return replace(
            outcome,
            counterfactuals=outcome.counterfactuals.gather(1, order[..., None].expand_as(outcome.counterfactuals)),
            mask=left.gather(1, order),
            score=outcome.score.gather(1, order),
            cost=None if outcome.cost is None else outcome.cost.gather(1, order),
            reasons=reasons,
        )

    def _remark_unknown(self) -> None:
        assert self.settings.resolved is not None
        unknown = self.settings.resolved[1].unknown
        if unknown:
            more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
            said = f"{', '.join(unknown[:5])}{more}"
            text = f"constraints: these values were never seen in training, so naming them has no effect: {said}"
            self.remark("constraints-without-effect", text, warning=True)

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
class Chosen:
    """Records with their scores [n], and their alarms [n] where there are any."""

    table: Table
    score: Tensor
    alarm: Tensor | None

    def take(self, index: Tensor) -> Chosen:
        """The records with these numbers."""
        return Chosen(self.table.take(index), self.score[index], None if self.alarm is None else self.alarm[index])

    def strangest(self, count: int) -> Chosen:
        """The so many strangest, the strangest first."""
        return self.take(strangest_first(self.score, self.alarm)[:count])

    @classmethod
    def join(cls, parts: list[Chosen]) -> Chosen:
        """Several as one."""
        told = [part.alarm for part in parts if part.alarm is not None]
        scores = torch.cat([part.score for part in parts])
        return cls(Table.join([part.table for part in parts]), scores, torch.cat(told) if told else None)
