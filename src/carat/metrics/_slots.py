"""What the metrics share: changed domains, means over the filled slots, pairs of counterfactuals."""

from __future__ import annotations

import torch
from torch import Tensor


def changed(base: Tensor, counterfactuals: Tensor) -> Tensor:
    """Domains in which counterfactuals [n, K, m] differ from their record [n, m]; bool [n, K, m].

    Ids are compared, so two unseen entities of one domain count as the same.
    """
    return counterfactuals != base[:, None, :]


def mean_over_slots(values: Tensor, mask: Tensor) -> Tensor:
    """Mean of values [n, K] over the slots that hold a counterfactual; float64 [n], NaN where none does.

    >>> mean_over_slots(torch.tensor([[1.0, 3.0], [5.0, 7.0]]), torch.tensor([[True, True], [False, False]]))
    tensor([2., nan], dtype=torch.float64)
    """
    # Padding may hold NaN, which a product with 0 would keep.
    return torch.where(mask, values.double(), 0.0).sum(dim=1) / mask.sum(dim=1)


def pairs_of(count: Tensor) -> Tensor:
    """Number of unordered pairs among `count` things, in its shape."""
    return count * (count - 1) // 2


def pairs_that_differ(ids: Tensor, included: Tensor) -> Tensor:
    """Number of pairs of slots that have different entities in a domain; int64 [n, m].

    All pairs less the pairs that are alike. Sorting brings like entities together, so memory grows with K and not
    with its square.

    Args:
        ids: int [n, K, m].
        included: the slots that count in each domain, bool [n, K, m].

    >>> pairs_that_differ(torch.tensor([[[5], [6], [5], [9]]]), torch.tensor([[[True], [True], [True], [False]]]))
    tensor([[2]])
    """
    # Ids are not negative, so −1 is a run of its own.
    ordered = torch.where(included, ids, -1).sort(dim=1).values
    place = torch.arange(ids.shape[1], device=ids.device)[None, :, None].expand_as(ordered)
    begins = torch.ones_like(included)
    begins[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    start = torch.where(begins, place, 0).cummax(dim=1).values
    # The place within a run of c like entities goes from 0 to c − 1; these sum to the number of pairs in it.
    alike = torch.where(ordered >= 0, place - start, 0).sum(dim=1)
    return pairs_of(included.sum(dim=1)) - alike
