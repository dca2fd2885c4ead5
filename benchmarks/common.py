"""What the benchmarks share."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carat.datasets import Dataset
from carat.experiments.bench import read_dataset
from carat.experiments.contest import train_rows

DRAWS = 10_000


def read(name: str) -> tuple[Dataset, int]:
    """A dataset by name or file, and how many of its records to train on."""
    dataset = read_dataset(name)
    return dataset, train_rows(dataset)


def seeds_of(text: str) -> list[int]:
    """Seeds as a command line gives them: 0,1,2."""
    return [int(part) for part in text.split(",")]


def mean_of(found: Sequence[dict[str, float]]) -> dict[str, float]:
    """The mean of each figure over several lines, to four places."""
    return {name: round(sum(one[name] for one in found) / len(found), 4) for name in found[0]}


def paired_interval(difference: Sequence[float], *, seed: int = 0) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of paired differences."""
    values = np.asarray(difference, dtype=np.float64)
    generator = np.random.default_rng(seed)
    means = [values[generator.integers(len(values), size=len(values))].mean() for _ in range(DRAWS)]
    low, high = np.quantile(means, [0.025, 0.975])
    return round(float(low), 4), round(float(high), 4)
