"""The vote on one domain without a number for every entity of it: only those that somebody voted for are listed.

An entity that no looked-at record holds has what its frequency alone gives it. So a domain of a million entities costs
no more than the records that were looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST

if TYPE_CHECKING:
    from carat.memory.vote import Ballot

LARGE = 4_096
"""Entities of a domain from which on a tally is quicker than a number for each."""
BEYOND_ALL = 2**62


@dataclass(frozen=True)
class Tally:
    """Probabilities of the entities that were voted for, and of the others by how often they occur.

    Args:
        entities: those voted for, ascending, int64 [r, U]; `BEYOND_ALL` where there are no more.
        votes: their weight beyond frequency, as a probability, [r, U].
        slope: what one occurrence adds to any entity's probability, [r, 1].
        least: the probability of an entity without an occurrence, [r, 1].
        counts: how often each entity of the domain occurs, float [V].
        lost: the entity of the record that is left out, int64 [r, 1]; below `FIRST` where there is none.
    """

    entities: Tensor
    votes: Tensor
    slope: Tensor
    least: Tensor
    counts: Tensor
    lost: Tensor

    @classmethod
    def of(cls, ballot: Ballot, domain: int, rows: Tensor | None = None) -> Tally:
        """Of some records of a ballot, [r]; None is all of them."""
        entity, beyond = ballot.beyond(domain, rows)
        order = entity.argsort(dim=1)
        entity, beyond = entity.gather(1, order), beyond.gather(1, order)
        first = torch.ones_like(entity, dtype=torch.bool)
        first[:, 1:] = entity[:, 1:] != entity[:, :-1]
        place = first.cumsum(dim=1) - 1
        votes = torch.zeros_like(beyond).scatter_add_(1, place, beyond)
        entities = torch.full_like(entity, BEYOND_ALL).scatter_(1, place, entity)
        entities = entities.masked_fill(entities < FIRST, BEYOND_ALL)
        # What nobody knew, if anything, stood first; sorted to the end it is out of the way of a binary search.
        order = entities.argsort(dim=1)
        width = max(int((entities < BEYOND_ALL).sum(dim=1).max()) if len(entity) else 0, 1)
        entities = entities.gather(1, order)[:, :width].contiguous()
        votes = votes.gather(1, order)[:, :width].masked_fill(entities == BEYOND_ALL, 0.0)
        counts = ballot.counts_of(domain)
        lost = ballot.lost_of(domain, rows)
        known = counts.sum() - (lost >= FIRST).to(counts.dtype)  # [r, 1]
        scale = (-ballot.top_of(domain, rows)).exp()
        everything = (known * scale + votes.sum(dim=1, keepdim=True)).clamp(min=1e-30)
        floor = ballot.weights.floor[domain]
        prior = ballot.prior(known, len(counts))
        return cls(
            entities,
            (1 - floor) * votes / everything,
            (1 - floor) * scale / everything + floor / prior,
            floor * ballot.PRIOR / prior,
            counts,
            lost,
        )

    def at(self, entities: Tensor) -> Tensor:
        """Probabilities of given entities int64 [r, C]; below `FIRST`, that of an entity never seen."""
        count = self._count(entities)
        place = torch.searchsorted(self.entities, entities.contiguous()).clamp(max=self.entities.shape[1] - 1)
        votes = torch.where(self.entities.gather(1, place) == entities, self.votes.gather(1, place), 0.0)
        return votes + self.slope * count + self.least

    def top(self, limit: int) -> tuple[Tensor, Tensor]:
        """The likeliest entities and their probabilities, [r, K] each, K at most `limit`; best first."""
        frequent = self.counts.argsort(descending=True, stable=True)[:limit] + FIRST
        listed = torch.cat([self.entities, frequent.expand(len(self.entities), -1)], dim=1)
        listed = listed.sort(dim=1).values
        again = torch.zeros_like(listed, dtype=torch.bool)
        again[:, 1:] = listed[:, 1:] == listed[:, :-1]
        gone = again | (listed == BEYOND_ALL)
        share = self.at(listed.masked_fill(gone, FIRST)).masked_fill(gone, -1.0)
        share, place = share.sort(dim=1, descending=True, stable=True)
        width = min(limit, int((share >= 0).sum(dim=1).min()) if len(share) else 0)
        return listed.gather(1, place)[:, :width], share[:, :width]

    def best(self) -> Tensor:
        """The largest probability of all, [r]."""
        voted = self.at(self.entities.clamp(max=len(self.counts) + FIRST - 1))
        voted = voted.masked_fill(self.entities == BEYOND_ALL, 0.0).amax(dim=1)
        most = self.counts.argmax() + FIRST
        return voted.maximum(self.at(most.expand(len(voted), 1)).squeeze(1))

    def entropy(self) -> Tensor:
        """Of the whole domain, in nats, [r]."""
        there = self.entities < BEYOND_ALL
        safe = self.entities.clamp(max=len(self.counts) + FIRST - 1)
        voted = (_surprise(self.at(safe)) * there).sum(dim=1)
        # All others by how often they occur: as many terms as there are different counts.
        values, times = torch.unique(self.counts, return_counts=True)
        others = (_surprise(self.slope * values + self.least) * times).sum(dim=1)
        listed = (_surprise(self.slope * self.counts[safe - FIRST] + self.least) * there).sum(dim=1)
        whole: Tensor = voted + others - listed
        return whole

    def _count(self, entities: Tensor) -> Tensor:
        known = entities >= FIRST
        count: Tensor = self.counts[(entities - FIRST).clamp(min=0, max=len(self.counts) - 1)] * known
        lost: Tensor = known & (entities == self.lost)
        return count - lost.to(count.dtype)


def _surprise(share: Tensor) -> Tensor:
    """−p log p."""
    return -share * share.clamp(min=1e-12).log()
