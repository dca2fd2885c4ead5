"""Different ideas instead of many spellings of one: greedy selection by maximal marginal relevance."""

from __future__ import annotations

import torch
from torch import Tensor


def diverse(counterfactuals: Tensor, base: Tensor, mask: Tensor, k: int, weight: float) -> Tensor:
    """Choose k one after the other, each good and unlike those chosen before it.

    A counterfactual's worth is its place in the list (1 for the first, towards 0 at the end); what it loses is its
    likeness to the most similar one chosen: the share of the entities changed in either that both changed alike.

    Args:
        counterfactuals: in their order, best first, int64 [n, C, m].
        base: the records, [n, m].
        mask: which counterfactuals exist, bool [n, C].
        k: how many to choose.
        weight: of likeness against worth, 0 (keep the order) to 1 (as different as can be).

    Returns:
        Places of the chosen, in the order of choice, int64 [n, min(k, C)].
    """
    records, count = mask.shape
    k = min(k, count)
    changed = counterfactuals != base[:, None]
    # By how many there are, not by how many there is room for: that depends on the other records of a batch.
    worth = 1 - torch.arange(count, device=mask.device) / mask.sum(dim=1, keepdim=True).clamp(min=1)
    value = (1 - weight) * worth
    likeness = torch.zeros((records, count), device=mask.device)
    free = torch.ones_like(mask)
    chosen = torch.empty((records, k), dtype=torch.int64, device=mask.device)
    for turn in range(k):
        # What does not exist comes after everything that does, in its order.
        gain = (value - weight * likeness).masked_fill(~mask, -2.0) - (~mask) * (1 - worth)
        pick = gain.masked_fill(~free, -torch.inf).argmax(dim=1, keepdim=True)
        chosen[:, turn : turn + 1] = pick
        free.scatter_(1, pick, False)
        record = counterfactuals.gather(1, pick[..., None].expand(-1, -1, base.shape[1]))
        moved = changed.gather(1, pick[..., None].expand(-1, -1, base.shape[1]))
        same = (changed & moved & (counterfactuals == record)).sum(dim=2)
        likeness = torch.maximum(likeness, same / (changed | moved).sum(dim=2).clamp(min=1))
    return chosen
