"""Where rows come from: Parquet, CSV and frames, as batches of Arrow columns.

A `Source` can be read more than once and never holds more than a batch of a file in memory.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import narwhals as nw
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from carat.errors import InputError, nearest

BATCH_ROWS = 131_072


class Source(Protocol):
    """A table that can be read in batches, any number of times."""

    label: str
    """How messages call it."""
    names: list[str]
    """Its columns."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in order, with these columns in this order."""
        ...

    def about_rows(self) -> int | None:
        """How many rows there are, roughly, for a progress bar; None where only reading them would tell."""
        ...


def open_frame(data: Any, label: str = "the table") -> Source:
    """A frame of pandas, polars or pyarrow, or a dictionary of columns."""
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    if isinstance(data, dict):
        data = _table_from_dict(data)
    return FrameSource(data, label)


def check_names(names: Sequence[str], label: str) -> list[str]:
    """Column names must be there and differ."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{label}: there are {names.count(twice[0])} columns named '{twice[0]}'; rename all but one")
    if not names:
        raise InputError(f"{label}: there are no columns")
    return list(names)


def check_columns(source: Source, columns: Sequence[str]) -> None:
    """Every wanted column must be there; a near miss is named."""
    for column in columns:
        if column not in source.names:
            raise InputError(f"{source.label}: no column '{column}'; {nearest(column, source.names)}")


class ParquetSource:
    """A Parquet file, text columns read as dictionaries since that is how they are stored."""

    def __init__(self, path: str) -> None:
        self.label = path
        self._path = path
        try:
            schema = pq.read_schema(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{path}: not a Parquet file, or a damaged one") from error
        self.names = check_names(schema.names, path)
        self._text = [field.name for field in schema if pa.types.is_string(field.type)]

    def about_rows(self) -> int | None:
        """As the file says."""
        return int(pq.read_metadata(self._path).num_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        try:
            with pq.ParquetFile(self._path, read_dictionary=[c for c in self._text if c in columns]) as file:
                for batch in file.iter_batches(BATCH_ROWS, columns=list(columns)):
                    yield batch.select(list(columns))
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self.label}: the Parquet file is damaged ({_first_line(error)})") from error


class CsvSource:
    """A CSV file: UTF-8, cells are text and never guessed at, empty is missing.

    The delimiter (comma, semicolon, tab or bar) is taken from the header.
    """

    def __init__(self, path: str) -> None:
        self.label = path
        self._path = path
        self._gzipped = path.lower().endswith(".gz")
        header = self._header()
        outside_quotes = re.sub(r'"[^"]*"', "", header)
        self._delimiter = max(",;\t|", key=lambda mark: (outside_quotes.count(mark), mark == ","))
        try:
            names = next(csv.reader(io.StringIO(header, newline=""), delimiter=self._delimiter))
        except csv.Error as error:
            raise InputError(f"{path}: the header can't be read; are the lines ended by \\n?") from error
        self.names = check_names(names, path)

    def _open(self) -> Any:
        return gzip.open(self._path) if self._gzipped else open(self._path, "rb")

    def _header(self) -> str:
        """The first record of the file, which may span lines where a quoted name does."""
        try:
            with self._open() as file:
                raw = file.readline()
                while raw.count(b'"') % 2 and (more := file.readline()):
                    raw += more
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.label}: can't be read ({_first_line(error)})") from error
        if raw.startswith(b"PK\x03\x04"):
            raise InputError(f"{self.label}: is a spreadsheet under another name; open it and save the sheet as .csv")
        raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            header = str(raw, "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise not_utf8(self.label) from error
        if "\0" in header:
            raise not_utf8(self.label)
        if not header.strip():
            raise InputError(f"{self.label}: the first line must name the columns, but it is empty")
        return header

    def about_rows(self) -> int | None:
        """From the size of the file and the length of its first lines."""
        return None if self._gzipped else about_lines(Path(self._path))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        try:
            # Arrow's own stream: its reading threads must not hold a Python file when the interpreter ends.
            with pa.input_stream(self._path, compression="gzip" if self._gzipped else None) as file:
                reader = pyarrow.csv.open_csv(
                    file,
                    read_options=pyarrow.csv.ReadOptions(block_size=1 << 24),
                    parse_options=pyarrow.csv.ParseOptions(delimiter=self._delimiter, newlines_in_values=True),
                    convert_options=pyarrow.csv.ConvertOptions(
                        include_columns=list(columns),
                        column_types=dict.fromkeys(self.names, pa.string()),
                        null_values=[""],
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=True,
                    ),
                )
                yield from reader
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, EOFError, zlib.error) as error:
            if "UTF8" in str(error):
                raise not_utf8(self.label) from error
            if "Empty CSV" in str(error):
                return
            raise InputError(f"{self.label}: {_first_line(error)}") from error


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


def about_lines(path: Path) -> int:
    """Lines of a file, as its size and its first lines let one guess."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    return max(1, path.stat().st_size * start.count(b"\n") // max(len(start), 1))


def not_utf8(label: str) -> InputError:
    return InputError(f"{label}: not UTF-8 text; convert it, for example: iconv -f LATIN1 -t UTF-8 old.csv > new.csv")


def _first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
