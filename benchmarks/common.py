"""What the benchmarks share."""

from __future__ import annotations

from carat.datasets import Dataset
from carat.experiments.bench import read_dataset
from carat.experiments.contest import train_rows


def read(name: str) -> tuple[Dataset, int]:
    """A dataset by name or file, and how many of its records to train on."""
    dataset = read_dataset(name)
    return dataset, train_rows(dataset)
