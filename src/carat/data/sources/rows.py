"""Which row of a table somebody means who hands over the row itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from carat.data.sources.frames import ambiguity, is_record
from carat.data.text import texts_of
from carat.errors import InputError

OF_OUTPUT = (("record", "rank"), ("record", "column", "reason"))
"""Columns of an output, of which `record` names the row."""


def row_of(data: Any) -> Any | None:
    """One row as a pandas Series or a dictionary, out of what holds it: also a frame of one row; None for none."""
    if is_record(data) or isinstance(data, Mapping):
        return data
    if not hasattr(data, "columns") or not hasattr(data, "shape"):
        return None
    if data.shape[0] != 1:
        raise InputError(f"one row is explained at a time, and the frame has {data.shape[0]:,}; pass one of them")
    if hasattr(data, "iloc"):
        return data.iloc[0]
    found = data.to_pylist() if hasattr(data, "to_pylist") else data.to_dicts()
    return found[0]


def of_output(row: Any) -> bool:
    """Whether a row is one of an output, not one of the user's own table."""
    return any(all(column in row for column in columns) for columns in OF_OUTPUT)


def name_of(row: Any, like: Any, id: str | None) -> Any:
    """What names a row in the outputs.

    Args:
        row: a pandas Series or a dictionary.
        like: the frame that it is a row of.
        id: the column that names the rows; None where the index of a pandas frame or the place of the row does.
    """
    if of_output(row):
        return row["record"]
    if id is not None:
        if id not in row:
            raise InputError(f"rows are named by column '{id}', and this one has none; pass its ID instead")
        return texts_of([row[id]], id)[0]
    why = ambiguity(like)
    if why is not None or not is_record(row):
        if why is None:
            raise InputError("nothing in this row names it; pass its number, index label or ID instead")
        raise InputError(
            f"the index of the frame {why}, so rows go by their position; pass that instead of the row, counted from 0"
        )
    return row.name


def check_same(row: Any, stands: Mapping[str, str | None], name: Any) -> None:
    """Refuse a row that only bears the name of another: some of its values differ.

    Args:
        row: a pandas Series or a dictionary.
        stands: what the row of that name holds, as text, by column.
        name: of the row.
    """
    names = {str(column): column for column in (row.index if is_record(row) else row)}
    for column, text in stands.items():
        if column in names and texts_of([row[names[column]]], column)[0] != text:
            raise InputError(
                f"row {name!r} of the data has another value in column '{column}' than this one, so it is another row; "
                "pass the row's number, index label or ID"
            )
