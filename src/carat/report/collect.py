"""What a report keeps of a result, part by part: sums over all records, and the strangest ones whole."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pyarrow as pa
import torch
from torch import Tensor

from carat.explain import flagged
from carat.recourse.evidence import Evidence
from carat.recourse.result import Part, RecourseResult, Scale

RECORDS = 1_000
"""Records that a page lists, at most: more is no longer read, and the page stays small."""


@dataclass
class Collector:
    """Takes the parts of a result as they come and never holds more than some of the records.

    Args:
        scale: how scores are read.
        evidence: the counts behind explanations.
        method: name of the method.
        limit: records to keep, the strangest.
    """

    scale: Scale
    evidence: Evidence
    method: str
    limit: int = RECORDS
    repaired: int = 0
    domains: Counter[str] = field(default_factory=Counter)
    entities: Counter[tuple[str, str]] = field(default_factory=Counter)
    _scores: list[Tensor] = field(default_factory=list)
    _kept: list[Part] = field(default_factory=list)

    @classmethod
    def of(cls, result: RecourseResult) -> Collector:
        """Everything of a result."""
        collector = cls(result.scale, result.evidence, result.method)
        for part in result.parts:
            collector.add(part)
        return collector

    def add(self, part: Part) -> None:
        """Count a part and keep its strangest records."""
        if not len(part.table):
            return
        self._scores.append(part.score)
        valid = part.outcome.mask & (part.outcome.score >= self.scale.threshold)
        self.repaired += int((valid.any(dim=1) & (part.score < self.scale.threshold)).sum())
        mask, texts = flagged(part.outcome.likelihood), part.table.decode()
        for number, name in enumerate(part.table.vocabulary.names):
            found = texts[name].filter(pa.array(mask[:, number].numpy())).value_counts().to_pylist()
            self.domains[name] += sum(pair["counts"] for pair in found)
            self.entities.update({(name, pair["values"]): pair["counts"] for pair in found})
        self._kept.append(part)
        # Sorting at twice the limit, not at every part, keeps this linear.
        if sum(len(kept.table) for kept in self._kept) > 2 * self.limit:
            self._kept = self.strangest()

    @property
    def scores(self) -> Tensor:
        """Of all records, in the order they came, [n]."""
        return torch.cat([torch.empty(0), *self._scores])

    def strangest(self) -> list[Part]:
        """The records of lowest score, no more than the limit, in parts, in the order they came."""
        if not self._kept:
            return []
        scores = torch.cat([part.score for part in self._kept])
        chosen = torch.zeros(len(scores), dtype=torch.bool)
        chosen[scores.argsort(stable=True)[: self.limit]] = True
        kept = []
        for part, mine in zip(self._kept, chosen.split([len(part.table) for part in self._kept]), strict=True):
            if mine.any():
                kept.append(part if mine.all() else part.take(mine.nonzero().flatten()))
        return kept
