"""Which counterfactuals count: each once, and none that changes nothing."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.metrics._slots import changed


def distinct(base: Tensor, counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """The mask without repeated counterfactuals (the first of equal ones stays) and without those equal to the base.

    The other metrics expect a mask that went through here; they do not do it themselves, so that it is done once.

    Args:
        base: the anomalies, int [n, m].
        counterfactuals: best first, int [n, K, m].
        mask: slots that hold a counterfactual, bool [n, K].

    Returns:
        bool [n, K], a new tensor.

    >>> base = torch.tensor([[2, 2]])
    >>> counterfactuals = torch.tensor([[[3, 2], [2, 2], [3, 2], [2, 3]]])
    >>> distinct(base, counterfactuals, torch.ones(1, 4, dtype=torch.bool)).tolist()
    [[True, False, False, True]]
    """
    kept = mask & changed(base, counterfactuals).any(dim=2)
    record, slot = kept.nonzero(as_tuple=True)
    # The number of the record goes in front, so that only counterfactuals of one anomaly can be equal.
    rows = torch.cat([record[:, None], counterfactuals[kept].to(torch.int64)], dim=1)
    group = torch.unique(rows, dim=0, return_inverse=True)[1]
    first = torch.full_like(slot, counterfactuals.shape[1]).scatter_reduce(0, group, slot, "amin")
    kept[record, slot] = slot == first[group]
    return kept
