"""Count diversity: how much the counterfactuals differ from one another."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.metrics._slots import pairs_of, pairs_that_differ


def count_diversity(counterfactuals: Tensor, mask: Tensor) -> Tensor:
    """Mean over pairs of counterfactuals of the share of domains in which the two differ; float64 [n].

    With one counterfactual there is no pair: 0. Random changes in every domain make it large, which is why
    Heterogeneity asks for the right domains as well.

    Args:
        counterfactuals: int [n, K, m].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.

    >>> count_diversity(torch.tensor([[[3, 2], [4, 2]]]), torch.tensor([[True, True]]))
    tensor([0.5000], dtype=torch.float64)
    """
    number = mask.sum(dim=1)
    differ = pairs_that_differ(counterfactuals, mask[:, :, None].expand_as(counterfactuals))
    mean = differ.double().mean(dim=1) / pairs_of(number).clamp(min=1)
    return torch.where(number > 0, mean, torch.nan)
