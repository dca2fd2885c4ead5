"""The training records themselves, merged where they are identical, with inverted lists to find those alike."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, Vocabulary

MISSING_GROUP = -1


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
        """Of records ids [n, m]; groups are in the order of their ids, whatever the order of the records."""
        unique, group, count = torch.unique(ids.to(torch.int32).cpu(), dim=0, return_inverse=True, return_counts=True)
        return cls(unique, count, group.to(torch.int32), vocabulary)

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def total(self) -> int:
        """How many records there are, N."""
        return int(self.count.sum())

    @cached_property
    def rows(self) -> Tensor:
        """The groups' entities as rows of the vocabulary's layout, int64 [g, m]; −1 where missing or unseen."""
        rows = self.ids.to(torch.int64) + self.vocabulary.offsets.to(self.ids.device)
        return rows.masked_fill(self.ids < FIRST, -1)

    @cached_property
    def singles(self) -> Tensor:
        """How often each entity occurs, int64 [total]."""
        known = self.rows >= 0
        weight = self.count[:, None].expand_as(self.rows)[known]
        counts = torch.zeros(self.vocabulary.total, dtype=torch.int64, device=self.ids.device)
        return counts.index_add_(0, self.rows[known], weight)

    @cached_property
    def known(self) -> Tensor:
        """Records whose entity is known, for each domain, int64 [m]."""
        return ((self.ids >= FIRST) * self.count[:, None]).sum(dim=0)

    @cached_property
    def lists(self) -> tuple[Tensor, Tensor]:
        """Inverted lists: for every row of the layout, where its list starts [total + 1], and the groups, ascending."""
        known = (self.rows >= 0).cpu()
        rows = self.rows.cpu()[known]
        group = known.nonzero()[:, 0]
        order = rows.argsort(stable=True)
        lengths = torch.bincount(rows, minlength=self.vocabulary.total)
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        return starts.to(self.ids.device), group[order].to(self.ids.device)

    def without(self, records: Tensor) -> Records:
        """The same with some of the stored records, by their numbers [k], left out; groups keep their places."""
        lost = torch.bincount(self.group[records.cpu()].to(torch.int64), minlength=len(self)).to(self.count.device)
        return replace(self, count=self.count - lost)

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
