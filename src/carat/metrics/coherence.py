"""Coherence: how often the new entities occurred together with the kept ones."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import MISSING
from carat.metrics._slots import changed, mean_over_slots


def coherence(base: Tensor, counterfactuals: Tensor, mask: Tensor, *, pairs: Pairs, offsets: Tensor) -> Tensor:
    """Mean over (changed i, unchanged j) of P(e_i, e_j), then over the counterfactuals; float64 [n].

    P is the joint relative frequency in training, unsmoothed: the records that hold both entities, over all records.
    The paper's formula sums over the changed domains where its text says mean; the mean can't be raised by changing
    more. A pair with a missing entity is skipped, an entity never seen has frequency 0, and a counterfactual without
    any pair (all domains changed, or all its pairs skipped) counts 0.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.
        pairs: co-occurrence counts of the training records.
        offsets: first row of every domain (`Vocabulary.offsets`), int64 [m].
    """
    rows = counterfactuals.to(torch.int64) + offsets
    altered = changed(base, counterfactuals)
    usable = mask[:, :, None] & (counterfactuals != MISSING)
    new, old = altered & usable, ~altered & usable
    together = torch.zeros_like(mask, dtype=torch.int64)
    number = torch.zeros_like(mask, dtype=torch.int64)
    # One changed domain at a time: all pairs of domains at once would be m times the size of the counterfactuals.
    for domain in range(rows.shape[2]):
        partners = new[:, :, domain, None] & old
        left = rows[:, :, domain, None].expand_as(rows)[partners]
        counts = torch.zeros_like(rows)
        counts[partners] = pairs.count(left, rows[partners])
        together += counts.sum(dim=2)
        number += partners.sum(dim=2)
    # Where there is no pair, or no training record, the count above the line is 0 too.
    return mean_over_slots(together.double() / number.clamp(min=1) / max(pairs.records, 1), mask)
