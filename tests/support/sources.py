"""Shared by the tests of `carat.data`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from carat.data import Domain, Vocabulary
from carat.data.sources import Source
from carat.data.text import to_text


def columns_of(source: Source, columns: Sequence[str] | None = None) -> dict[str, list[str | None]]:
    """All rows of a source, as text."""
    names = list(columns or source.names)
    found: dict[str, list[str | None]] = {name: [] for name in names}
    for batch in source.batches(names):
        for name, array in zip(names, batch.columns, strict=True):
            found[name] += to_text(array, name).to_pylist()
    return found


def vocabulary_of(**domains: Sequence[str]) -> Vocabulary:
    """A vocabulary with these entities, each seen once."""
    return Vocabulary(
        tuple(
            Domain(name, pa.array(entities, pa.string()), np.ones(len(entities), np.int64))
            for name, entities in domains.items()
        )
    )
