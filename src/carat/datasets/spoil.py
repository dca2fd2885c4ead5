"""A table of your own with made-up errors in it, and the list of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from carat.arguments import check_number, check_seed, known_arguments
from carat.data.slips import KINDS, slip
from carat.data.sources import frame_like, open_source
from carat.data.text import to_text


@known_arguments
def spoil(
    frame: Any,
    share: float = 0.05,
    *,
    kinds: Sequence[str] | Mapping[str, float] = KINDS,
    recurring: float = 0.3,
    columns: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Any, Any]:
    """Put made-up errors into a table, to see which of them an audit finds.

    All columns come back as text, null where they are blank. No cell gets two errors, and every error changes the text.

    ```python
    from carat.datasets import flights, spoil

    dirty, truth = spoil(flights().table.slice(0, 1000), share=0.05, seed=1)
    ```

    Args:
        frame: a pandas, polars or pyarrow frame, or the path of a table.
        share: of the cells that hold something.
        kinds: any of `typo`, `other` (another value of the column), `foreign` (a value of another column), `swap` (two
            cells of a row exchanged), `case`, `spacing`, `punctuation`, `abbreviation`, `accent`, `order` (of words),
            `unit`, `placeholder` (`N/A`) and `blank`, in equal numbers; or a dictionary of their weights.
        recurring: share of the errors that are made in the same way in several rows that hold the same value.
        columns: where errors may be made; None for everywhere.
        seed: of every random choice.

    Returns:
        The spoiled table, and one row per error: `record` (row number from 0, or the label of a pandas index),
        `column`, `before`, `after`, `kind`, and `group`, a number that errors made together share. Both are frames of
        the same library as `frame`, or Arrow tables.
    """
    share, recurring, seed = check_number("share", share), check_number("recurring", recurring), check_seed(seed)
    source = open_source(frame)
    parts = [
        pa.table(
            [to_text(column, name) for column, name in zip(batch.columns, source.names, strict=True)], source.names
        )
        for batch in source.batches(source.names)
    ]
    table = pa.concat_tables([pa.schema([(name, pa.string()) for name in source.names]).empty_table(), *parts])
    made = slip(table, share=share, kinds=kinds, recurring=recurring, columns=columns, seed=seed)
    truth = made.truth()
    index = getattr(source, "index", None)
    if index is not None:
        truth = truth.set_column(0, "record", index.take(pa.array(made.row)))
    return frame_like(made.table, frame, same_rows=True), frame_like(truth, frame)
