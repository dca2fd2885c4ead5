"""The vote: what do the records most like this one hold in a domain?

Asked about domain d of a record x, with some domains hidden, training record t weighs

    w_t = c_t · exp(Σ_j a_dj(x_j) · [t_j = x_j])

the sum over the domains j that are not hidden and known in x. A match on a rare entity says more:
a_dj(e) = λ_dj + μ_dj · log(N / count(e)). P(e | x) is the share of the weight that holds e, mixed with a little of how
frequent e is anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST
from carat.memory.nearest import Alike, alike, all_records
from carat.memory.store import Records

PRIOR = 0.1
"""Records added to every entity of a domain, and to one never seen."""


@dataclass(frozen=True)
class Weights:
    """What a match is worth, learned by `carat.memory.learning`.

    Args:
        match: λ, what any match in domain j adds for domain d, at least 0, [m, m] by d and j.
        rarity: μ, what it adds for each nat of rarity, at least 0, [m, m].
        floor: π, the share of plain frequency in the answer, [m].
    """

    match: Tensor
    rarity: Tensor
    floor: Tensor

    def tensors(self) -> dict[str, Tensor]:
        """For the model folder."""
        return {"match": self.match, "rarity": self.rarity, "floor": self.floor}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Weights:
        """The inverse of `tensors`."""
        return cls(tensors["match"], tensors["rarity"], tensors["floor"])

    def to(self, device: torch.device | str) -> Weights:
        """The same on another device."""
        return Weights(self.match.to(device), self.rarity.to(device), self.floor.to(device))


class Ballot:
    """The vote on a batch of records, for every domain or for some.

    Args:
        records: who votes.
        weights: what a match is worth.
        ids: the records asked about, int64 [b, m].
        hidden: for each question (second place), the domains that may not be looked at (third), bool [b, T, m]; a
            domain is always hidden from itself.
        left_out: group of a stored record that is left out for each question, int64 [b]; −1 for none.
        limit: stored records looked at for each question; None looks at all of them.
        found: the stored records to look at, where they were found before.
        asked: the domains that are asked about, in each record its own, int64 [b, T]; None asks about all of them, so
            that T is m.
    """

    PRIOR = PRIOR

    def __init__(
        self,
        records: Records,
        weights: Weights,
        ids: Tensor,
        hidden: Tensor,
        left_out: Tensor | None = None,
        limit: int | None = None,
        found: Alike | None = None,
        asked: Tensor | None = None,
    ) -> None:
        self.records, self.weights, self.ids = records, weights, ids.to(torch.int64)
        self.left_out = torch.full((len(ids),), -1, device=ids.device) if left_out is None else left_out
        self.offsets = records.vocabulary.offsets.to(ids.device)
        self.known = self.ids >= FIRST
        self.asked = asked
        itself = torch.eye(ids.shape[1], dtype=torch.bool, device=ids.device)
        self.worth = self._worth(hidden | (itself if asked is None else itself[asked]))
        if found is None:
            found = all_records(records, self.ids) if limit is None else alike(records, self.ids, self.known, limit)
        self.alike: Alike = found
        # One record fewer of the group that is left out.
        mine = (found.group == self.left_out[:, None]) & (self.left_out >= 0)[:, None]
        self.voters = (found.weight - mine.to(found.weight.dtype)).clamp(min=0)  # [b, L]

    def again(self, hidden: Tensor) -> Ballot:
        """The same question to the same records with other domains hidden, bool [b, m, m]."""
        return Ballot(self.records, self.weights, self.ids, hidden, self.left_out, found=self.alike)

    @cached_property
    def _leaves_out(self) -> bool:
        """Whether any record is left out."""
        return bool((self.left_out >= 0).any())

    @property
    def total(self) -> Tensor:
        """Stored records that are not left out, N, for each question, [b, 1]."""
        return (self.records.total - (self.left_out >= 0).to(torch.int64))[:, None]

    @cached_property
    def _lost(self) -> Tensor:
        """The entities of the record that is left out, int64 [b, m]; 0 where none is."""
        gone = self.records.ids[self.left_out.clamp(min=0)].to(torch.int64)
        return gone.masked_fill((self.left_out < 0)[:, None], 0)

    def count(self, ids: Tensor) -> Tensor:
        """How often entities ids [b, m] occur in their domains, what is left out not counted, int64 [b, m]."""
        known = ids >= FIRST
        counts = self.records.singles[torch.where(known, ids + self.offsets, 0)] * known
        return counts - (known & (ids == self._lost)).to(torch.int64)

    def _worth(self, hidden: Tensor) -> Tensor:
        """a_dj(x_j), [b, T, m]; 0 where domain j is hidden from d, or x_j not known."""
        rarity = (self.total / self.count(self.ids).clamp(min=1)).log().clamp(min=0).float()
        match, rarer = self.weights.match, self.weights.rarity
        if self.asked is not None:
            match, rarer = match[self.asked], rarer[self.asked]
        worth = match + rarer * rarity[:, None, :]
        return worth.masked_fill(hidden | ~self.known[:, None, :], 0.0)

    @cached_property
    def exponent(self) -> Tensor:
        """Σ_j a_dj(x_j) · [t_j = x_j] of every question and record looked at, [b, T, L]."""
        return self.worth @ self.alike.matches.to(self.worth.dtype)

    @cached_property
    def most(self) -> Tensor:
        """The largest exponent, for the sums to neither overflow nor vanish, at least 0, [b, T]."""
        # A product, for filling by a mask is several times as slow.
        there = self.exponent * (self.voters > 0).to(self.exponent.dtype)[:, None]
        return there.amax(dim=2).clamp(min=0)

    @cached_property
    def _weight(self) -> Tensor:
        """What every record looked at weighs beyond frequency, relative to exp(`most`), [b, T, L]."""
        top = self.most[..., None]
        return ((self.exponent - top).exp() - (-top).exp()) * self.voters[:, None] * (self._held >= FIRST)

    @cached_property
    def _held(self) -> Tensor:
        """What every record looked at holds in the domains asked about, int32 [b, T, L]."""
        if self.asked is None:
            return self.alike.ids
        rows = torch.arange(len(self.ids), device=self.ids.device)[:, None]
        return self.alike.ids[rows, self.asked]

    def _place(self, domain: int, rows: Tensor | None) -> tuple[Tensor | slice, Tensor | int]:
        """Where the questions about a domain stand, of some records or of all; they are asked about it."""
        if self.asked is None:
            return slice(None) if rows is None else rows, domain
        rows = torch.arange(len(self.ids), device=self.ids.device) if rows is None else rows
        return rows, (self.asked[rows] == domain).int().argmax(dim=1)

    def counts_of(self, domain: int) -> Tensor:
        """How often each entity of a domain occurs, with nothing left out, float [entities]."""
        start = int(self.records.vocabulary.offsets[domain]) + FIRST
        size = int(self.records.vocabulary.sizes[domain]) - FIRST
        return self.records.singles[start : start + size].to(self.worth.dtype)

    def lost_of(self, domain: int, rows: Tensor | None = None) -> Tensor:
        """The entity of the record left out of the vote on some or all records, int64 [r, 1]; 0 where none is."""
        lost = self._lost[:, domain, None]
        return lost if rows is None else lost[rows]

    def top_of(self, domain: int, rows: Tensor | None = None) -> Tensor:
        """The largest exponent of the vote on some or all records, [r, 1]."""
        return self.most[self._place(domain, rows)][:, None]

    def beyond(self, domain: int, rows: Tensor | None) -> tuple[Tensor, Tensor]:
        """What was looked at for some or all records: entities, and what each weighs beyond frequency, [r, L] each.

        Relative to exp(`most`). A record that was not looked at weighs no more than the 1 that it has in the counts.
        """
        place = self._place(domain, rows)
        return self._held[place].to(torch.int64), self._weight[place]

    def probability(self, domain: int, rows: Tensor | None = None) -> Tensor:
        """P(e | x) of every entity of a domain, [r, entities]; an entity never seen has what is missing to 1.

        Args:
            domain: asked about.
            rows: which of the records, [r]; None is all of them.
        """
        base = self.counts_of(domain)[None]
        if self._leaves_out:
            lost = self.lost_of(domain, rows)
            base = base.repeat(len(lost), 1)
            base = base.scatter_add_(1, (lost - FIRST).clamp(min=0), -(lost >= FIRST).to(base.dtype))
        entity, beyond = self.beyond(domain, rows)
        least = (-self.top_of(domain, rows)).exp()
        weight = (base * least).scatter_add_(1, (entity - FIRST).clamp(min=0), beyond).clamp(min=0)
        share = weight / weight.sum(dim=1, keepdim=True).clamp(min=1e-30)
        floor = self.weights.floor[domain]
        prior = self.prior(base.sum(dim=1, keepdim=True), base.shape[1])
        return (1 - floor) * share + floor * (base + PRIOR) / prior

    def unseen_probability(self, domain: int) -> Tensor:
        """P of an entity that no stored record holds, [b]."""
        lost = self.lost_of(domain).squeeze(1)
        counts = self.counts_of(domain)
        known = counts.sum() - (lost >= FIRST).to(counts.dtype)
        return self.weights.floor[domain] * PRIOR / self.prior(known, len(counts))

    @staticmethod
    def prior(known: Tensor, entities: int) -> Tensor:
        """N_d + 0.1 · (V_d + 1), the extra one for an entity never seen, in the shape of N_d."""
        return known + PRIOR * (entities + 1)

    def joint(self, targets: Tensor, versions: Tensor) -> Tensor:
        """log P of whole combinations: the share of the weight of records that hold all of a version's target entities.

        Args:
            targets: the domains that are replaced, bool [b, m]; all of them are asked about.
            versions: whole records, int64 [b, C, m].

        Returns:
            [b, C]; −∞ where no record that was looked at holds the combination.
        """
        asked = torch.arange(targets.shape[1], device=targets.device)[None] if self.asked is None else self.asked
        wanted = targets.gather(1, asked.expand(len(targets), -1))  # [b, T]
        share = wanted.to(self.worth.dtype) / wanted.sum(dim=1, keepdim=True).clamp(min=1)
        exponent = (share[:, None] @ self.exponent).squeeze(1)  # [b, L]
        top = exponent.masked_fill(self.voters <= 0, 0.0).amax(dim=1, keepdim=True).clamp(min=0)
        weight = self.voters * (exponent - top).exp()
        rest = (self.total - self.voters.sum(dim=1, keepdim=True)).clamp(min=0) * (-top).exp()
        holds = torch.ones((len(versions), versions.shape[1], weight.shape[1]), dtype=torch.bool, device=weight.device)
        chosen = versions.gather(2, asked[:, None].expand(len(versions), versions.shape[1], -1)).to(self._held.dtype)
        for place in range(asked.shape[1]):
            same = self._held[:, None, place] == chosen[:, :, place, None]
            holds &= same | ~wanted[:, place, None, None]
        held = (holds.to(weight.dtype) @ weight[..., None]).squeeze(-1)
        return (held / (weight.sum(dim=1, keepdim=True) + rest).clamp(min=1e-30)).log()
