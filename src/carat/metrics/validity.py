"""Validity: is the counterfactual normal to the detector?"""

from __future__ import annotations

from torch import Tensor

from carat.metrics._slots import mean_over_slots


def validity(scores: Tensor, mask: Tensor, threshold: float) -> Tensor:
    """Share of the counterfactuals that score at least the threshold; float64 [n].

    Args:
        scores: scores of the counterfactuals, [n, K]; higher = more normal.
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.
        threshold: records that score below it are anomalous (`Threshold.resolve`).

    >>> import torch
    >>> validity(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.ones(1, 4, dtype=torch.bool), 2.0)
    tensor([0.7500], dtype=torch.float64)
    """
    return mean_over_slots(scores.double() >= threshold, mask)
