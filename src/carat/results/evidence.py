"""The counts behind an explanation: how often two entities were seen together, and what usually is."""

from __future__ import annotations

import copy
from functools import cached_property

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary
from carat.results.precedents import Precedents

SELDOM = 0.05
"""Below this share of the most frequent, an entity does not usually go with another."""


class Evidence:
    """Look-ups in the pair counts, in ids.

    Args:
        pairs: co-occurrence counts.
        vocabulary: what the ids mean.
        precedents: finds similar training records; None where the model keeps none.
    """

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary, precedents: Precedents | None = None) -> None:
        self.pairs = pairs.to("cpu")
        self.vocabulary = vocabulary
        self.precedents = precedents

    def of_training(self) -> Evidence:
        """The same for records that were learned from: none of them is its own precedent."""
        if self.precedents is None:
            return self
        other = copy.copy(self)
        other.precedents = self.precedents.of_training()
        return other

    @cached_property
    def _adjacency(self) -> tuple[Tensor, Tensor, Tensor]:
        return self.pairs.adjacency()

    @cached_property
    def filled(self) -> list[float]:
        """In which share of the training records each domain has an entity, [m]."""
        known = [int(part[FIRST:].sum()) for part in self.pairs.singles.split(self.vocabulary.sizes.tolist())]
        return [count / max(self.pairs.records, 1) for count in known]

    def together(self, ids: Tensor) -> Tensor:
        """How often the entities of records ids [n, m] were seen together, int64 [n, m, m]; −1 where one is missing.

        The diagonal holds how often each entity was seen at all.
        """
        rows = ids.to(torch.int64) + self.vocabulary.offsets
        counts = self.pairs.count(rows[:, :, None], rows[:, None, :])
        counts += torch.diag_embed(self.pairs.singles[rows] * (ids >= FIRST))
        there = ids > 0
        return counts.masked_fill(~(there[:, :, None] & there[:, None, :]), -1)

    def usual(
        self, domain: int, entity: int, other: int, limit: int = 3, *, instead_of: int | None = None
    ) -> list[tuple[str, int]]:
        """What an entity usually goes with in another domain: texts and counts, most often first.

        Args:
            domain: of the entity.
            entity: its id.
            other: the other domain.
            limit: how many, at most.
            instead_of: an id there that is itself in doubt; it is left out, and so is what is seldom.
        """
        if entity < FIRST:
            return []
        starts, partners, counts = self._adjacency
        row = int(self.vocabulary.offsets[domain]) + entity
        begin, end = int(starts[row]), int(starts[row + 1])
        low = int(self.vocabulary.offsets[other])
        mine, seen = partners[begin:end], counts[begin:end]
        inside = (mine >= low) & (mine < low + int(self.vocabulary.sizes[other]))
        mine, seen = mine[inside], seen[inside]
        if instead_of is not None and len(seen):
            common = (mine != low + instead_of) & (seen >= SELDOM * seen.max())
            mine, seen = mine[common], seen[common]
        best = seen.argsort(descending=True, stable=True)[:limit]
        entities = self.vocabulary.domains[other].entities
        return [(entities[int(mine[i]) - low - FIRST].as_py(), int(seen[i])) for i in best]
