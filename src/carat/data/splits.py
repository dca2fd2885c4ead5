"""Splits: by time or at random, always the same for the same seed."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data.text import all_numbers, to_number
from carat.errors import InputError

TIME = "the time column"
_YEAR_FIRST = r"^\d{4}(\D?[WQ]\d{1,2}|\D\d{2}(\D\d{2}(\D.*)?)?)?\s*$"
"""Dates as text that sort by time: 2024-12-30, with or without the time of day, 2024-12, 2024Q4."""


def random_split(rows: int, share: float, *, seed: int = 0, at_most: int | None = None) -> tuple[Tensor, Tensor]:
    """Row numbers of the kept and of the held-out part, each in ascending order.

    Args:
        rows: how many there are.
        share: held out, 0 < share < 1; at least one row stays on either side.
        seed: decides which.
        at_most: upper limit on the rows held out.

    >>> kept, held_out = random_split(10, 0.2)
    >>> len(kept), len(held_out)
    (8, 2)
    """
    count = min(_held_out(rows, share), rows if at_most is None else at_most)
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    return order[count:].sort().values, order[:count].sort().values


def time_split(time: pa.Array, share: float, *, at_most: int | None = None, name: str = TIME) -> tuple[Tensor, Tensor]:
    """Row numbers of the earlier and of the later part, oldest first; rows of equal time keep their order.

    A record without a time can't be placed and is an error, and so is text that does not sort by time. Numbers in text
    sort as numbers, dates that begin with the year as text.

    Args:
        time: of each record, [n].
        share: of the records in the later part.
        at_most: upper limit on the later part.
        name: how errors call the column.
    """
    if time.null_count:
        rows = "1 row" if time.null_count == 1 else f"{time.null_count:,} rows"
        raise InputError(f"{name} is blank in {rows}; fill it in, or leave out `time` to hold out random rows")
    if pa.types.is_large_string(time.type) or pa.types.is_string_view(time.type):
        time = time.cast(pa.string())
    if pa.types.is_string(time.type):
        time = _sortable(time, name)
    order = torch.from_numpy(pc.sort_indices(time).to_numpy().astype("int64"))
    count = min(_held_out(len(time), share), len(time) if at_most is None else at_most)
    return order[:-count], order[-count:]


def _sortable(time: pa.Array, name: str) -> pa.Array:
    if all_numbers(time):
        return pa.array(to_number(time, "time"))
    odd = time.filter(pc.invert(pc.match_substring_regex(time, _YEAR_FIRST)))
    if len(odd):
        raise InputError(
            f"{name} holds '{odd[0]}', which does not sort by time; convert it, in pandas with pd.to_datetime"
        )
    return time


def _held_out(rows: int, share: float) -> int:
    if rows < 2:
        raise InputError(f"a split needs at least two rows, got {rows}")
    if not 0 < share < 1:
        raise InputError(f"the share held out must lie between 0 and 1, got {share}")
    return min(max(round(rows * share), 1), rows - 1)
