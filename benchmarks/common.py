"""What the benchmarks share."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from carat.data import open_source, scan
from carat.datasets import Dataset, find_dataset

TRAIN_ROWS = {"flights": 40_000, "openflights_routes": 43_000, "shipments:us_import": 38_291}


def read(name: str) -> Dataset:
    """A dataset by name, or a Parquet file without a schema of its own: every text column, random split."""
    dataset = find_dataset(name)
    if dataset is None:
        table = pq.read_table(name)
        schema = scan(open_source(table)).schema
        dataset = Dataset(name=Path(name).stem, table=table, schema=schema, synthetic=False, about=name)
    return dataset
