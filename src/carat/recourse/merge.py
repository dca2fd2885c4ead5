"""Several lists of candidates as one."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.vocabulary import MISSING

LEAST = -1e30
"""Below any log-weight, and finite: −∞ less −∞ would be no number."""


def merge(ids: Tensor, log_weight: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each entity once, with the weights of its mentions summed up; best first, ties by id.

    Args:
        ids: int64 [..., L], `MISSING` where padded.
        log_weight: [..., L], −∞ where padded.

    Returns:
        ids and log-weights [..., L'], cut to the longest list, and for every mention its place there, int64 [..., L];
        that of padding is of no meaning.

    >>> merge(torch.tensor([[3, 2, 3, 0]]), torch.tensor([[0.5, 0.4, 0.25, -torch.inf]]).log())[0].tolist()
    [[3, 2]]
    """
    sorted_ids, mention = ids.sort(dim=-1, stable=True)
    weight = log_weight.gather(-1, mention)
    first = torch.ones_like(ids, dtype=torch.bool)
    first[..., 1:] = sorted_ids[..., 1:] != sorted_ids[..., :-1]
    group = first.cumsum(dim=-1) - 1
    # One entry a group, relative to the best of the group, so that the sum neither overflows nor vanishes.
    best = torch.full_like(weight, -torch.inf).scatter_reduce_(-1, group, weight, "amax").clamp_(min=LEAST)
    total = torch.zeros_like(weight).scatter_add_(-1, group, (weight - best.gather(-1, group)).exp()).log() + best
    entity = torch.zeros_like(ids).scatter_(-1, group, sorted_ids)
    total = total.masked_fill(entity == MISSING, -torch.inf)
    # Groups ascend by id and the sort is stable: among equals the lower id, the more frequent entity, comes first.
    total, order = total.sort(dim=-1, descending=True, stable=True)
    entity = entity.gather(-1, order).masked_fill(total == -torch.inf, MISSING)
    longest = int((entity != MISSING).sum(dim=-1).max()) if ids.numel() else 0
    place_of_group = torch.zeros_like(order).scatter_(
        -1, order, torch.arange(ids.shape[-1], device=ids.device).expand_as(order)
    )
    place = torch.zeros_like(order).scatter_(-1, mention, place_of_group.gather(-1, group))
    return entity[..., :longest], total[..., :longest], place
