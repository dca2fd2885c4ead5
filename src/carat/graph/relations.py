"""Relations: which domains are neighbours on a metapath, and the edges between their entities."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import Vocabulary


@dataclass(frozen=True)
class Relations:
    """One symmetric relation for every two domains that are adjacent on a metapath.

    Args:
        ends: the two domains of each relation, lower number first, int64 [R, 2].
        number: the relation between two domains or −1, int64 [m, m].
    """

    ends: Tensor
    number: Tensor

    @classmethod
    def of(cls, metapaths: Sequence[Sequence[str]], vocabulary: Vocabulary) -> Relations:
        """From metapaths given by name; the order of the paths does not matter."""
        place = {name: number for number, name in enumerate(vocabulary.names)}
        steps = (sorted((place[left], place[right])) for path in metapaths for left, right in itertools.pairwise(path))
        ends = sorted({(low, high) for low, high in steps})
        number = torch.full((len(vocabulary), len(vocabulary)), -1, dtype=torch.int64)
        for relation, (low, high) in enumerate(ends):
            number[low, high] = number[high, low] = relation
        return cls(torch.tensor(ends, dtype=torch.int64).reshape(-1, 2), number)

    def __len__(self) -> int:
        return len(self.ends)

    def neighbours(self, domain: int) -> list[int]:
        """The domains that share a relation with this one, ascending."""
        return [int(other) for other in torch.nonzero(self.number[domain] >= 0).flatten()]

    def two_steps(self, domain: int) -> list[tuple[int, int]]:
        """Domains two relations away and the domain between, `(far, between)`, first way found for each."""
        near = self.neighbours(domain)
        found: dict[int, int] = {}
        for between in near:
            for far in self.neighbours(between):
                if far != domain and far not in near:
                    found.setdefault(far, between)
        return sorted(found.items())

    def edges(self, pairs: Pairs, vocabulary: Vocabulary) -> Tensor:
        """Every pair of entities seen together, as triples (row, relation, row), int64 [e, 3].

        The lower domain's entity comes first; how often a pair occurred does not matter.
        """
        rows = torch.stack([pairs.keys // pairs.total, pairs.keys % pairs.total], dim=1).cpu()
        domain = torch.bucketize(rows, vocabulary.offsets, right=True) - 1
        relation = self.number[domain[:, 0], domain[:, 1]]
        kept = relation >= 0
        return torch.stack([rows[kept, 0], relation[kept], rows[kept, 1]], dim=1)
