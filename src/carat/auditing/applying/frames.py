"""Change cells of a frame: a new frame of the same library, with the same index and the same types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from carat.auditing.applying.choosing import Choice, Rules
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.planning import Plan, naming_the_cell, plan
from carat.auditing.applying.typed import UnfitError, replaced, typed
from carat.auditing.decisions import CellList
from carat.data.sources import open_source
from carat.data.sources.frames import arrow_table, frame_of, is_record
from carat.datasets import Dataset
from carat.observing import Logged, Observer, Remark
from carat.registry import named_data

LABEL = "the table"


def apply_to_frame(
    cells: CellList,
    frame: Any,
    rules: Rules,
    *,
    id: str | None = None,
    encoding: str | None = None,
    observer: Observer | None = None,
) -> tuple[Any, Plan]:
    """A copy of a frame with cells changed; the table of a file or a dictionary comes back in Arrow.

    A cell that should become blank stays as it is where the type of its column has no blank; a remark says so.

    Args:
        cells: the list.
        frame: of pandas, polars or pyarrow, a dictionary of columns, a path, or the name of a dataset.
        rules: how sure a proposal must be.
        id: column that names the rows; None is the one that the audit had, the index of a pandas frame, or the row
            number.
        encoding: of a CSV file; None is UTF-8.
        observer: is told how far it is, and of remarks; None logs those.
    """
    data = named_data(frame)
    data = data.table if isinstance(data, Dataset) else data
    if is_record(data):
        fixed, done = apply_to_frame(cells, data.to_frame().T, rules, id=id, encoding=encoding, observer=observer)
        return fixed.iloc[0], done
    if isinstance(data, str | Path):
        data = _loaded(data, encoding or (cells.about.get("options") or {}).get("encoding"))
    else:
        data = frame_of(data)
    made = plan(cells, data, rules, id=id, observer=observer)
    made = _without_blanks(made, data, observer or Logged())
    with naming_the_cell(made, cells):
        return _edited(data, made.edits), made


def _without_blanks(made: Plan, data: Any, observer: Observer) -> Plan:
    """The plan without the blanks that the column of a pandas frame can't hold, and what is fixed together with one."""
    if not hasattr(data, "iloc"):  # in polars and Arrow every column can hold a blank
        return made
    lacking = {place: kind for place, kind in enumerate(data.dtypes) if _has_no_blank(kind)}
    pairs = list(zip(made.edits, made.choices, strict=True))
    stay = [pair for pair in pairs if not pair[0].after and pair[0].column in lacking]
    for place in dict.fromkeys(edit.column for edit, _ in stay):
        records = [choice.cell.record for edit, choice in stay if edit.column == place]
        kind, name = lacking[place], data.columns[place]
        cells = f"1 cell stays as it is (row {records[0]})"
        if len(records) > 1:
            cells = f"{len(records):,} cells stay as they are (row {records[0]}, …)"
        text = f"column '{name}' holds {kind}, which can't be blank, so {cells}; convert it first: "
        text += f"df.astype({{{name!r}: '{_WIDER[kind.kind].format(8 * kind.itemsize)}'}})"
        observer.remark(Remark("not-blank", text, warning=True))
    together = {_group(choice) for _, choice in stay} - {None}
    kept = [
        pair for pair in pairs if (pair[0].after or pair[0].column not in lacking) and _group(pair[1]) not in together
    ]
    return replace(made, edits=[edit for edit, _ in kept], choices=[choice for _, choice in kept])


def _group(choice: Choice) -> str | None:
    """What a cell is fixed together with; whoever types another value fixes it by itself."""
    typed_in = choice.cell.decision is not None and choice.cell.decision.word == "text"
    return None if typed_in else choice.cell.group


_WIDER = {"i": "Int{}", "u": "UInt{}", "b": "boolean"}
"""By the kind of a type without a blank, the pandas type that has one."""


def _has_no_blank(kind: Any) -> bool:
    return kind.kind in _WIDER and not hasattr(kind, "na_value")


def _loaded(path: str | Path, encoding: str | None) -> pa.Table:
    source = open_source(path, encoding=encoding)
    batches = list(source.batches(source.names))
    return pa.Table.from_batches(batches) if batches else pa.table({name: pa.nulls(0) for name in source.names})


def _edited(data: Any, edits: Sequence[Edit]) -> Any:
    if isinstance(data, pa.Table):
        for place in sorted({edit.column for edit in edits}):
            mine = [edit for edit in edits if edit.column == place]
            field, rows = data.schema.field(place), np.array([edit.row for edit in mine], dtype=np.int64)
            values = typed([edit.after for edit in mine], field.type, field.name, LABEL)
            data = data.set_column(place, field, replaced(data.column(place), rows, values))
        return data
    frame: Any = nw.from_native(data)
    if isinstance(frame, nw.LazyFrame):
        return _edited(frame.collect().to_native(), edits).lazy()
    if frame.implementation is nw.Implementation.PANDAS:
        return _edited_pandas(data, edits)
    for place in sorted({edit.column for edit in edits}):
        mine = [edit for edit in edits if edit.column == place]
        column = frame[frame.columns[place]]
        values = _plain(column, mine)
        frame = frame.with_columns(column.scatter([edit.row for edit in mine], values))
    return frame.to_native()


def _edited_pandas(data: Any, edits: Sequence[Edit]) -> Any:
    """Column by column in place of a copy, so that what is missing elsewhere stays missing in its own way."""
    data = data.copy()
    for place in sorted({edit.column for edit in edits}):
        mine = [edit for edit in edits if edit.column == place]
        name = data.columns[place]
        column, rows = data[name].copy(), [edit.row for edit in mine]
        values, kind = _plain(nw.from_native(column, series_only=True), mine), column.dtype
        if hasattr(column, "cat"):
            new = [value for value in dict.fromkeys(values) if value is not None and value not in column.cat.categories]
            column = column.cat.add_categories(new)
        column.iloc[rows] = _missing(values, column)
        if not hasattr(column, "cat") and column.dtype != kind:
            raise UnfitError(str(mine[0].after), str(name), f"values of the type {kind}", LABEL)
        data[name] = column
    return data


def _missing(values: list[Any], column: Any) -> list[Any]:
    """None as this column writes what is missing: as its other blank cells do, or as its type does."""
    if all(value is not None for value in values):
        return values
    blank = column[column.isna()] if column.dtype == object else type(column)([None], dtype=column.dtype)
    gap = blank.iloc[0] if len(blank) else None
    return [gap if value is None else value for value in values]


def _plain(column: Any, edits: Sequence[Edit]) -> list[Any]:
    """New values as Python has them, of the type of a column."""
    name = str(column.name)
    kind = arrow_table(column.to_frame().to_native(), LABEL).schema.field(0).type
    found: list[Any] = typed([edit.after for edit in edits], kind, name, LABEL).to_pylist()
    return found
