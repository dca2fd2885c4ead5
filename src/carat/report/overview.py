"""The table at a glance: how many rows, how many of them anomalous, and how their scores are spread."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

BINS = 40
"""Bars of a histogram, about."""
TAIL = 0.005
"""Between these quantiles most scores lie; the histogram reaches as far again on either side, at most."""


@dataclass(frozen=True)
class Overview:
    """All records that were scored, also those that the report does not list.

    Args:
        records: how many.
        anomalous: how many of them are.
        counts: of the histogram of their scores, [b].
        edges: of its bars, ascending, [b + 1].
        threshold: anomalous begins below this score.
        described: whose scores the histogram shows, in words.
    """

    records: int
    anomalous: int
    counts: tuple[int, ...]
    edges: tuple[float, ...]
    threshold: float
    described: str = "all rows"

    def __post_init__(self) -> None:
        if len(self.edges) != len(self.counts) + 1:
            raise ValueError(f"{len(self.counts)} counts need {len(self.counts) + 1} edges, got {len(self.edges)}")

    @classmethod
    def of(
        cls, scores: Tensor, threshold: float, reference: Tensor | None = None, *, anomalous: int | None = None
    ) -> Overview:
        """Of the scores [n] of all records; the histogram reaches to those of the reference, [r].

        How many are anomalous follows from the scores, unless it is said.

        So counterfactuals have their place in it, also where the records themselves are few and all of them strange.
        """
        values = scores.double().numpy()
        counts, edges, beyond = histogram(
            values, threshold, cover=None if reference is None else reference.double().numpy()
        )
        described = f"{len(values):,} row{'' if len(values) == 1 else 's'}{beyond}"
        found = int((values < threshold).sum()) if anomalous is None else anomalous
        return cls(len(values), found, counts, edges, threshold, described)

    @classmethod
    def of_result(
        cls, scores: Tensor, reference: Tensor, threshold: float, *, anomalous: int | None = None
    ) -> Overview:
        """Of the scores of a result's own records, [n], with the reference's spread, [r], as the histogram."""
        values, normal = scores.double().numpy(), reference.double().numpy()
        counts, edges, beyond = histogram(normal, threshold, cover=values)
        described = f"{len(normal):,} normal rows held out of training{beyond}"
        found = int((values < threshold).sum()) if anomalous is None else anomalous
        return cls(len(values), found, counts, edges, threshold, described)


def histogram(
    values: np.ndarray, threshold: float, *, cover: np.ndarray | None = None
) -> tuple[tuple[int, ...], tuple[float, ...], str]:
    """Counts, edges, and a remark where the outermost bars hold more than their range; the threshold is an edge.

    Args:
        values: what is counted, [n].
        threshold: where one bar ends and the next begins.
        cover: further values that the edges are to reach, [c].
    """
    values = values[np.isfinite(values)]
    reached = values if cover is None else np.concatenate([values, cover[np.isfinite(cover)]])
    reached = np.append(reached, threshold)
    # The spread is that of what is counted: a few records far out must not squeeze all others into one bar. And it
    # is reached beyond the threshold, not up to it: what is anomalous has bars of its own.
    low, high = np.quantile(np.append(values, threshold), [TAIL, 1 - TAIL])
    spread = high - low or 1.0
    low = max(reached.min(), min(low, threshold) - spread)
    high = min(reached.max(), max(high, threshold) + spread)
    step = (high - low) / BINS or 1.0
    first, last = np.floor((low - threshold) / step), np.ceil((high - threshold) / step)
    edges = threshold + step * np.arange(first, max(last, first + 1) + 1)
    inside = np.clip(values, edges[0], edges[-1])
    beyond = "; the outermost bars include everything beyond them" if (inside != values).any() else ""
    counts, _ = np.histogram(inside, edges)
    return tuple(counts.tolist()), tuple(edges.tolist()), beyond
