"""Frames in memory, and the way back into the user's own library."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import narwhals as nw
import pyarrow as pa

from carat.data.sources.base import BATCH_ROWS, Source, check_columns, check_names
from carat.data.text import texts_of
from carat.errors import InputError

WORDS = ("Period", "Interval")
"""Types of pandas that text says all of."""
LOOKED_AT = 1_000
"""Things of a list whose types an error names."""
NOT_TEXT = "a value is not proper text (half of a surrogate pair); read the file again with the right encoding"


def open_frame(data: Any, label: str = "the table") -> Source:
    """A frame of pandas, polars or pyarrow, columns in a dictionary, or records as dictionaries or one as a Series."""
    one = is_record(data) or isinstance(data, Mapping)
    data = frame_of(data)
    if is_record(data):
        if not any(isinstance(name, str) for name in data.index):
            check_row(data, ())
        data = data.to_frame().T
    source = FrameSource(data, label)
    # Columns with lists of one cell are not told apart from one record; the hint does no harm there.
    if one and source.about_rows() == 1:
        source.hint = "; a row needs every column, with None for what is not known"
    return source


def frame_of(data: Any) -> Any:
    """Columns in a dictionary and rows as dictionaries as an Arrow table; anything else as it is."""
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, list | tuple) and data and all(isinstance(row, Mapping) for row in data):
        names = dict.fromkeys(name for row in data for name in row)
        return table_from_dict({name: [row.get(name) for row in data] for name in names})
    return table_from_dict(data) if isinstance(data, Mapping) else data


class FrameSource:
    """A frame in memory, of pandas, polars, pyarrow or anything else that narwhals knows."""

    def __init__(self, frame: Any, label: str) -> None:
        self.label = label
        self.hint = ""
        """What to add to an error about a column that is not there."""
        self._unreadable: dict[str, InputError] = {}
        self._table = arrow_table(frame, label, self._unreadable)
        names = [str(name) for name in frame.columns] if self._unreadable else self._table.column_names
        self.names = check_names(names, label)
        self.index = _own_index(frame)
        """What names the rows of a pandas frame that has an index of its own, [n]; None where the place does."""
        self.levels = tuple(str(name) for name in getattr(_pandas_index(frame), "names", ()) if name is not None)
        """Names of the levels of a pandas index."""
        self.ambiguous = ambiguity(frame)
        """Why the index of a pandas frame can't name its rows; None where it can, or where there is none."""

    def about_rows(self) -> int | None:
        """Exactly so many."""
        return int(self._table.num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        for name in columns:
            if name in self._unreadable:
                raise self._unreadable[name]
        yield from self._table.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)


def is_record(data: Any) -> bool:
    """Whether this is a pandas Series: one record, named by its columns."""
    return type(data).__name__ == "Series" and hasattr(data, "to_frame") and hasattr(data, "index")


def check_row(data: Any, columns: Sequence[str]) -> None:
    """Refuse a Series that has none of the columns of a row: it is a column of a table.

    Args:
        data: anything; what is no Series passes.
        columns: that a row has some of; none where a whole table is asked for.
    """
    if not is_record(data) or any(str(name) in columns for name in data.index):
        return
    if isinstance(data.name, str):
        raise InputError(f"this Series looks like a column, not like a row; pass a frame: df[['{data.name}']]")
    if not columns:
        raise InputError("a Series is no table; pass a frame")


def _own_index(frame: Any) -> pa.Array | None:
    """The index of a pandas frame where it says more than the place of a row, and tells all rows apart."""
    index = _pandas_index(frame)
    if index is None or ambiguity(frame) is not None:
        return None
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return None
    labels = index.to_list()
    try:
        return pa.array(labels)
    except (pa.ArrowInvalid, pa.ArrowTypeError):  # of a type that Arrow does not know, such as a pandas Period
        return pa.array([str(label) for label in labels])


def ambiguity(frame: Any) -> str | None:
    """What keeps the index of a pandas frame from telling the rows apart by one label each, in words."""
    index = _pandas_index(frame)
    if index is None:
        return None
    if index.nlevels > 1:
        return "has several levels"
    if index.hasnans:
        return "has no label for some rows"
    if not index.is_unique:
        return "repeats labels"
    # As text, 17 and "17" would be one label, and nobody could look up either by what it is.
    kinds = {type(label) for label in index} if index.dtype == object else set()
    return "mixes labels of several types" if len(kinds) > 1 else None


def _pandas_index(frame: Any) -> Any:
    index = getattr(frame, "index", None)
    return index if hasattr(index, "is_unique") and hasattr(index, "nlevels") else None


