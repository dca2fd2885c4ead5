"""The rarest pairs of a record: a hint where no single entity is to blame."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST

PAIRS = 5
"""Pairs named, at most."""
PRIOR = 0.1
"""Records added to both counts: little, so that never counts for more than seldom; but two rare entities, which chance
would hardly bring together, rank last."""
RARE = 0.5
"""Only what was met less than this share of what chance would make it."""


@dataclass(frozen=True)
class Pair:
    """Two entities that were seen together more seldom than chance would have it.

    Args:
        first: domain of one, by number.
        second: domain of the other.
        together: how often they were seen together in training.
        expected: how often entities as frequent as these would meet if nothing tied them.
    """

    first: int
    second: int
    together: int
    expected: float


def rarest_pairs(ids: Tensor, together: Tensor, records: int) -> list[Pair]:
    """Of the entities of one record, the pairs that are rare against chance, the rarest first.

    Args:
        ids: the record, [m].
        together: how often its entities were seen together in training, [m, m]; the diagonal says how often at all.
        records: of training, how many there were.
    """
    together = together.double()
    seen = together.diagonal()
    low, high = torch.triu_indices(len(ids), len(ids), 1)
    known = (ids[low] >= FIRST) & (ids[high] >= FIRST)
    low, high = low[known], high[known]
    met, expected = together[low, high], seen[low] * seen[high] / max(records, 1)
    ratio = (met + PRIOR) / (expected + PRIOR)
    order = [i for i in ratio.argsort(stable=True).tolist() if ratio[i] < RARE][:PAIRS]
    return [Pair(int(low[i]), int(high[i]), int(met[i]), float(expected[i])) for i in order]
