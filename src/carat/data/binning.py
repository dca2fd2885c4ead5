"""Quantile bins for numeric columns: a bin is an entity, and reads as a range."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from carat.errors import InputError

SAMPLE = 262_144
"""Values kept for the quantiles: exact up to here, a uniform sample beyond, so memory stays bounded."""


class Sample:
    """A uniform sample of a stream of numbers, the same for the same stream."""

    def __init__(self, size: int = SAMPLE) -> None:
        self._size = size
        self._rng = np.random.default_rng(0)
        self._values = np.empty(0)
        self._priority = np.empty(0)
        self._seen = 0

    def add(self, values: np.ndarray) -> None:
        """Take more of the stream; NaN is missing and does not count."""
        values = values[~np.isnan(values)]
        self._seen += len(values)
        self._values = np.concatenate([self._values, values])
        self._priority = np.concatenate([self._priority, self._rng.random(len(values))])
        if len(self._values) > self._size:
            keep = np.argpartition(self._priority, self._size)[: self._size]
            self._values, self._priority = self._values[keep], self._priority[keep]

    def bins(self, count: int, column: str) -> Bins:
        """At most `count` bins of about equal weight; fewer where values repeat."""
        if not len(self._values):
            raise InputError(f"numeric column '{column}' holds no number at all")
        values = np.unique(self._values)
        # As many bins as values: each has its own, however rare.
        few = len(values) <= count
        cuts = values[1:] if few else np.quantile(self._values, np.linspace(0, 1, count + 1)[1:-1])
        # Rounded first and used rounded, so that a printed range says exactly where its edges are; to as few digits
        # as keep the cuts apart.
        exact = np.unique(cuts[np.isfinite(cuts) & (cuts > self._values.min())])
        if not len(exact):  # its least value is nearly everywhere: that one, and everything above
            above = self._values[self._values > self._values.min()]
            exact = np.unique(above[np.isfinite(above)])[:1]
        for digits in (6, 9, 12, 17):
            cuts = np.unique([float(f"{cut:.{digits}g}") for cut in exact])
            cuts = cuts[(cuts > self._values.min()) & (cuts <= self._values.max())]
            if len(cuts) == len(exact):
                break
        if not len(cuts):
            raise InputError(f"numeric column '{column}' has only one value and can't be cut into bins; leave it out")
        return Bins(tuple(cuts.tolist()))

    def counts(self, bins: Bins) -> np.ndarray:
        """About how many values of the whole stream lie in each bin (exactly, while the sample holds them all)."""
        in_sample = np.bincount(bins.index(self._values), minlength=len(bins.cuts) + 1)
        return np.round(in_sample * (self._seen / len(self._values))).astype(np.int64)


@dataclass(frozen=True)
class Bins:
    """Half-open ranges between increasing cuts; the outer two are open-ended.

    >>> bins = Bins((12.5, 18.0))
    >>> bins.texts()
    ['below 12.5', '12.5 to below 18', '18 or more']
    >>> bins.index(np.array([12.5, 99, np.nan])).tolist()
    [1, 2, -1]
    """

    cuts: tuple[float, ...]

    def texts(self) -> list[str]:
        """How each bin reads, lowest first."""
        edges = [_plain(cut) for cut in self.cuts]
        between = [f"{low} to below {high}" for low, high in itertools.pairwise(edges)]
        return [f"below {edges[0]}", *between, f"{edges[-1]} or more"]

    def index(self, values: np.ndarray) -> np.ndarray:
        """Number of the bin of each value, −1 for NaN."""
        found = np.searchsorted(np.asarray(self.cuts), values, side="right")
        return np.where(np.isnan(values), -1, found)


def _plain(number: float) -> str:
    """A number as people write it, and exactly: 18, not 18.0."""
    exact = float(number)
    return str(int(exact)) if exact.is_integer() and abs(exact) < 1e15 else repr(exact)
