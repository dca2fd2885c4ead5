"""What every part of a model is fitted on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa
import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.splits import TIME, random_split, time_split
from carat.data.vocabulary import FIRST, Vocabulary

HELD_OUT_SHARE = 0.1
HELD_OUT_AT_MOST = 5_000


@dataclass(frozen=True)
class Fold:
    """Which records are learned from, and which are held out for early stopping, calibration and reference scores.

    Args:
        train: row numbers, int64 [n].
        held_out: row numbers, int64 [v].
    """

    train: Tensor
    held_out: Tensor

    @classmethod
    def random(cls, rows: int, *, seed: int = 0) -> Fold:
        """Holds out 10 % of the rows at random, at most 5,000."""
        return cls(*random_split(rows, HELD_OUT_SHARE, seed=seed, at_most=HELD_OUT_AT_MOST))

    @classmethod
    def newest(cls, time: pa.Array, *, name: str = TIME) -> Fold:
        """Holds out as many, but the newest ones, by the time of each record [n]; errors call it by `name`."""
        earlier, later = time_split(time, HELD_OUT_SHARE, at_most=HELD_OUT_AT_MOST, name=name)
        return cls(earlier.sort().values, later.sort().values)


@dataclass(frozen=True)
class TrainingData:
    """Records to learn from, and held-out ones for early stopping, calibration and reference scores.

    The vocabulary covers both; the pair counts only the records to learn from, so that the held-out ones are as
    new to every detector as later records will be.

    Args:
        train: int32 [n, m].
        held_out: int32 [v, m].
        vocabulary: what the ids mean.
        advance: told of every two domains whose pairs were counted, for a progress display.
        counted: the pair counts, where they are known already.
    """

    train: Tensor
    held_out: Tensor
    vocabulary: Vocabulary
    advance: Callable[[int], None] | None = None
    counted: Pairs | None = None

    @classmethod
    def split(
        cls,
        ids: Tensor,
        vocabulary: Vocabulary,
        *,
        seed: int = 0,
        fold: Fold | None = None,
        advance: Callable[[int], None] | None = None,
    ) -> TrainingData:
        """Records ids [n, m] as a fold says; None holds out at random by the seed."""
        chosen = fold or Fold.random(len(ids), seed=seed)
        return cls(ids[chosen.train], ids[chosen.held_out], vocabulary, advance)

    @cached_property
    def pairs(self) -> Pairs:
        """Co-occurrence counts of the records to learn from."""
        return Pairs.of(self.train, self.vocabulary, self.advance) if self.counted is None else self.counted

    @property
    def first_half(self) -> Tensor:
        """Every other held-out record, int32 [v', m]: for early stopping, and to learn to weigh what others learned."""
        return self.held_out[0::2]

    @property
    def second_half(self) -> Tensor:
        """The other held-out records, int32 [v'', m]: for calibration, and for every figure that is told of a model."""
        return self.held_out[1::2]

    def marginals(self) -> Tensor:
        """Share of each entity among the known ones of its domain in the training records, float32 [total].

        Reserved ids have 0; an entity that is only in held-out records has a little.
        """
        rows = torch.where(self.train >= FIRST, self.train.to(torch.int64) + self.vocabulary.offsets, 0)
        counts = torch.bincount(rows.flatten(), minlength=self.vocabulary.total).double()
        parts = []
        for size, offset in zip(self.vocabulary.sizes.tolist(), self.vocabulary.offsets.tolist(), strict=True):
            part = counts[offset : offset + size].clamp(min=0.5)
            part[:FIRST] = 0
            parts.append(part / part.sum())
        return torch.cat(parts).float()
