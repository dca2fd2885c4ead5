"""A quick look at records before the judge's slow one: what plainly belongs together need not be judged."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary
from carat.detectors.counts import Counts

PART_ROWS = 16_384
JUDGED = 100_000
"""Records of a table up to which every one of them is judged."""


class Clearing:
    """How well the least supported entity of a record goes with the others, by the pair counts alone.

    Args:
        pairs: co-occurrence counts.
        vocabulary: what the ids mean.
    """

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary) -> None:
        counts = Counts()
        counts.restore({}, vocabulary, pairs.to("cpu"))
        self._counts, self._offsets = counts, vocabulary.offsets

    def support(self, ids: Tensor) -> Tensor:
        """The smallest sum of evidence for an entity of records ids [n, m], float64 [n].

        −∞ where an entity is missing or unseen: no counts can clear that.
        """
        parts = [self._part(part.cpu().to(torch.int64)) for part in ids.split(PART_ROWS)]
        return torch.cat([torch.empty(0, dtype=torch.float64), *parts])

    def _part(self, ids: Tensor) -> Tensor:
        records, domains = ids.shape
        low, high = torch.triu_indices(domains, domains, 1)
        rows = ids + self._offsets
        evidence = self._counts.evidence(rows[:, low], rows[:, high])
        total = torch.zeros((records, domains), dtype=torch.float64)
        total.index_add_(1, low, evidence).index_add_(1, high, evidence)
        return torch.where((ids >= FIRST).all(dim=1), total.amin(dim=1), -torch.inf)
