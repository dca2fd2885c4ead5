"""Which stored records to look at: all of them, or those that share the most telling entities, by inverted lists."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST
from carat.memory.store import Records


@dataclass(frozen=True)
class Alike:
    """Stored records for each of a batch of questions.

    Args:
        group: which groups, int64 [b, L]; −1 where there are no more.
        ids: their entities, int32 [b, m, L]: domain by domain, for that is how they are asked.
        matches: where they hold the entity asked about, bool [b, m, L].
        weight: how many records each stands for, float [b, L]; 0 at the padding.
    """

    group: Tensor
    ids: Tensor
    matches: Tensor
    weight: Tensor


def all_records(records: Records, ids: Tensor) -> Alike:
    """Every group, for records ids int64 [b, m]."""
    count = len(ids)
    mine = records.columns[None].expand(count, -1, -1)
    return Alike(
        torch.arange(len(records), device=ids.device).expand(count, -1),
        mine,
        (mine == ids[..., None]) & (ids >= FIRST)[..., None],
        records.count.float().expand(count, -1),
    )


def alike(records: Records, ids: Tensor, known: Tensor, limit: int) -> Alike:
    """The groups in the shortest inverted lists of each record's known entities, at most `limit` of them.

    Lists are taken whole, the shortest first; the one that no longer fits is thinned out evenly, and what is taken of
    it stands for the rest. A group in several lists is taken from the shortest. What is found for a record depends
    on nothing but the record.

    Args:
        records: who is looked for.
        ids: the records asked about, int64 [b, m].
        known: which of their entities are, bool [b, m].
        limit: groups for each record, at most.
    """
    starts, groups = records.lists
    groups = groups if len(groups) else groups.new_zeros(1)  # nothing is known of anybody
    rows = torch.where(known, ids + records.vocabulary.offsets.to(ids.device), 0)
    length = (starts[rows + 1] - starts[rows]) * known  # [b, m]
    order = length.masked_fill(length == 0, torch.iinfo(torch.int64).max).argsort(dim=1, stable=True)
    length = length.gather(1, order)
    before = length.cumsum(dim=1) - length
    taken = (limit - before).clamp(min=0).minimum(length)  # [b, m], in the order of the lists
    ends = taken.cumsum(dim=1)
    width = max(int(ends[:, -1].max()) if len(ids) else 0, 1)  # one at least: a sum over nobody is 0
    slot = torch.arange(width, device=ids.device).expand(len(ids), -1).contiguous()
    which = torch.searchsorted(ends, slot, right=True).clamp(max=ids.shape[1] - 1)  # [b, L]
    there = slot < ends[:, -1:]
    inside = slot - (ends - taken).gather(1, which)
    full, some = length.gather(1, which), taken.gather(1, which).clamp(min=1)
    place = starts[rows.gather(1, order)].gather(1, which) + inside * full // some
    group = groups[place.clamp(max=len(groups) - 1)].to(torch.int64).masked_fill(~there, 0)
    found = torch.stack([column[group] for column in records.columns], dim=1)
    matches = (found == ids[..., None]) & known[..., None] & there[:, None]
    # Taken from a shorter list already: matching an entity whose list comes before this one.
    rank = order.argsort(dim=1)  # place of each domain's list
    again = (matches & (rank[..., None] < which[:, None])).any(dim=1)
    kept = there & ~again
    weight = records.count[group] * kept * (full / some)
    return Alike(group.masked_fill(~kept, -1), found, matches & kept[:, None], weight.float())
