"""New values in a column of Arrow: text becomes what the column holds, and every other cell stays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.data.text import to_text
from carat.errors import InputError


class UnfitError(InputError):
    """A text is no value of the column that it should be put in."""

    def __init__(self, text: str, column: str, takes: str, label: str) -> None:
        super().__init__(f"column '{column}' of {label} takes {takes}, not '{text}'")
        self.text, self.column = text, column


def typed(texts: Sequence[str | None], kind: pa.DataType, column: str, label: str) -> pa.Array:
    """Texts as values of a type; None and "" are null.

    Raises:
        UnfitError: where a text is none of that type.
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    filled = pa.array([text or None for text in texts], pa.string())
    if filled.null_count == len(filled):
        return pa.nulls(len(filled), kind)  # blanks fit types that no text can be read as
    if pa.types.is_boolean(kind):
        filled = pc.utf8_lower(filled)
    try:
        return filled.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        bad = next(text for text in texts if text and not _fits(text, kind))
        raise UnfitError(bad, column, _in_words(kind), label) from None


def _in_words(kind: pa.DataType) -> str:
    """What a column of a type takes.

    >>> _in_words(pa.bool_()), _in_words(pa.date32()), _in_words(pa.int16())
    ('true or false', 'a date such as 2024-03-05', 'a whole number that fits int16')
    """
    if pa.types.is_boolean(kind):
        return "true or false"
    if pa.types.is_date(kind):
        return "a date such as 2024-03-05"
    if pa.types.is_timestamp(kind):
        zone = "+00:00" if kind.tz else ""
        return f"a time such as 2024-03-05 13:30:00{zone}"
    if pa.types.is_time(kind):
        return "a time such as 13:30:00"
    if pa.types.is_integer(kind):
        return f"a whole number that fits {kind}"
    return "a number" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else f"values of the type {kind}"


def replaced(column: pa.ChunkedArray, rows: np.ndarray, values: pa.Array) -> pa.ChunkedArray:
    """A column with new values in some rows.

    Args:
        column: [n].
        rows: row numbers in order, int64 [k].
        values: of the type of the column, or of the values of a dictionary, [k].
    """
    parts = []
    at = 0
    for chunk in column.chunks:
        first, last = np.searchsorted(rows, [at, at + len(chunk)]).tolist()
        mine = values.slice(first, last - first)
        parts.append(_replaced(chunk, rows[first:last] - at, mine) if len(mine) else chunk)
        at += len(chunk)
    return pa.chunked_array(parts, column.type)


def as_stands(column: pa.ChunkedArray, rows: np.ndarray, name: str) -> list[str | None]:
    """What stands in some rows, as text that gives back the very value: an empty text is not null, nor is NaN."""
    cells = column.take(pa.array(rows)).combine_chunks()
    if pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_decode()
    read: list[str | None] = to_text(cells, name).to_pylist()
    exact: dict[str, str] = {"": "", "nan": "nan"}
    given = [None if value is None else exact.get(str(value)) for value in cells.to_pylist()]
    return [text if text is not None else kept for text, kept in zip(read, given, strict=True)]


def _replaced(chunk: pa.Array, rows: np.ndarray, values: pa.Array) -> pa.Array:
    kind = chunk.type
    if pa.types.is_dictionary(kind):
        chunk = chunk.dictionary_decode()
    # Every cell is taken from the old ones or from the new ones behind them.
    places = np.arange(len(chunk), dtype=np.int64)
    places[rows] = len(chunk) + np.arange(len(rows))
    made = pa.concat_arrays([chunk, values]).take(pa.array(places))
    return made.cast(kind) if pa.types.is_dictionary(kind) else made


def _fits(text: str, kind: pa.DataType) -> bool:
    try:
        pa.array([text]).cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return False
    return True
