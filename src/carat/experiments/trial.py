"""A trial: records to train on, later ones to test on, and the same later ones with corruptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data import Anomalies, Columns, Schema, Table, TrainingData, corrupt, open_source, scan
from carat.errors import InputError


@dataclass(frozen=True)
class Trial:
    """Everything a comparison needs, all of it following from the data and a seed.

    Args:
        schema: domains and metapaths.
        train: the training records as they came, oldest first where there is a time.
        data: the same as ids, with the held-out part.
        normal: later records whose entities are all known, int32 [t, m].
        anomalies: those of `normal` that could be corrupted, corrupted.
        later: all later records whose entities are all known, int32 [l, m].
    """

    schema: Schema
    train: pa.Table
    data: TrainingData
    normal: Tensor
    anomalies: Anomalies
    later: Tensor


def make_trial(
    table: pa.Table,
    schema: Schema,
    *,
    train_rows: int,
    tested: int = 2_000,
    take: Literal["next", "spread"] = "next",
    changes: tuple[int, ...] = (1, 2),
    seed: int = 0,
) -> Trial:
    """Split a table by its time column (at random where it has none) and corrupt later records.

    Records with a missing entity take no part, as in the paper.

    Args:
        table: the records.
        schema: domains and time column.
        train_rows: how many complete records to train on.
        tested: how many later records to corrupt.
        take: the `next` ones after the training records, or `spread` over all that follow.
        changes: numbers of corruptions, shared out in turn.
        seed: decides the random split, the hold-out and the corruptions.
    """
    table = _complete(table, schema.domains)
    if schema.time is not None:
        table = table.take(pc.sort_indices(table[schema.time]))
    else:
        table = table.take(pa.array(np.random.default_rng(seed).permutation(table.num_rows)))
    if table.num_rows <= train_rows:
        raise InputError(f"{table.num_rows:,} complete records are too few to train on {train_rows:,} and test")
    train = table.slice(0, train_rows)
    source = open_source(train)
    found = scan(source, Columns(domains=schema.domains, numeric=schema.numeric, metapaths=schema.metapaths))
    ids = Table.read(source, found.schema, found.vocabulary, found.rows).ids
    data = TrainingData.split(ids, found.vocabulary, seed=seed)
    rest = Table.read(open_source(table.slice(train_rows)), found.schema, found.vocabulary)
    later = rest.ids[rest.complete()]
    if take == "next":
        normal = later[:tested]
    else:
        order = torch.randperm(len(later), generator=torch.Generator().manual_seed(seed))
        normal = later[order[:tested]]
    anomalies = corrupt(normal, found.vocabulary, data.pairs, changes=changes, seed=seed)
    return Trial(found.schema, train, data, normal, anomalies, later)


def _complete(table: pa.Table, domains: tuple[str, ...]) -> pa.Table:
    mask = pc.is_valid(table[domains[0]])
    for name in domains[1:]:
        mask = pc.and_(mask, pc.is_valid(table[name]))
    return table.filter(mask)
