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

BLOCKS = (256, 128, 64, 32, 16, 8)
"""In which the largest of a long list are looked for."""


@dataclass(frozen=True, kw_only=True)
class Limits:
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
    terms: list[Terms], mask: Tensor, k: int, *, limits: Limits, clock: Clock, finish: Finish | None = None
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
    widths = _widths(mask.sum(dim=2), mask.shape[2], limits.budget)
    hurried = _widths(mask.sum(dim=2), mask.shape[2], HURRIED)
    size = max(CELLS // (max(widths, default=1) * mask.shape[2]), 1)
    parts = [
        _search_part(terms, mask, k, slice(start, start + size), hurried if clock.over() else widths, finish)
        for start in range(0, max(len(mask), 1), size)
    ]
    # Parts differ in width only where time ran out between them.
    width = max(part.value.shape[1] for part in parts)
    return Combinations(
        torch.cat([_widen(part.index, width, 0) for part in parts]),
        torch.cat([_widen(part.value, width, -torch.inf) for part in parts]),
        torch.cat([part.exhausted for part in parts]),
    )


def _widths(counts: Tensor, most: int, budget: int) -> list[int]:
    """How many partial combinations to keep before each target but the first.

    Records whose combinations fit the budget keep all of theirs; the others share the budget out among the targets.

    Args:
        counts: candidates of each target, [n, t].
        most: candidates that a target is padded to.
        budget: combinations a record.
    """
    partial = counts.double().cumprod(dim=1)
    fits = partial[partial[:, -1] <= budget]
    share = max(budget // (most * max(counts.shape[1] - 1, 1)), 1)
    whole = fits.max(dim=0).values.long().tolist() if len(fits) else [0] * counts.shape[1]
    return [max(share, kept) for kept in whole[:-1]]


def _search_part(
    terms: list[Terms], mask: Tensor, k: int, rows: slice, widths: list[int], finish: Finish | None
) -> Combinations:
    mask = mask[rows]
    records, most = len(mask), mask.shape[2]
    totals = [(term.constant[rows, None] + term.unary[rows, 0]).masked_fill(~mask[:, 0], -torch.inf) for term in terms]
    # The candidates of the targets so far, [n, C, level]; the last one is implied by the place in `totals`.
    index = torch.empty((records, 1, 0), dtype=torch.int64, device=mask.device)
    exhausted = torch.ones(records, dtype=torch.bool, device=mask.device)
    for level, width in enumerate(widths, start=1):
        exhausted &= (totals[0] > -torch.inf).sum(dim=1) <= width
        _, place = top(totals[0], width)
        index = _unfold(index, place, most)
        for number, term in enumerate(terms):
            grown = totals[number].gather(1, place)[..., None] + term.unary[rows, level][:, None]
            for earlier in range(level if term.pair is not None else 0):
                assert term.pair is not None
                pair = term.pair(earlier, level, rows)
                grown += pair.gather(1, index[..., earlier, None].expand(-1, -1, most))
            totals[number] = grown.masked_fill_(~mask[:, None, level], -torch.inf).flatten(1)
    value = totals[0]
    if finish is not None:
        value = finish(rows, totals).masked_fill(totals[0] == -torch.inf, -torch.inf)
    value, place = top(value, k)
    return Combinations(_unfold(index, place, most), value, exhausted)


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
