"""Raw sparsity: how many domains the counterfactuals change."""

from __future__ import annotations

from torch import Tensor

from carat.metrics._slots import changed, mean_over_slots


def raw_sparsity(base: Tensor, counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """Mean over the counterfactuals of the number of domains that changed; float64 [n], lower is sparser.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.

    >>> import torch
    >>> raw_sparsity(torch.tensor([[2, 2]]), torch.tensor([[[3, 2], [3, 3]]]), torch.tensor([[True, True]]))
    tensor([1.5000], dtype=torch.float64)
    """
    return mean_over_slots(changed(base, counterfactuals).sum(dim=2), mask)
