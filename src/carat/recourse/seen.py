"""What training saw once, and what looks like a slip of a common entity, is no candidate while a better one is."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, MISSING

OFTEN = 2
"""Times from which on an entity is more than a possible slip."""


@dataclass(frozen=True)
class Seen:
    """How often training saw the entities, and which of them look like slips.

    Args:
        singles: of every row of the vocabulary's layout, int64 [total].
        offsets: of the domains in the layout, int64 [m].
        meant: of every row, the id of the common entity that it looks like a slip of, `MISSING` where there is none,
            int64 [total]; None where nobody looked.
    """

    singles: Tensor
    offsets: Tensor
    meant: Tensor | None = None

    @classmethod
    def of(cls, singles: Tensor, offsets: Tensor, lookalikes: Tensor | None) -> Seen:
        """With slips and what they look like as rows of the layout, int64 [k, 2]; see `carat.recourse.lookalikes`."""
        if lookalikes is None or not len(lookalikes):
            return cls(singles, offsets)
        slip, right = lookalikes.to(singles.device).t().contiguous()
        start = offsets[torch.searchsorted(offsets, right, right=True) - 1]
        meant = torch.full((len(singles),), MISSING, device=singles.device).index_put((slip,), right - start)
        return cls(singles, offsets, meant)

    def idle(self, ids: Tensor, candidates: Tensor, log_weight: Tensor) -> Tensor:
        """Which candidates are no suggestion while a better one is, bool [n, m, L].

        An entity that stands once in a table may well be a slip itself: it is idle where it is less likely than one
        seen more often. One that looks like a slip of a common entity is idle beside it, however likely it is.

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
        idle = ~often & known & (log_weight < best)
        return idle if self.meant is None else idle | self._slips(ids, candidates, self.meant)

    def _slips(self, ids: Tensor, candidates: Tensor, meant: Tensor) -> Tensor:
        """Which candidates look like a slip of another one, or of the present entity where others are left."""
        right = meant[candidates + self.offsets[:, None]]
        row, domain, place = right.nonzero(as_tuple=True)  # few, as a rule
        others = candidates[row, domain]  # [p, L]
        wanted = right[row, domain, place, None]
        present = ids[row, domain, None]
        beside = ((others == wanted) & (wanted != present)).any(dim=1)
        left = (others != MISSING) & (others != present) & (right[row, domain] == MISSING)
        slips = torch.zeros_like(candidates, dtype=torch.bool)
        slips[row, domain, place] = beside | ((wanted == present).squeeze(1) & left.any(dim=1))
        return slips
