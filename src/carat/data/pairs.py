"""How often entities of different domains occurred together: counted once, used everywhere.

Only pairs that occurred are stored, in one sorted list of keys over all domain pairs. There is no matrix of
cardinality × cardinality, so the size follows the records and not the vocabulary.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from carat.data.vocabulary import FIRST, Vocabulary


@dataclass(frozen=True)
class Pairs:
    """Co-occurrence counts over `records` records.

    An entity is named by its row in the vocabulary's layout (`ids + offsets`); the key of a pair is
    `low · total + high` with `low < high`, which also orders the pairs by their first entity.

    Args:
        keys: int64 [p], ascending.
        counts: int32 [p], every one at least 1.
        singles: int64 [total], how often each entity occurred.
        records: how many records were counted.
    """

    keys: Tensor
    counts: Tensor
    singles: Tensor
    records: int

    @classmethod
    def of(cls, ids: Tensor, vocabulary: Vocabulary, advance: Callable[[int], None] | None = None) -> Pairs:
        """Count ids [n, m]; missing and unseen entities do not count. `advance` is told of every two domains done."""
        total = vocabulary.total
        rows = ids.to(torch.int64) + vocabulary.offsets
        known = ids >= FIRST
        keys, counts = [], []
        for low in range(len(vocabulary)):
            for high in range(low + 1, len(vocabulary)):
                both = known[:, low] & known[:, high]
                key, count = torch.unique(rows[both, low] * total + rows[both, high], sorted=True, return_counts=True)
                keys.append(key)
                counts.append(count.to(torch.int32))
                if advance is not None:
                    advance(1)
        all_keys, order = torch.cat(keys).sort()
        singles = torch.bincount(rows[known], minlength=total)
        return cls(all_keys, torch.cat(counts)[order], singles, len(ids))

    @property
    def total(self) -> int:
        """Number of rows of the vocabulary's layout."""
        return len(self.singles)

    def count(self, left: Tensor, right: Tensor) -> Tensor:
        """How often the entities at these rows occurred together, int64, in the broadcast shape of the two.

        Both must be rows of different domains; a reserved row (missing, unseen) gives 0.
        """
        key = torch.minimum(left, right) * self.total + torch.maximum(left, right)
        if not len(self.keys):
            return torch.zeros_like(key)
        place = torch.searchsorted(self.keys, key.contiguous()).clamp_(max=len(self.keys) - 1)
        return torch.where(self.keys[place] == key, self.counts[place].to(torch.int64), 0)

    def moved(self, before: Vocabulary, after: Vocabulary) -> Pairs:
        """The same counts in the layout of another vocabulary with the same ids; what it does not have is left out."""
        total = after.total
        low, high = self.keys // self.total, self.keys % self.total
        ends, kept = [], torch.ones_like(self.keys, dtype=torch.bool)
        offsets, starts, sizes = (each.to(self.keys.device) for each in (before.offsets, after.offsets, after.sizes))
        for rows in (low, high):
            domain = torch.bucketize(rows, offsets, right=True) - 1
            ids = rows - offsets[domain]
            kept &= ids < sizes[domain]
            ends.append(ids + starts[domain])
        # Within a domain and from domain to domain the order of rows is the same, so the keys still ascend.
        keys = (ends[0] * total + ends[1])[kept]
        parts = zip(self.singles.split(before.sizes.tolist()), after.sizes.tolist(), strict=True)
        singles = [functional.pad(part[:size], (0, max(size - len(part), 0))) for part, size in parts]
        return Pairs(keys, self.counts[kept], torch.cat(singles), self.records)

    def plus(self, other: Pairs) -> Pairs:
        """The counts of both, which have one layout."""
        return self._joined(other, 1)

    def less(self, other: Pairs) -> Pairs:
        """The counts without those of records that are among the ones counted here."""
        return self._joined(other, -1)

    def _joined(self, other: Pairs, sign: int) -> Pairs:
        keys, place = torch.cat([self.keys, other.keys]).unique(sorted=True, return_inverse=True)
        counts = torch.zeros(len(keys), dtype=torch.int64, device=keys.device)
        counts.index_add_(0, place, torch.cat([self.counts, sign * other.counts]).to(torch.int64))
        there = counts > 0
        singles = self.singles + sign * other.singles
        return Pairs(keys[there], counts[there].to(torch.int32), singles, self.records + sign * other.records)

    def adjacency(self) -> tuple[Tensor, Tensor, Tensor]:
        """Every entity's partners, both ways: starts int64 [total + 1], partner rows int64 [2p], counts int32 [2p].

        The partners of the entity at row r are those from starts[r] to starts[r + 1], in ascending order.
        """
        low, high = self.keys // self.total, self.keys % self.total
        owner, partner = torch.cat([low, high]), torch.cat([high, low])
        order = (owner * self.total + partner).argsort()
        starts = torch.zeros(self.total + 1, dtype=torch.int64, device=self.keys.device)
        starts[1:] = torch.bincount(owner, minlength=self.total).cumsum(0)
        return starts, partner[order], torch.cat([self.counts, self.counts])[order]

    def to(self, device: torch.device | str) -> Pairs:
        """The same counts on another device."""
        return Pairs(self.keys.to(device), self.counts.to(device), self.singles.to(device), self.records)

    def tensors(self) -> dict[str, Tensor]:
        """For storing; `from_tensors` reads them back."""
        return {
            "keys": self.keys,
            "counts": self.counts,
            "singles": self.singles,
            "records": torch.tensor(self.records),
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Pairs:
        """The inverse of `tensors`."""
        return cls(tensors["keys"], tensors["counts"], tensors["singles"], int(tensors["records"]))
