"""From likelihoods to domains: which entities are flagged, and which a counterfactual would replace."""

from __future__ import annotations

import torch
from torch import Tensor

CUT = 0.5
"""The paper's: an entity less likely than this does not belong."""


def flagged(likelihood: Tensor) -> Tensor:
    """Entities below the cut, bool [n, m], possibly none of a record; a missing entity (NaN) never is.

    >>> flagged(torch.tensor([[0.9, 0.4, torch.nan]])).tolist()
    [[False, True, False]]
    """
    return likelihood < CUT


def targets(likelihood: Tensor) -> Tensor:
    """Algorithm 1, step 1: the flagged entities, or where there is none the single least likely one; bool [n, m].

    A record whose entities are all missing has no target.

    >>> targets(torch.tensor([[0.9, 0.8, torch.nan], [0.1, 0.2, 0.9]])).tolist()
    [[False, True, False], [True, True, False]]
    """
    chosen = flagged(likelihood)
    lowest = likelihood.nan_to_num(nan=torch.inf).argmin(dim=1, keepdim=True) if likelihood.shape[1] else chosen
    alone = torch.zeros_like(chosen).scatter(1, lowest.long(), True) & ~likelihood.isnan()
    return torch.where(chosen.any(dim=1, keepdim=True), chosen, alone)
