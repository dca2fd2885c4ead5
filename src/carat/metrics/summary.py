"""Summary: one number for every method, from all metrics on all datasets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping


def summary(values: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[str, float]:
    """Average each metric over datasets, min-max normalise it over methods, average over metrics.

    All metrics must be of the kind where higher is better. The result depends on which methods are compared: the
    best of them at a metric gets 1 for it, the worst 0.

    A value that is not there (no entry, or NaN) is left out of the averages: a method is averaged over the datasets it
    has, then over the metrics it has; a method with nothing to average gets NaN. A metric on which all methods are
    equal, or that one method alone has, is left out too: it does not tell methods apart, and any number in its place
    would move those that have it against those that do not.

    Args:
        values: metric → dataset → method → mean over the anomalies.

    Returns:
        Method → summary, in the order in which the methods first appear.

    >>> summary({
    ...     "coherence": {"flights": {"a": 0.1, "b": 0.3, "c": 0.2}},
    ...     "validity": {"flights": {"a": 0.0, "b": 0.8, "c": 1.0}},
    ... })  # coherence: 0, 1, 0.5; validity: 0, 0.8, 1
    {'a': 0.0, 'b': 0.9, 'c': 0.75}
    """
    methods = list(dict.fromkeys(m for datasets in values.values() for row in datasets.values() for m in row))
    normalised = []
    for datasets in values.values():
        means = {method: _mean(row.get(method, math.nan) for row in datasets.values()) for method in methods}
        there = [mean for mean in means.values() if not math.isnan(mean)]
        # Means that differ by rounding alone are equal; spread over 0 to 1, the rounding would decide.
        if there and not math.isclose(min(there), max(there), rel_tol=1e-9):
            low, high = min(there), max(there)
            normalised.append({method: (mean - low) / (high - low) for method, mean in means.items()})
    return {method: _mean(metric[method] for metric in normalised) for method in methods}


def _mean(values: Iterable[float]) -> float:
    """Mean of what is there; NaN when nothing is."""
    there = [value for value in values if not math.isnan(value)]
    return math.fsum(there) / len(there) if there else math.nan
