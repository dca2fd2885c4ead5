"""Recovery: was the record found as it was before it was corrupted?"""

from __future__ import annotations

import torch
from torch import Tensor

from carat.errors import InputError


def recovery(original: Tensor, counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """Rank at which the original record stands among the counterfactuals, from 1; 0 if it is not there; int64 [n].

    Only slots in the mask take a rank: what `distinct` dropped does not push the others down.

    Args:
        original: the records before corruption, int [n, m].
        counterfactuals: best first, int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K].

    >>> original, counterfactuals = torch.tensor([[2, 2]]), torch.tensor([[[3, 2], [2, 2]]])
    >>> recovery(original, counterfactuals, torch.ones(1, 2, dtype=torch.bool))
    tensor([2])
    """
    found = mask & (counterfactuals == original[:, None, :]).all(dim=2)
    # After `distinct` at most one slot is found; without it the first would be the one.
    first = found & (found.cumsum(dim=1) == 1)
    return torch.where(first, mask.cumsum(dim=1), 0).sum(dim=1)


def recovered_at(rank: Tensor, k: int) -> Tensor:
    """1 where the original record is among the first k counterfactuals, else 0; float64 [n].

    An anomaly without any counterfactual gives 0 and not NaN: the truth was there to be found and was not. Else a
    method could raise its Recovery@k by answering only what it is sure of.

    Args:
        rank: from `recovery`, int64 [n].
        k: at least 1.

    >>> recovered_at(torch.tensor([1, 3, 0]), 2)
    tensor([1., 0., 0.], dtype=torch.float64)
    """
    if k < 1:
        raise InputError(f"k of Recovery@k must be at least 1, got {k}")
    return ((rank >= 1) & (rank <= k)).double()
