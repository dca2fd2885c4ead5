"""The training records themselves, merged where they are identical, with inverted lists to find those alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, Vocabulary


@dataclass(frozen=True)
class Records:
    """Groups of identical records.

    Args:
        ids: one record of each group, int32 [g, m].
        count: how many records a group stands for, int64 [g]; 0 where all of them were left out.
        group: of every record that was stored, in their order, int32 [n].
        vocabulary: what the ids mean.
    """

    ids: Tensor
    count: Tensor
    group: Tensor
    vocabulary: Vocabulary

    @classmethod
    def of(cls, ids: Tensor, vocabulary: Vocabulary) -> Records:
        """Of records ids [n, m]; the order of the groups does not depend on that of the records."""
        unique, group, count = merged(ids.to(torch.int32).cpu())
        return cls(unique, count, group, vocabulary)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def total(self) -> int:
        """How many records there are, N."""
        return int(self.count.sum())

    @cached_property
    def columns(self) -> Tensor:
        """The entities domain by domain, int32 [m, g]: a domain's are looked up by the thousand."""
        return self.ids.T.contiguous()

    def _column(self, domain: int) -> tuple[Tensor, Tensor]:
        """The groups whose entity of a domain is known, and those entities as rows of the vocabulary's layout, [k]."""
        ids = self.ids[:, domain]
        groups = (ids >= FIRST).nonzero().flatten()
        return groups, ids[groups].to(torch.int64) + int(self.vocabulary.offsets[domain])

    @cached_property
    def singles(self) -> Tensor:
        """How often each entity occurs, int64 [total]."""
        counts = torch.zeros(self.vocabulary.total, dtype=torch.int64, device=self.ids.device)
        for domain in range(self.ids.shape[1]):
            groups, rows = self._column(domain)
            counts.index_add_(0, rows, self.count[groups])
        return counts

    @cached_property
    def lists(self) -> tuple[Tensor, Tensor]:
        """Inverted lists: for every row of the layout, where its list starts [total + 1], and the groups, ascending."""
        lengths = torch.zeros(self.vocabulary.total, dtype=torch.int64, device=self.ids.device)
        groups = []
        # Domain by domain: the layout's rows ascend by domain, so the sorted parts stand one behind the other.
        for domain in range(self.ids.shape[1]):
            known, rows = self._column(domain)
            groups.append(known[rows.argsort(stable=True)].to(torch.int32))
            lengths += torch.bincount(rows, minlength=self.vocabulary.total)
        return torch.cat([lengths.new_zeros(1), lengths.cumsum(0)]), torch.cat(groups)

    def prepare(self) -> Records:
        """Count and list everything now rather than when it is first asked for, perhaps by several threads at once."""
        _ = self.total, self.columns, self.singles, self.lists
        return self

    def without(self, records: Tensor) -> Records:
        """The same with some of the stored records, by their numbers [k], left out; groups keep their places."""
        lost = torch.bincount(self.group[records.cpu()].to(torch.int64), minlength=len(self)).to(self.count.device)
        return replace(self, count=self.count - lost)

    def plus(self, other: Records) -> Records:
        """The records of both, those of `other` after these: the same as of all of them in one."""
        ids, place, _ = merged(torch.cat([self.ids, other.ids]))
        count = torch.zeros(len(ids), dtype=torch.int64)
        count.index_add_(0, place.long(), torch.cat([self.count, other.count]))
        mine, theirs = place[: len(self)], place[len(self) :]
        group = torch.cat([mine[self.group.long()], theirs[other.group.long()]])
        return Records(ids, count, group, self.vocabulary)

    def to(self, device: torch.device | str) -> Records:
        """The same on another device."""
        return Records(self.ids.to(device), self.count.to(device), self.group, self.vocabulary)

    def tensors(self) -> dict[str, Tensor]:
        """For the model folder."""
        return {"ids": self.ids, "count": self.count, "group": self.group}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor], vocabulary: Vocabulary) -> Records:
        """The inverse of `tensors`."""
        return cls(tensors["ids"], tensors["count"], tensors["group"], vocabulary)


def merged(ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Different records of ids int32 [n, m], the place of each of the n among them, and how often each occurs.

    Sorted by a hash, which takes seconds for ten million records where sorting them as records takes minutes.
    """
    mixed = torch.zeros(len(ids), dtype=torch.int64)
    for domain in range(ids.shape[1]):
        mixed = (mixed ^ ids[:, domain].to(torch.int64)) * _ODD
        mixed ^= mixed >> 29
    order = mixed.argsort(stable=True)
    mixed, lined_up = mixed[order], ids[order]
    new = torch.ones(len(ids), dtype=torch.bool)
    new[1:] = (lined_up[1:] != lined_up[:-1]).any(dim=1)
    if bool((new[1:] & (mixed[1:] == mixed[:-1])).any()):  # two records of one hash: hardly ever, but then it matters
        unique, group, count = torch.unique(ids, dim=0, return_inverse=True, return_counts=True)
        return unique, group.to(torch.int32), count
    number = new.cumsum(0) - 1
    group = torch.empty(len(ids), dtype=torch.int32)
    group[order] = number.to(torch.int32)
    return lined_up[new], group, torch.bincount(number, minlength=int(new.sum()))


_ODD = -0x61C8864680B583EB
"""The odd number next to 2^64 over the golden ratio, as a signed one; spreads what it is multiplied with."""
