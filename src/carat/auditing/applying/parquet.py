"""Change cells of a Parquet file: types, metadata and row groups stay as they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from carat.auditing.applying.csv import changed_meanwhile
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.typed import as_stands, replaced, typed
from carat.errors import InputError
from carat.observing import Stage


def patch_parquet(
    table: Path, out: Path, edits: Sequence[Edit], label: str, stage: Stage | None = None
) -> list[tuple[str | None, str | None]]:
    """Write a copy of a Parquet file with some cells changed, one row group at a time.

    Args:
        table: is read.
        out: is written.
        edits: by row and column, each cell at most once.
        label: how messages call the table.
        stage: is told how many rows are done.

    Returns:
        What stood in each cell and what stands there now, so that it can be put back: an empty text is "", null is
        None, NaN is "nan".
    """
    made: dict[tuple[int, int], tuple[str | None, str | None]] = {}
    rows = np.array([edit.row for edit in edits], dtype=np.int64)
    with pq.ParquetFile(table) as file:
        schema = file.schema_arrow
        with pq.ParquetWriter(out, schema, **_settings(file)) as writer:
            at = 0
            for number in range(file.num_row_groups):
                group = file.read_row_group(number)
                first, last = np.searchsorted(rows, [at, at + group.num_rows]).tolist()
                group = _patched(group, edits[first:last], at, label, made)
                writer.write_table(group, row_group_size=max(group.num_rows, 1))
                at += group.num_rows
                if stage is not None:
                    stage.advance(group.num_rows)
    return [made[edit.row, edit.column] for edit in edits]


def _patched(
    group: pa.Table,
    edits: Sequence[Edit],
    at: int,
    label: str,
    made: dict[tuple[int, int], tuple[str | None, str | None]],
) -> pa.Table:
    """A row group whose first row has the number `at`, with cells changed; `made` gathers what they held and hold."""
    for place in sorted({edit.column for edit in edits}):
        mine = [edit for edit in edits if edit.column == place]
        field, rows = group.schema.field(place), np.array([edit.row - at for edit in mine], dtype=np.int64)
        stands = as_stands(group.column(place), rows, field.name)
        if any(_shown(text) != _shown(edit.before) for edit, text in zip(mine, stands, strict=True)):
            raise changed_meanwhile(label)
        values = _values(mine, field, label)
        group = group.set_column(place, field, replaced(group.column(place), rows, values))
        now = as_stands(group.column(place), rows, field.name)
        made.update({(edit.row, place): pair for edit, pair in zip(mine, zip(stands, now, strict=True), strict=True)})
    return group


def _shown(text: str | None) -> str | None:
    """As the reader takes a cell: what is empty or not a number is missing."""
    return None if text in ("", "nan") else text


def _values(edits: Sequence[Edit], field: pa.Field, label: str) -> pa.Array:
    values = typed([edit.after for edit in edits], field.type, field.name, label)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        # An empty text is asked for where one stood before, and is all that a column without nulls can take.
        return pa.array([edit.after if field.nullable else edit.after or "" for edit in edits], values.type)
    if not field.nullable and values.null_count:
        row = next(edit.row for edit in edits if not edit.after)
        raise InputError(f"{label}: column '{field.name}' can't be blank, as row {row} would be")
    return values


def _settings(file: pq.ParquetFile) -> dict[str, Any]:
    """How a file is packed, for a file that is packed likewise."""
    about = file.metadata
    if not about.num_row_groups:
        return {}
    columns = [about.row_group(0).column(place) for place in range(about.num_columns)]
    codecs = {c.path_in_schema: "NONE" if c.compression == "UNCOMPRESSED" else c.compression for c in columns}
    return {
        "compression": codecs,
        "use_dictionary": [c.path_in_schema for c in columns if c.has_dictionary_page],
        "version": about.format_version if about.format_version in ("1.0", "2.4", "2.6") else "2.6",
    }