def arrow_table(frame: Any, label: str = "the table", unreadable: dict[str, InputError] | None = None) -> pa.Table:
    """Any frame as an Arrow table; a column that can't be one is named.

    Args:
        frame: of any library.
        label: what errors call it.
        unreadable: takes the errors of columns that can't be read, by name; those are left out of the table. None
            raises the first.
    """
    if isinstance(frame, pa.Table):
        return frame
    try:
        wrapped = nw.from_native(frame)
    except TypeError as error:
        raise InputError(
            f"{label}: expected a path, a frame (pandas, polars, pyarrow), a dictionary or a list of dictionaries, got "
            f"{_called(frame)}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        names = [str(name) for name in frame.columns]
        check_names(names, label)
        raise InputError(f"{label}: column names repeat; rename them") from error
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect()
    names = check_names([str(name) for name in wrapped.columns], label)
    columns = {}
    for column, name in zip(wrapped.iter_columns(), names, strict=True):
        try:
            columns[name] = _arrow_column(column, name, label)
        except InputError as error:
            if unreadable is None:
                raise
            unreadable[name] = error
    return pa.table(columns)


def _called(thing: Any) -> str:
    """What something is that is no table, and how to make one of it."""
    name = type(thing).__name__
    if name == "ndarray":
        return "an array; wrap it in pd.DataFrame(…)"
    if name == "Series":
        return "a Series; pass a frame"
    if isinstance(thing, list | tuple) and not thing:
        return f"an empty {name}"
    if isinstance(thing, list | tuple) and isinstance(thing[0], list | tuple):
        return f"a {name} of rows without names; wrap it in pd.DataFrame(…)"
    if isinstance(thing, list | tuple):
        return f"a {name} of {', '.join(sorted({type(each).__name__ for each in thing[:LOOKED_AT]}))}"
    return name


def _arrow_column(column: Any, name: str, label: str) -> Any:
    try:
        made = column.to_arrow()
    except UnicodeEncodeError as error:
        raise InputError(f"{label}: column '{name}': {NOT_TEXT}") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        cells = column.to_list()
        if _plain(cells):
            return pa.array([_text(value) for value in cells], pa.string())
        kinds = sorted({type(value).__name__ for value in cells if value is not None})
        raise InputError(
            f"{label}: column '{name}' mixes types or can't be read ({', '.join(kinds)}); make it all text, in pandas "
            f"with .astype('string')"
        ) from error
    kind = made.type.value_type if pa.types.is_dictionary(made.type) else made.type
    if isinstance(kind, pa.BaseExtensionType):  # a pandas Period or Interval: text says what it means
        return pa.array([None if value is None or value != value else str(value) for value in column.to_list()])  # noqa: PLR0124 - NaT
    return made


def _plain(cells: Sequence[Any]) -> bool:
    """Whether a column holds nothing but text, numbers and the like, so that all of it can be read as text."""
    return all(
        value is None or isinstance(value, str | bool | Real) or type(value).__name__ in WORDS for value in cells
    )


def _text(value: Any) -> str | None:
    """A cell of a column that holds text and numbers, as text; NaN is missing, and 721.0 reads 721, as in `to_text`."""
    if value is None or isinstance(value, str):
        return value
    if value != value:  # noqa: PLR0124 - NaN
        return None
    whole = hasattr(value, "is_integer") and value.is_integer()
    return str(int(value)) if whole and not isinstance(value, bool) else str(value)


def frame_like(table: pa.Table, like: Any, *, same_rows: bool = False) -> Any:
    """An Arrow table in the frame library of `like`; Arrow itself where `like` is a path or unknown.

    Args:
        table: what to hand back; lists in it are lists in pandas too.
        like: the user's data.
        same_rows: whether there is one row for each of the user's rows, so that a pandas index fits.
    """
    if isinstance(like, str | Path | Mapping | list | tuple | pa.Table | pa.RecordBatch):
        return table
    backend = nw.from_native(like, allow_series=True).implementation
    if backend is nw.Implementation.PYARROW:
        return table
    native = nw.from_arrow(table, backend=backend).to_native()
    if backend is nw.Implementation.PANDAS:
        for field in table.schema:
            if pa.types.is_list(field.type):
                cells = table[field.name].to_pylist()
                native[field.name] = cells or native[field.name].astype(object)  # an empty list would be numbers
        if same_rows:
            native.index = [like.name] if is_record(like) else like.index
    return native


def table_from_dict(columns: Mapping[Any, Any]) -> pa.Table:
    """Columns in a dictionary, or one record, as an Arrow table."""
    single = [name for name, values in columns.items() if isinstance(values, str) or not hasattr(values, "__len__")]
    if single and len(single) == len(columns):
        # What is no number and no text, such as a timestamp, reads as text does; what is not itself is missing.
        columns = {name: [_cell(value)] for name, value in columns.items()}
    elif single:
        raise InputError(f"column '{single[0]}' holds one value and others hold lists; give one row, or lists only")
    arrays = {}
    for name, values in columns.items():
        try:
            arrays[str(name)] = pa.array(values)
        except UnicodeEncodeError as error:
            raise InputError(f"column '{name}': {NOT_TEXT}") from error
        except (ValueError, TypeError) as error:  # NaT is a ValueError; all of Arrow's are one of the two
            arrays[str(name)] = _mixed(values, str(name), error)
    first = next(iter(arrays), None)
    for name, array in arrays.items():
        if first is not None and len(array) != len(arrays[first]):
            raise InputError(
                f"column '{name}' has {_many(array)}, '{first}' has {len(arrays[first]):,}; give every row a value, or "
                "None where it has none"
            )
    return pa.table(arrays)


def _many(array: pa.Array) -> str:
    return f"{len(array):,} value{'' if len(array) == 1 else 's'}"


def _mixed(values: Any, name: str, error: Exception) -> pa.Array:
    """A column of a dictionary that Arrow could not read at once: what pandas calls missing is, NA and NaT included."""
    try:
        return pa.array(values, from_pandas=True)
    except (ValueError, TypeError):
        cells = [None if _is_missing(value) else value for value in values]
        if not _plain(cells):
            raise InputError(f"column '{name}' mixes types; make it all text") from error
        return pa.array([_text(value) for value in cells], pa.string())


def _is_missing(value: Any) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def _cell(value: Any) -> Any:
    """A cell of one record, as it would read in a column of such values."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return None if _is_missing(value) or str(value) in ("NaT", "nan") else texts_of([value], "the row")[0]
