"""A small explainer and small tables for the tests."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from carat.data import Columns, Table, TrainingData, open_source, scan
from carat.testing.parts import small_explainer as small

__all__ = ["small", "training_data"]


def training_data(table: pa.Table, **options: Any) -> TrainingData:
    """All columns of a table as domains, split."""
    source = open_source(table)
    found = scan(source, Columns(domains=table.column_names, **options))
    ids = Table.read(source, found.schema, found.vocabulary, found.rows).ids
    return TrainingData.split(ids, found.vocabulary)
