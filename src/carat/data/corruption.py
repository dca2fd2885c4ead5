"""Synthetic anomalies: normal records in which one or two entities were replaced, with the truth kept."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary
from carat.errors import InputError, warn_renamed

ROUNDS = 200
"""Tries before a record is given up; a domain of two entities often has none that is out of context."""


@dataclass(frozen=True)
class Anomalies:
    """Corrupted records with what they were.

    Args:
        ids: the corrupted records, int32 [n, m].
        original: the records before, int32 [n, m].
        corrupted: the gold answer, bool [n, m].
        row: of each in the table they were made from, int64 [n]; records that could not be corrupted are not here.
    """

    ids: Tensor
    original: Tensor
    corrupted: Tensor
    row: Tensor

    @property
    def source(self) -> Tensor:
        """The former name of `row`."""
        warn_renamed("Anomalies.source", "Anomalies.row")
        return self.row

    def __len__(self) -> int:
        return len(self.ids)


def corrupt(
    ids: Tensor,
    vocabulary: Vocabulary,
    pairs: Pairs,
    *,
    changes: tuple[int, ...] = (1, 2),
    out_of_context: bool = True,
    seed: int = 0,
) -> Anomalies:
    """Replace entities of normal records by random others of the same domain.

    Args:
        ids: normal records, [n, m]; missing entities are left alone.
        vocabulary: what the ids mean.
        pairs: co-occurrence counts of the training records.
        changes: how many domains to corrupt; the records share these numbers out in turn.
        out_of_context: a new entity must never have occurred in training with at least one kept entity of the
            record, so that it really is out of context.
        seed: decides domains and entities.
    """
    generator = torch.Generator().manual_seed(seed)
    known = ids >= FIRST
    wanted = torch.tensor(changes).repeat(len(ids) // len(changes) + 1)[: len(ids)]
    if len(ids) and int(wanted.max()) >= ids.shape[1]:
        raise InputError(f"{max(changes)} corruptions need a record of at least {max(changes) + 1} domains")
    result, mask = ids.clone(), torch.zeros_like(known)
    open_rows = torch.nonzero(known.sum(dim=1) > wanted).flatten()
    for _ in range(ROUNDS):
        if not len(open_rows):
            break
        base = ids[open_rows]
        chosen = _choose(known[open_rows], wanted[open_rows], generator)
        new = torch.where(chosen, _others(base, vocabulary, generator), base)
        good = (new != base).eq(chosen).all(dim=1)
        if out_of_context:
            good &= _out_of_context(new, chosen, known[open_rows] & ~chosen, vocabulary, pairs)
        done = open_rows[good]
        result[done], mask[done] = new[good], chosen[good]
        open_rows = open_rows[~good]
    row = torch.nonzero(mask.any(dim=1)).flatten()
    return Anomalies(result[row], ids[row], mask[row], row)


def _choose(known: Tensor, wanted: Tensor, generator: torch.Generator) -> Tensor:
    """For each record, `wanted` of its known domains at random; bool [n, m]."""
    order = torch.rand(known.shape, generator=generator).masked_fill(~known, 2.0)
    return order.argsort(dim=1).argsort(dim=1) < wanted[:, None]


def _others(ids: Tensor, vocabulary: Vocabulary, generator: torch.Generator) -> Tensor:
    """A uniformly drawn entity for every position, int32 [n, m]."""
    entities = vocabulary.sizes - FIRST
    draw = (torch.rand(ids.shape, generator=generator, dtype=torch.float64) * entities).to(torch.int64)
    return (draw.minimum(entities - 1) + FIRST).to(ids.dtype)


def _out_of_context(new: Tensor, chosen: Tensor, kept: Tensor, vocabulary: Vocabulary, pairs: Pairs) -> Tensor:
    """Whether every chosen entity has a kept one that it never occurred with; bool [n]."""
    rows = new.to(torch.int64) + vocabulary.offsets
    together = pairs.count(rows[:, :, None], rows[:, None, :])
    strange = ((together == 0) & kept[:, None, :]).any(dim=2)
    return (strange | ~chosen).all(dim=1)
