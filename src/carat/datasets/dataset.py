"""What every bundled or generated dataset looks like."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from carat.data.schema import Schema


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """A table with its schema and where it comes from.

    Args:
        name: how the command line calls it.
        table: the rows, oldest first where there is a time column.
        schema: domains, time column and metapaths.
        synthetic: True when the rows were generated; anything that shows them must say so.
        about: provenance and licence in a sentence or two.
        train_rows: how many records benchmarks train on; None leaves it to them.
    """

    name: str
    table: pa.Table = field(repr=False)
    schema: Schema = field(repr=False)
    synthetic: bool
    about: str
    train_rows: int | None = None
