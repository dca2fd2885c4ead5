"""Which combinations of replacements are best: all of them while they fit the budget, else best-first by beam.

A beam goes target by target and keeps the best partial combinations; wide enough to keep them all, it is the grid.
Records of a batch have the same number of targets and are searched together; memory is bounded by `CELLS`, not by the
number of combinations.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.protocols import Terms

BUDGET = 200_000
"""Combinations a record, by default."""
HURRIED = 2_000
"""Combinations a record once the time is up."""
CELLS = 2_000_000
"""Upper limit on the combinations of all records held at once; what fits the caches is quicker besides."""
CELLS_ON_GPU = 256_000_000
"""The same on a GPU, which is idle between two calls."""

ROUND = 16
"""Lists are cut at a multiple of so many, so that the grid divides into blocks."""
BLOCKS = (256, 128, 64, 32, 16, 8)
"""In which the largest of a long list are looked for."""


@dataclass(frozen=True, kw_only=True)
class SearchLimits:
    """How far a search may go.

    Args:
        budget: combinations scored for each record, at most.
        seconds: for a batch; what is left then gets a hurried search instead of a full one.
    """

    budget: int = BUDGET
    seconds: float = 60.0

    def clock(self) -> Clock:
        """Starts now."""
        return Clock(time.monotonic() + self.seconds)


@dataclass(frozen=True)
class Clock:
    """When time is up."""

    deadline: float

    def over(self) -> bool:
        """Whether it is."""
        return time.monotonic() >= self.deadline


@dataclass(frozen=True)
class Combinations:
    """The best combinations of a batch.

    Args:
        index: which candidate of each target, int64 [n, C, t].
        value: by which they are ordered, best first, [n, C]; −∞ where there are no more.
        exhausted: whether every combination of a record was looked at, bool [n].
    """

    index: Tensor
    value: Tensor
    exhausted: Tensor

    @property
    def mask(self) -> Tensor:
        """Which combinations exist, bool [n, C]."""
        return self.value > -torch.inf


Finish = Callable[[slice, list[Tensor]], Tensor]
"""Turns the totals [n, C] of several terms, for a part of the records, into the value to order by."""


def search(
    terms: list[Terms], mask: Tensor, k: int, *, limits: SearchLimits, clock: Clock, finish: Finish | None = None
) -> Combinations:
    """The k best combinations of every record.

    Args:
        terms: what is summed up; partial combinations are compared by the first, whole ones by `finish` of all.
        mask: which candidates exist, bool [n, t, L]; every target has at least one.
        k: how many.
        limits: budget and time.
        clock: when the time is up.
        finish: from the totals to the value; None takes the first.
    """
    widths, hurried = (_widths(mask.sum(dim=2), budget) for budget in (limits.budget, min(limits.budget, HURRIED)))
    lengths = _lengths(mask)
    kept = [1, *(_rounded(width) for width in (widths.amax(dim=0).tolist() if len(widths) else []))]
    cells = CELLS if mask.device.type == "cpu" else CELLS_ON_GPU
    size = max(cells // max(width * length for width, length in zip(kept, lengths, strict=False)), 1)
    parts = [
        _search_part(terms, mask, k, slice(start, start + size), hurried if clock.over() else widths, finish)
        for start in range(0, max(len(mask), 1), size)
    ]
    # Parts differ in width: each is as wide as its own records need.
    width = max(part.value.shape[1] for part in parts)
    return Combinations(
        torch.cat([_widen(part.index, width, 0) for part in parts]),
        torch.cat([_widen(part.value, width, -torch.inf) for part in parts]),
        torch.cat([part.exhausted for part in parts]),
    )


def _widths(counts: Tensor, budget: int) -> Tensor:
    """How many partial combinations each record keeps before each target but the first, int64 [n, t - 1].

    A record whose combinations fit the budget keeps all of them; another one shares the budget out among its targets.
    What a record finds depends on nothing but itself.

    Args:
        counts: candidates of each target, [n, t].
        budget: combinations a record.
    """
    partial = counts.double().cumprod(dim=1)
    share = budget // (counts.amax(dim=1, keepdim=True) * max(counts.shape[1] - 1, 1))
    # Even so large a number as the product of many targets is cut before it is made whole.
    return torch.where(partial[:, -1:] <= budget, partial[:, :-1].clamp(max=budget).long(), share.clamp(min=1))


def _lengths(mask: Tensor) -> list[int]:
    """For each target, where its longest list ends, rounded up."""
    most = mask.shape[2]
    used = mask.any(dim=0) * torch.arange(1, most + 1, device=mask.device)
    return [min(_rounded(max(end, 1)), most) for end in used.amax(dim=1).tolist()]


def _rounded(count: int) -> int:
    return -(-count // ROUND) * ROUND


def _search_part(
    terms: list[Terms], mask: Tensor, k: int, rows: slice, widths: Tensor, finish: Finish | None
) -> Combinations:
    mask, widths = mask[rows], widths[rows]
    records, lengths = len(mask), _lengths(mask)
    totals = [
        (term.constant[rows, None] + term.unary[rows, 0]).masked_fill(~mask[:, 0], -torch.inf)[:, : lengths[0]]
        for term in terms
    ]
    # The candidates of the targets so far, [n, C, level]; the last one is implied by the place in `totals`.
    index = torch.empty((records, 1, 0), dtype=torch.int64, device=mask.device)
    exhausted = torch.ones(records, dtype=torch.bool, device=mask.device)
    for level, own in enumerate(widths.unbind(dim=1), start=1):
        exhausted &= (totals[0] > -torch.inf).sum(dim=1) <= own
        _, place = top(totals[0], _rounded(int(own.max()) if records else 1))
        # A record with a narrow beam keeps to it, though others of the part have wider ones.
        beyond = torch.arange(place.shape[1], device=mask.device) >= own[:, None]
        index = _unfold(index, place, lengths[level - 1])
        length = lengths[level]
        missing = ~mask[:, None, level, :length]
        for number, term in enumerate(terms):
            partial = totals[number].gather(1, place).masked_fill_(beyond, -torch.inf)
            grown = partial[..., None] + term.unary[rows, level, :length][:, None]
            for earlier in range(level if term.pair is not None else 0):
                assert term.pair is not None
                pair = term.pair(earlier, level, rows)[..., :length]
                grown += pair.gather(1, index[..., earlier, None].expand(-1, -1, length))
            totals[number] = grown.masked_fill_(missing, -torch.inf).flatten(1)
    value = totals[0]
    if finish is not None:
        value = finish(rows, totals).masked_fill(totals[0] == -torch.inf, -torch.inf)
    value, place = top(value, k)
    return Combinations(_unfold(index, place, lengths[-1]), value, exhausted)


def _unfold(index: Tensor, place: Tensor, most: int) -> Tensor:
    """Partial combinations [n, C, l] and places in the C · L ones that extend them → [n, C', l + 1]."""
    earlier = index.gather(1, (place // most)[..., None].expand(-1, -1, index.shape[2]))
    return torch.cat([earlier, (place % most)[..., None]], dim=2)


def _widen(part: Tensor, width: int, fill: float) -> Tensor:
    missing = width - part.shape[1]
    if not missing:
        return part
    return torch.cat([part, part.new_full((part.shape[0], missing, *part.shape[2:]), fill)], dim=1)


def top(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k largest of values [n, C] and their places, best first; among equals the first place wins.

    >>> top(torch.tensor([[1.0, 2.0, 2.0, 2.0]]), 2)[1].tolist()
    [[1, 2]]
    """
    k = min(k, values.shape[1])
    place = _places(values, k) if k else values.new_empty((len(values), 0), dtype=torch.int64)
    # `topk` picks among equals as it likes, so where the last place is contested, the row is sorted instead.
    best = values.gather(1, place)
    if k:
        last = best.amin(dim=1, keepdim=True)
        contested = ((values == last).sum(dim=1) > (best == last).sum(dim=1)) & (last.squeeze(1) > -torch.inf)
        rows = torch.nonzero(contested).flatten()
        if len(rows):
            place[rows] = values[rows].argsort(dim=1, descending=True, stable=True)[:, :k]
    place = place.sort(dim=1).values
    best, order = values.gather(1, place).sort(dim=1, descending=True, stable=True)
    return best, place.gather(1, order)


def _places(values: Tensor, k: int) -> Tensor:
    """Places of the k largest of values [n, C], int64 [n, k], in any order.

    The k largest are in the k blocks with the largest maxima; looking only there is several times quicker.
    """
    count = values.shape[1]
    block = next((size for size in BLOCKS if count % size == 0 and count >= 4 * k * size), 0)
    if not block:
        return values.topk(k, dim=1).indices
    _, chosen = values.view(len(values), -1, block).amax(dim=2).topk(k, dim=1)
    place = (chosen[..., None] * block + torch.arange(block, device=values.device)).flatten(1)
    return place.gather(1, values.gather(1, place).topk(k, dim=1).indices)
