"""Overlap distance: how far the counterfactuals are from the anomaly."""

from __future__ import annotations

from torch import Tensor

from carat.metrics._slots import changed, mean_over_slots


def overlap_distance(base: Tensor, counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """Mean over the counterfactuals of the share of domains that changed; float64 [n], lower is nearer.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.

    >>> import torch
    >>> overlap_distance(torch.tensor([[2, 2, 2, 2]]), torch.tensor([[[3, 2, 2, 2]]]), torch.tensor([[True]]))
    tensor([0.2500], dtype=torch.float64)
    """
    return mean_over_slots(changed(base, counterfactuals).double().mean(dim=2), mask)
