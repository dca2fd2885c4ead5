"""Feature Accuracy: were the right domains changed?"""

from __future__ import annotations

from torch import Tensor

from carat.metrics._slots import changed, mean_over_slots


def feature_accuracy(base: Tensor, counterfactuals: Tensor, mask: Tensor, *, corrupted: Tensor) -> Tensor:
    """Share of the domains that are changed and corrupted, or neither; mean over the counterfactuals; float64 [n].

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.
        corrupted: the domains that make the record an anomaly, bool [n, m].

    >>> import torch
    >>> base, counterfactuals = torch.tensor([[2, 2, 2, 2]]), torch.tensor([[[3, 3, 2, 2]]])
    >>> corrupted = torch.tensor([[True, False, False, False]])
    >>> feature_accuracy(base, counterfactuals, torch.tensor([[True]]), corrupted=corrupted)
    tensor([0.7500], dtype=torch.float64)
    """
    right = changed(base, counterfactuals) == corrupted[:, None, :]
    return mean_over_slots(right.double().mean(dim=2), mask)
