"""Score every record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch

from carat.fitting.model import Model
from carat.jobs.job import Cancel, Job, Summary, pieces
from carat.observing import Observer
from carat.results.batches import ScoreBatch


@dataclass
class ScoreSummary(Summary):
    """What a scoring did.

    Args:
        anomalous: records below the threshold, or with an alarm.
    """

    anomalous: int = 0


class ScoreJob(Job[ScoreBatch]):
    """How normal every record of a table is."""

    name = "score"
    summary: ScoreSummary

    def _batches(self) -> Iterator[ScoreBatch]:
        scale = self.model.scale
        stage = self.observer.stage("scoring", self._rows)
        for part in self._tables():
            for piece in pieces(part):
                batch = ScoreBatch(piece, self._score(piece.ids), scale, self._alarm(piece.ids))
                self.summary.records += len(batch)
                self.summary.anomalous += int(batch.anomalous.sum())
                self._count_listed(batch.anomalous)
                yield batch
                stage.advance(len(piece))
        stage.finish()

    def recipe(self) -> Callable[[Model, Any], ScoreJob]:
        """Makes a job like this one for the same model and a part of the data."""
        return partial(score, gate=self.gated, judge_all=self.judges_all)

    def _remark_after(self) -> None:
        self._remark_if_learned()
        self._remark_cleared()
        self._remark_unseen()
        self._remark_if_aged()

    def empty(self) -> ScoreBatch:
        """A batch without records, for its columns."""
        return ScoreBatch(self.model.empty(), torch.empty(0), self.model.scale)


def score(
    model: Model,
    data: Any,
    *,
    gate: str = "both",
    judge_all: bool | None = None,
    encoding: str | None = None,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
) -> ScoreJob:
    """A job that scores every record of a table; see `Job`."""
    job = ScoreJob(model, data, gate=gate, judge_all=judge_all, encoding=encoding, observer=observer, cancel=cancel)
    job.summary = ScoreSummary()
    return job
