"""Records that join a model and records that leave it, in ids that never move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data.splits import time_split
from carat.data.table import Table
from carat.data.training_data import HELD_OUT_AT_MOST, HELD_OUT_SHARE
from carat.data.vocabulary import FIRST, Vocabulary
from carat.memory.store import merged


@dataclass(frozen=True)
class Joined:
    """Records that join.

    Args:
        vocabulary: with their new entities at its end, which are not counted yet.
        ids: in that vocabulary, int32 [n, m].
        held_out: which of them are held out, bool [n].
    """

    vocabulary: Vocabulary
    ids: Tensor
    held_out: Tensor

    @classmethod
    def of(cls, table: Table, held_out: Tensor, *, min_count: int = 1) -> Joined:
        """The records of a table that was read with the model's vocabulary.

        Args:
            table: the records.
            held_out: which of them are, bool [n].
            min_count: entities that come less often stay unseen.
        """
        ids, texts = table.ids.clone(), {}
        for number, domain in enumerate(table.vocabulary.domains):
            mine = np.flatnonzero(table.unseen.domain == number)
            if not len(mine) or domain.bins is not None:  # what is no number gets no range of its own
                continue
            text = table.unseen.text.take(pa.array(mine))
            new = _often(text, min_count)
            place = pc.index_in(text, value_set=new).to_numpy(zero_copy_only=False)
            known = ~np.isnan(place.astype(np.float64))
            rows = torch.from_numpy(table.unseen.row[mine[known]])
            first = FIRST + len(domain.entities)
            ids[rows, number] = torch.from_numpy(place[known].astype(np.int32)) + first
            texts[domain.name] = new
        vocabulary = table.vocabulary.extended(texts) if any(len(new) for new in texts.values()) else table.vocabulary
        return cls(vocabulary, ids, held_out)


def _often(text: pa.Array, min_count: int) -> pa.Array:
    """The texts that come at least so often, the most frequent first, ties by text."""
    counted = text.value_counts()
    table = pa.table({"text": counted.field("values"), "count": counted.field("counts")})
    table = table.filter(pc.greater_equal(table["count"], min_count))
    table = table.sort_by([("count", "descending"), ("text", "ascending")])
    return table["text"].combine_chunks().cast(pa.string())


def newest(table: Table) -> Tensor:
    """The newest tenth of the records, at most 5,000: by their time, else the last rows; bool [n]."""
    held_out = torch.zeros(len(table), dtype=torch.bool)
    if len(table) < 2:
        return held_out
    if table.time is None:
        count = min(max(round(len(table) * HELD_OUT_SHARE), 1), HELD_OUT_AT_MOST)
        held_out[len(table) - count :] = True
    else:
        held_out[time_split(table.time, HELD_OUT_SHARE, at_most=HELD_OUT_AT_MOST)[1]] = True
    return held_out


def leaving(pool: Tensor, wanted: Tensor) -> Tensor:
    """Which records of a pool, int32 [n, m], leave, bool [n]: as many of each as there are wanted ones, the first ones.

    >>> leaving(torch.tensor([[2, 2], [2, 3], [2, 2]]), torch.tensor([[2, 2], [5, 5]])).tolist()
    [True, False, False]
    """
    group = merged(torch.cat([pool, wanted]).to(torch.int32))[1].to(torch.int64)
    mine, theirs = group[: len(pool)], group[len(pool) :]
    number = int(group.max()) + 1 if len(group) else 0
    asked = torch.bincount(theirs, minlength=number)
    order = mine.argsort(stable=True)
    held = torch.bincount(mine, minlength=number)
    start = held.cumsum(0) - held
    rank = torch.empty_like(mine)
    rank[order] = torch.arange(len(mine)) - start[mine[order]]
    return rank < asked[mine]
