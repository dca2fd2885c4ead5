"""Heterogeneity: do the counterfactuals differ where they should?"""

from __future__ import annotations

import torch
from torch import Tensor

from carat.metrics._slots import changed, pairs_of, pairs_that_differ


def heterogeneity(base: Tensor, counterfactuals: Tensor, mask: Tensor, *, corrupted: Tensor) -> Tensor:
    """Share of the pairs of counterfactuals that both changed a domain, to different entities; float64 [n].

    The mean of this share over the corrupted domains. The paper's formula divides by K²·m, which can't exceed 0.5
    although its tables do. With one counterfactual there is no pair: 0. An anomaly without any counterfactual, or
    without a corrupted domain, has no value: NaN.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K].
        corrupted: the domains that make the record an anomaly, bool [n, m].

    >>> base, corrupted = torch.tensor([[2, 2]]), torch.tensor([[True, False]])
    >>> counterfactuals = torch.tensor([[[3, 2], [4, 2], [2, 3]]])  # of three pairs, the first alone
    >>> heterogeneity(base, counterfactuals, torch.ones(1, 3, dtype=torch.bool), corrupted=corrupted)
    tensor([0.3333], dtype=torch.float64)
    """
    number = mask.sum(dim=1)
    moved = mask[:, :, None] & changed(base, counterfactuals)
    share = pairs_that_differ(counterfactuals, moved).double() / pairs_of(number).clamp(min=1)[:, None]
    mean = torch.where(corrupted, share, 0.0).sum(dim=1) / corrupted.sum(dim=1)
    return torch.where(number > 0, mean, torch.nan)
