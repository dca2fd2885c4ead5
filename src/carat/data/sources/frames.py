"""Frames in memory, and the way back into the user's own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from carat.data.sources.base import BATCH_ROWS, Source, check_columns, check_names
from carat.errors import InputError


def open_frame(data: Any, label: str = "the table") -> Source:
    """A frame of pandas, polars or pyarrow, or a dictionary of columns."""
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, dict):
        data = _table_from_dict(data)
    return FrameSource(data, label)


class FrameSource:
    """A frame in memory, of pandas, polars, pyarrow or anything else that narwhals knows."""

    def __init__(self, frame: Any, label: str) -> None:
        self.label = label
        self._table = arrow_table(frame, label)
        self.names = check_names(self._table.column_names, label)

    def about_rows(self) -> int | None:
        """Exactly so many."""
        return int(self._table.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


def arrow_table(frame: Any, label: str = "the table") -> pa.Table:
    """Any frame as an Arrow table; a column that can't be one is named."""
    if isinstance(frame, pa.Table):
        return frame
    try:
        wrapped = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"{label}: expected a path or a frame (pandas, polars, pyarrow), got {type(frame).__name__}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        names = [str(name) for name in frame.columns]
        check_names(names, label)
        raise InputError(f"{label}: column names repeat; rename them") from error
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect()
    names = check_names([str(name) for name in wrapped.columns], label)
    arrays = []
    for column, name in zip(wrapped.iter_columns(), names, strict=True):
        try:
            arrays.append(column.to_arrow())
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeEncodeError) as error:
            kinds = sorted({type(value).__name__ for value in column.to_list() if value is not None})
            raise InputError(
                f"{label}: column '{name}' mixes types or can't be read ({', '.join(kinds)}); make it all text"
            ) from error
    return pa.table(arrays, names=names)


def frame_like(table: pa.Table, like: Any) -> Any:
    """An Arrow table in the frame library of `like`; Arrow itself where `like` is a path or unknown."""
    if isinstance(like, str | Path | dict | pa.Table | pa.RecordBatch):
        return table
    backend = nw.from_native(like).implementation
    if backend is nw.Implementation.PYARROW:
        return table
    return nw.from_arrow(table, backend=backend).to_native()


def _table_from_dict(columns: dict[Any, Any]) -> pa.Table:
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[str(name)] = pa.array(values)
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise InputError(f"column '{name}' mixes types; make it all text") from error
    try:
        return pa.table(arrays)
    except pa.ArrowInvalid as error:
        raise InputError("the columns have different lengths") from error
