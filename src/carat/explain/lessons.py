"""What the judge learns from: records of which it is known where they are wrong."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, UNSEEN
from carat.training.negatives import MarginalEntities, UniformEntities


@dataclass(frozen=True, kw_only=True)
class Corruption:
    """What is done to the records that the judge learns from.

    Args:
        untouched: share of the records left as they are.
        by_frequency: share of the replacements that follow frequency instead of being uniform.
        unseen: share of the replacements by an entity never seen.
        blank: share of the replacements by nothing.
    """

    untouched: float = 0.3
    by_frequency: float = 0.85
    unseen: float = 0.03
    blank: float = 0.03

    def corrupt(self, ids: Tensor, data: TrainingData, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Records ids [n, m] with one or two entities replaced, and where, bool [n, m]."""
        records, domains = ids.shape
        touched = torch.rand(records, generator=generator) >= self.untouched
        count = torch.randint(1, 3, (records,), generator=generator) * touched
        order = torch.rand(ids.shape, generator=generator).masked_fill(ids < FIRST, 2.0).argsort(dim=1).argsort(dim=1)
        chosen = (order < count[:, None]) & (ids >= FIRST)
        numbers = torch.arange(domains).expand(records, -1)
        kind = torch.rand(ids.shape, generator=generator)
        uniform = UniformEntities(data.vocabulary).draw(numbers, generator)
        frequent = MarginalEntities(data.vocabulary, data.marginals()).draw(numbers, generator)
        new = torch.where(torch.rand(ids.shape, generator=generator) < self.by_frequency, frequent, uniform)
        new = torch.where(kind < self.unseen, UNSEEN, new)
        new = torch.where(kind > 1 - self.blank, MISSING, new)
        changed = torch.where(chosen, new, ids)
        return changed, changed != ids


@dataclass(frozen=True)
class Lessons:
    """Records to look at, some of which may be in memory themselves.

    Args:
        ids: the records, perhaps with entities replaced, int64 [n, m].
        original: as they were, int64 [n, m]; None where they are as they came.
        row: the number of each among the training records, int64 [n], left out when it is asked about; None where
            memory does not hold them.
    """

    ids: Tensor
    original: Tensor | None = None
    row: Tensor | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def split(self, rows: int) -> list[Lessons]:
        """In parts."""
        return [self.take(part) for part in torch.arange(len(self)).split(rows)]

    def take(self, index: Tensor) -> Lessons:
        """Some of them."""
        original, row = (None if each is None else each[index] for each in (self.original, self.row))
        return Lessons(self.ids[index], original, row)

    def corrupted(
        self, corruption: Corruption, data: TrainingData, generator: torch.Generator
    ) -> tuple[Lessons, Tensor]:
        """The same with entities replaced, and where, bool [n, m]."""
        changed, wrong = corruption.corrupt(self.ids, data, generator)
        return Lessons(changed, self.ids, self.row), wrong

    @property
    def own(self) -> Tensor:
        """Where the record itself is among those counted, bool [n, m]."""
        if self.row is None:
            return torch.zeros(self.ids.shape, dtype=torch.bool)
        return torch.ones_like(self.ids, dtype=torch.bool) if self.original is None else self.ids == self.original
