"""Coverage: how many anomalies have an answer at all."""

from __future__ import annotations

from torch import Tensor


def coverage(mask: Tensor) -> float:
    """Share of the anomalies with at least one counterfactual; NaN when there are no anomalies.

    It belongs beside every mean of the other metrics, which leave out the anomalies without an answer.

    Args:
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K].

    >>> import torch
    >>> coverage(torch.tensor([[True, False], [False, False]]))
    0.5
    """
    return float(mask.any(dim=1).double().mean())
