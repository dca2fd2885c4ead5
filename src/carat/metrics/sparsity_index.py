"""Sparsity Index: how little the counterfactuals change."""

from __future__ import annotations

from torch import Tensor

from carat.metrics._slots import changed, mean_over_slots


def sparsity_index(base: Tensor, counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """Mean over the counterfactuals of 1 / (1 + changed / m); float64 [n], from 0.5 (all changed) to below 1.

    The share of changed domains, not their number: the number would not give the paper's range nor its tables, where
    one change in 8 domains is 0.8889.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.

    >>> import torch
    >>> sparsity_index(torch.full((1, 8), 2), torch.tensor([[[3, 2, 2, 2, 2, 2, 2, 2]]]), torch.tensor([[True]]))
    tensor([0.8889], dtype=torch.float64)
    """
    return mean_over_slots(1 / (1 + changed(base, counterfactuals).double().mean(dim=2)), mask)
