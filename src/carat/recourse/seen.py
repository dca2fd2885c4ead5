"""What training saw once is no candidate while a better one is."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST

OFTEN = 2
"""Times from which on an entity is more than a possible slip."""


@dataclass(frozen=True)
class Seen:
    """How often training saw the entities.

    Args:
        singles: of every row of the vocabulary's layout, int64 [total].
        offsets: of the domains in the layout, int64 [m].
    """

    singles: Tensor
    offsets: Tensor

    def idle(self, ids: Tensor, candidates: Tensor, log_weight: Tensor) -> Tensor:
        """Which candidates are seen at most once and less likely than one seen more often, bool [n, m, L].

        An entity that stands once in a table may well be a slip itself.

        Args:
            ids: the records, [n, m]; their own entities are to be replaced, so they are no better candidates.
            candidates: int64 [n, m, L], `MISSING` where padded.
            log_weight: of the candidates, [n, m, L].
        """
        if not candidates.numel():
            return torch.zeros_like(candidates, dtype=torch.bool)
        known = candidates >= FIRST
        often = self.singles[candidates + self.offsets[:, None]] >= OFTEN
        better = often & known & (candidates != ids[..., None])
        best = log_weight.masked_fill(~better, -torch.inf).amax(dim=2, keepdim=True)
        return ~often & known & (log_weight < best)
