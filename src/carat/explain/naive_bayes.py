"""How well every entity of a domain would fit the rest of a record, from pair counts alone."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary

CELLS = 16_000_000
"""Upper limit on the numbers held at once; a larger vocabulary gets fewer records a part."""


class NaiveBayes:
    """log P(e) + Σ_i log P(x_i | e) over the other known entities x_i of the record, for every entity e.

    P(x | e) is smoothed with `smoothing` pseudo-records that follow P(x). All but the pairs that occurred is the same
    for the whole domain, so a record costs as much as its entities have partners.

    Args:
        pairs: co-occurrence counts.
        vocabulary: what the ids mean.
        smoothing: weight of the prior, in records.
    """

    def __init__(self, pairs: Pairs, vocabulary: Vocabulary, smoothing: float) -> None:
        self.offsets, self.sizes = vocabulary.offsets, vocabulary.sizes.tolist()
        self.smoothing = smoothing
        counts = pairs.singles.double().clamp(min=0.5)
        share = counts / max(pairs.records, 1)
        self.log_share = share.log().float()
        self.log_count = (pairs.singles.double() + smoothing).log().float()
        self.starts, self.partners, together = pairs.adjacency()
        owner = torch.repeat_interleave(torch.arange(len(counts)), self.starts.diff())
        # What a pair that occurred adds over one that did not: log (n + κ P(x)) / κ P(x).
        self.gain = torch.log1p(together / (smoothing * share[owner])).float()
        self.reserved = torch.ones(len(counts), dtype=torch.bool)
        for offset, size in zip(self.offsets.tolist(), self.sizes, strict=True):
            self.reserved[offset + FIRST : offset + size] = False

    def rows_a_part(self) -> int:
        """How many records `fit` may be given at once."""
        return max(CELLS // len(self.reserved), 1)

    def fit(self, ids: Tensor) -> Tensor:
        """ids int64 [n, m] → [n, total], up to a constant for each record and domain; −∞ at the reserved ids."""
        records = len(ids)
        known = ids >= FIRST
        rows = torch.where(known, ids + self.offsets, 0)
        length = (self.starts[rows + 1] - self.starts[rows]) * known
        record = torch.arange(records, device=ids.device)[:, None].expand_as(ids)
        ends = length.flatten().cumsum(0)
        place = torch.arange(int(ends[-1]) if len(ends) else 0, device=ids.device)
        which = torch.repeat_interleave(torch.arange(length.numel(), device=ids.device), length.flatten())
        entry = self.starts[rows].flatten()[which] + place - (ends - length.flatten())[which]
        total = torch.zeros(records * len(self.reserved), device=ids.device)
        total.index_add_(0, record.flatten()[which] * len(self.reserved) + self.partners[entry], self.gain[entry])
        context = known.sum(dim=1, keepdim=True) - known.long()  # [n, m]: known entities beside this one
        sizes = torch.tensor(self.sizes, device=ids.device)
        spread = torch.repeat_interleave(context, sizes, dim=1)
        fitted = total.view(records, len(self.reserved)) + self.log_share - spread * self.log_count
        return fitted.masked_fill(self.reserved, -torch.inf)

    def to(self, device: torch.device) -> NaiveBayes:
        """Move to a device, in place."""
        for name in ("offsets", "log_share", "log_count", "starts", "partners", "gain", "reserved"):
            setattr(self, name, getattr(self, name).to(device))
        return self
