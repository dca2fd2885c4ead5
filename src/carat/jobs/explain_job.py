"""Explain every record: how likely each of its entities is beside the others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from carat.errors import InputError
from carat.fitting.model import Model
from carat.jobs.job import Cancel, Job, Summary, pieces
from carat.observing import Observer
from carat.results.batches import ExplainBatch


@dataclass
class ExplainSummary(Summary):
    """What an explaining did.

    Args:
        with_flagged: records with a flagged entity.
        flagged: by domain, how many entities are flagged.
    """

    with_flagged: int = 0
    flagged: Counter[str] = field(default_factory=Counter)


class ExplainJob(Job[ExplainBatch]):
    """How likely every entity of every record is in its context."""

    name = "explain"
    summary: ExplainSummary

    def _batches(self) -> Iterator[ExplainBatch]:
        explainer = self.model.explainer
        assert explainer is not None
        names = self.model.vocabulary.names
        stage = self.observer.stage("explaining", self._rows)
        for part in self._tables():
            for piece in pieces(part):
                likelihood = explainer.likelihood(piece.ids).cpu()
                batch = ExplainBatch(piece, likelihood, self._lazily, self.model.alarm)
                self.summary.records += len(batch)
                self.summary.with_flagged += int(batch.flagged.any(dim=1).sum())
                self.tally.counted.add("flagged", batch.flagged.any(dim=1))
                counts = batch.flagged.sum(dim=0).tolist()
                self.summary.flagged.update({name: count for name, count in zip(names, counts, strict=True) if count})
                yield batch
                stage.advance(len(piece))
        stage.finish()

    def recipe(self) -> Callable[[Model, Any], ExplainJob]:
        """Makes a job like this one for the same model and a part of the data."""
        return explain

    def _remark_after(self) -> None:
        self._remark_if_learned()
        self._remark_unseen()
        self._remark_if_aged()

    def _lazily(self, ids: Tensor) -> Tensor:
        return self.detector.score(ids).cpu()

    def empty(self) -> ExplainBatch:
        """A batch without records, for its columns."""
        none = torch.empty((0, len(self.model.vocabulary)))
        return ExplainBatch(self.model.empty(), none, self._lazily, self.model.alarm)


def explain(
    model: Model,
    data: Any,
    *,
    encoding: str | None = None,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
) -> ExplainJob:
    """A job that explains every record of a table; see `Job`."""
    if model.explainer is None:
        raise InputError("this model has no explainer; fit it again with `explainer`")
    job = ExplainJob(model, data, encoding=encoding, observer=observer, cancel=cancel)
    job.summary = ExplainSummary()
    return job
