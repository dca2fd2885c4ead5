"""What a report keeps of a result, batch by batch: sums over all records, and the strangest ones whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import torch
from torch import Tensor

from carat.explain.choice import flagged
from carat.results.ageing import AGED
from carat.results.batches import ResultBatch, strangest_of
from carat.results.evidence import Evidence
from carat.results.origin import Origin
from carat.results.recourse import RecourseResult
from carat.results.scale import Scale

RECORDS = 1_000
"""Records that a page lists, at most: more is no longer read, and the page stays small."""


@dataclass
class Collector:
    """Takes the batches of a result as they come and never holds more than some of the records.

    Args:
        scale: how scores and alarms are read.
        evidence: the counts behind explanations.
        method: name of the method.
        limit: records to keep, the strangest.
        origin: the model and the data behind the result, as far as it is known.
        aged: one line where the data shows the model's age.
    """

    scale: Scale
    evidence: Evidence
    method: str
    limit: int = RECORDS
    origin: Origin | None = None
    aged: str | None = None
    anomalous: int = 0
    repaired: int = 0
    domains: Counter[str] = field(default_factory=Counter)
    entities: Counter[tuple[str, str]] = field(default_factory=Counter)
    _scores: list[Tensor] = field(default_factory=list)
    _kept: list[ResultBatch] = field(default_factory=list)

    @classmethod
    def of(cls, result: RecourseResult) -> Collector:
        """Everything of a result."""
        aged = next((remark.text for remark in result.remarks if remark.code == AGED), None)
        collector = cls(result.scale, result.evidence, result.method, origin=result.origin, aged=aged)
        for batch in result.batches:
            collector.add(batch)
        return collector

    def add(self, batch: ResultBatch) -> None:
        """Count a batch and keep its strangest records."""
        if not len(batch):
            return
        self._scores.append(batch.score)
        valid = batch.outcome.mask & ~self.scale.below(batch.outcome.score)
        self.anomalous += int(batch.anomalous.sum())
        self.repaired += int((valid.any(dim=1) & batch.anomalous).sum())
        mask, texts = flagged(batch.outcome.likelihood), batch.texts
        for number, name in enumerate(batch.table.vocabulary.names):
            found = texts[name].filter(pa.array(mask[:, number].numpy())).value_counts().to_pylist()
            self.domains[name] += sum(pair["counts"] for pair in found)
            self.entities.update({(name, pair["values"]): pair["counts"] for pair in found})
        self._kept.append(batch)
        # Sorting at twice the limit, not at every batch, keeps this linear.
        if sum(len(kept) for kept in self._kept) > 2 * self.limit:
            self._kept = self.strangest()

    def cut(self) -> Collector:
        """Hold no more records than will be listed."""
        self._kept = self.strangest()
        return self

    def merge(self, other: Collector) -> None:
        """What another collector has taken of the batches that come after these."""
        self._scores += other._scores
        self.anomalous += other.anomalous
        self.repaired += other.repaired
        self.domains.update(other.domains)
        self.entities.update(other.entities)
        self._kept = strangest_of([*self._kept, *other._kept], self.limit)

    @property
    def scores(self) -> Tensor:
        """Of all records, in the order they came, [n]."""
        return torch.cat([torch.empty(0), *self._scores])

    def strangest(self) -> list[ResultBatch]:
        """The strangest records, no more than the limit, in batches, in the order they came."""
        return strangest_of(self._kept, self.limit)
