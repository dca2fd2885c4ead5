"""Which records there were, whatever their order: a small sketch of a table, to know its records again."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from torch import Tensor

from carat.data.training_data import TrainingData

SIZE = 4_096
"""Keys kept: those of a table of as many different records, a uniform sample of a longer one."""
EVERY = 0xFFFF_FFFF
"""The largest key: a sketch with this limit holds all of them."""
SURE = 2.0
"""Standard errors by which a table must differ from later records before it is taken for training records.

With 2, no part of the flights that follow the first 40,000 is, neither days in a row nor all flights of one entity;
any 1,000 of those 40,000 are. `tests/data/test_sketch.py` counts it.
"""


def hashes(ids: Tensor) -> np.ndarray:
    """One hash per record ids [n, m], uint64 [n]; the same on every machine.

    >>> import torch
    >>> one, two, again = hashes(torch.tensor([[2, 3], [3, 2], [2, 3]]))
    >>> bool(one == again), bool(one == two)
    (True, False)
    """
    found = np.zeros(len(ids), dtype=np.uint64)
    for column in ids.cpu().numpy().T:  # the steps of splitmix64, one entity after the other
        found += (column.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        found = (found ^ (found >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        found = (found ^ (found >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


class Gathered:
    """What is kept of records that pass by: the smallest keys, the number of rows, and the sum of all hashes."""

    def __init__(self) -> None:
        self.keys = np.empty(0, dtype=np.uint32)
        self.limit = EVERY
        self.rows, self.total = 0, 0

    def add(self, ids: Tensor) -> Self:
        """The next records, [n, m]."""
        found = hashes(ids)
        self.rows += len(found)
        self.total = (self.total + int(found.sum(dtype=np.uint64))) % (1 << 64)
        keys = _keys(found)
        self.keys = np.union1d(self.keys, keys[keys <= self.limit])
        return self._cut()

    def merge(self, other: Gathered) -> Self:
        """Records that passed by another one, as if they had passed by here."""
        self.rows += other.rows
        self.total = (self.total + other.total) % (1 << 64)
        self.limit = min(self.limit, other.limit)
        keys = np.union1d(self.keys, other.keys)
        self.keys = keys[keys <= self.limit]
        return self._cut()

    def _cut(self) -> Self:
        if len(self.keys) > SIZE:
            self.keys = self.keys[:SIZE]
            self.limit = int(self.keys[-1])
        return self


@dataclass(frozen=True)
class Sketch:
    """Enough of the training records to tell whether a table consists of them.

    Many tables hold the same record many times, so a later record that equals a training record proves nothing. Rare
    records do: those that training held once, or not at all. Of the rare records of a later table, few are ones that
    training held once. How many, the held-out records show. In a copy of the training table, most of them are.

    Args:
        once: keys of the records that training held once, ascending, uint32.
        more: keys of those it held more often.
        limit: all keys up to here are kept.
        rows: of the whole table, held-out records included.
        total: sum of the hashes of all those rows; a shuffled copy has the same.
        chance: of the different held-out records that are rare, how many training held once; and how many are rare.
    """

    once: np.ndarray
    more: np.ndarray
    limit: int
    rows: int
    total: int
    chance: tuple[int, int]

    @classmethod
    def of(cls, data: TrainingData) -> Sketch:
        """Of the records that are learned from; the held-out ones say what later records look like."""
        train, held_out = hashes(data.train), hashes(data.held_out)
        keys, counts = np.unique(_keys(train), return_counts=True)
        once, more = keys[counts == 1], keys[counts > 1]
        limit = EVERY if len(keys) <= SIZE else int(keys[SIZE - 1])
        total = int(train.sum(dtype=np.uint64)) + int(held_out.sum(dtype=np.uint64))
        return cls(
            once[once <= limit],
            more[more <= limit],
            limit,
            len(train) + len(held_out),
            total % (1 << 64),
            _rare(np.unique(_keys(held_out)), once, more),
        )

    def same_rows(self, met: Gathered) -> bool:
        """Whether these are the rows of the whole table, in any order."""
        return (met.rows, met.total) == (self.rows, self.total)

    def most_of(self, met: Gathered) -> bool:
        """Whether most of these records are training records, and not merely equal to some."""
        limit = min(self.limit, met.limit)
        once, more, keys = (part[part <= limit] for part in (self.once, self.more, met.keys))
        learned, rare = _rare(keys, once, more)
        chance = bound(*self.chance, SURE)
        return bound(learned, rare, -SURE) > (1 + chance) / 2

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back."""
        keys = {name: base64.b64encode(getattr(self, name).astype("<u4").tobytes()).decode() for name in KEYS}
        return {
            **keys,
            "limit": self.limit,
            "rows": self.rows,
            "total": f"{self.total:016x}",
            "chance": list(self.chance),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Sketch:
        """The inverse of `to_json`."""
        once, more = (np.frombuffer(base64.b64decode(facts[name]), dtype="<u4") for name in KEYS)
        first, second = facts["chance"]
        return cls(once, more, facts["limit"], facts["rows"], int(facts["total"], 16), (first, second))


KEYS = ("once", "more")


def _keys(found: np.ndarray) -> np.ndarray:
    """The upper half of each hash: enough to tell ten million records apart but for two in a thousand."""
    keys: np.ndarray = (found >> np.uint64(32)).astype(np.uint32)
    return keys


def _rare(keys: np.ndarray, once: np.ndarray, more: np.ndarray) -> tuple[int, int]:
    """Of different records: how many training held once; and how many it held once or not at all."""
    learned = int(np.isin(keys, once).sum())
    return learned, len(keys) - int(np.isin(keys, more).sum())


def bound(hits: int, of: int, errors: float) -> float:
    """Wilson's bound of a share, so many standard errors above (or, negative, below) what was counted.

    >>> round(bound(9, 10, -3), 2), bound(0, 0, 3)
    (0.43, 1.0)
    """
    square = errors * errors
    spread = errors * math.sqrt(hits * (of - hits) / of + square / 4) if of else errors * abs(errors) / 2
    return (hits + square / 2 + spread) / (of + square)
