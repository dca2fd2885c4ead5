"""A small explainer and small tables for the tests."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from carat.data import Columns, Table, TrainingData, open_source, scan
from carat.explain import TransformerExplainer


def small(**settings: Any) -> TransformerExplainer:
    """Trains on the planted table in a few seconds."""
    defaults: dict[str, Any] = {"dim": 16, "layers": 1, "heads": 2, "bilinear": 8, "epochs": (25, 15, 8)}
    return TransformerExplainer(**{**defaults, "batch_size": 64, **settings})


def training_data(table: pa.Table, **options: Any) -> TrainingData:
    """All columns of a table as domains, split."""
    source = open_source(table)
    found = scan(source, Columns(domains=table.column_names, **options))
    ids = Table.read(source, found.schema, found.vocabulary, found.rows).ids
    return TrainingData.split(ids, found.vocabulary)
