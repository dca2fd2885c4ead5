"""JSON lines: from a file that can be read twice, or from a pipe that can't."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from carat.data.sources.base import BATCH_ROWS, about_lines, check_columns, check_names, not_utf8
from carat.errors import InputError

PIPE_ROWS = 1_000
"""Rows that a pipe waits for at most before they are passed on."""
PARSED_ROWS = 4_096
"""Rows of a file that are held as Python objects at once, which take far more memory than columns."""
TEXTS = frozenset({str, type(None)})
"""Types of the values of a column of text."""

Row = tuple[int, dict[str, Any]]
"""The number of its line, from 1, and what it holds."""
Rows = list[Row]


class JsonLinesSource:
    """A file of JSON objects, one a line; a column missing from a line is missing there."""

    def __init__(self, file: Path, label: str) -> None:
        self.label = label
        self._file = file
        with file.open("rb") as lines:
            self.names = check_names(_names(_parse(lines, label), label), label)

    def _parts(self, only: Collection[int] | None = None) -> Iterator[Rows]:
        with self._file.open("rb") as lines:
            yield from _grouped(_parse(lines, self.label, only), min(PARSED_ROWS, BATCH_ROWS))

    def _batch_rows(self) -> int:
        return BATCH_ROWS

    def _check(self, columns: Sequence[str]) -> None:
        check_columns(self, columns)

    def about_rows(self) -> int | None:
        """From the size of the file and the length of its first lines."""
        return about_lines(self._file)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time, every column as text."""
        return self._batches(columns, None)

    def cells(self, columns: Sequence[str], rows: Collection[int]) -> Iterator[pa.RecordBatch]:
        """As `batches`, but only the rows with these numbers, from 0, are looked at: all others come out blank.

        To find the cells of a few rows, this is many times as fast, and what stands in other rows does not matter.
        """
        return self._batches(columns, rows)

    def _batches(self, columns: Sequence[str], only: Collection[int] | None) -> Iterator[pa.RecordBatch]:
        self._check(columns)
        kinds: dict[str, str] = {}
        held: list[pa.RecordBatch] = []
        for rows in self._parts(only):
            arrays = [_column(self.label, rows, name, kinds) for name in columns]
            held.append(pa.record_batch(arrays, names=list(columns)))
            if sum(part.num_rows for part in held) >= self._batch_rows():
                yield pa.concat_batches(held)
                held = []
        if held:
            yield pa.concat_batches(held)


class PipeSource(JsonLinesSource):
    """JSON lines that come through a pipe: read once, passed on in small parts."""

    def __init__(self, stream: IO[bytes], label: str) -> None:
        self.label = label
        self._stream = _grouped(_parse(stream, label), PIPE_ROWS)
        self._first = next(self._stream, [])
        self._used = False
        self.names = list(dict.fromkeys(name for _, row in self._first for name in row))

    def _parts(self, only: Collection[int] | None = None) -> Iterator[Rows]:
        if self._used:
            raise InputError(f"{self.label}: a pipe can be read only once")
        self._used = True
        yield self._first
        yield from self._stream

    def _batch_rows(self) -> int:
        return 1  # every part is passed on as it comes

    def about_rows(self) -> int | None:
        """A pipe does not tell."""
        return None

    def _check(self, columns: Sequence[str]) -> None:
        """Nobody can know what a pipe will still bring: what is not there is missing."""


def spool(stream: IO[bytes]) -> Path:
    """A pipe on disk, for what must be read twice; the file is removed when the process ends."""
    holder = tempfile.NamedTemporaryFile(suffix=".jsonl")  # noqa: SIM115 - lives as long as the process
    _SPOOLED.append(holder)
    while chunk := stream.read(1 << 20):
        holder.write(chunk)
    holder.flush()
    return Path(holder.name)


_SPOOLED: list[Any] = []


def _names(rows: Iterator[Row], label: str) -> list[str]:
    """All columns of a file, also those that begin late."""
    names: dict[str, None] = {}
    for _, row in rows:
        if not row.keys() <= names.keys():
            names.update(dict.fromkeys(row))
    if not names:
        raise InputError(f"{label}: there are no rows")
    return list(names)


def _parse(lines: Iterable[bytes], label: str, only: Collection[int] | None = None) -> Iterator[Row]:
    """The rows of lines that are not blank; those that `only` does not number come out empty, and unread."""
    count = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        yield number, _object(line, label, number) if only is None or count in only else {}
        count += 1


def _object(line: bytes, label: str, number: int) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except UnicodeDecodeError as error:
        raise not_utf8(label) from error
    except json.JSONDecodeError as error:
        raise InputError(f"{label}, line {number}: not JSON ({error.msg})") from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, or nested without end
        raise InputError(f"{label}, line {number}: can't be read as JSON") from error
    if not isinstance(row, dict):
        raise InputError(f"{label}, line {number}: a row must be a JSON object")
    return row


def _grouped(rows: Iterator[Row], size: int) -> Iterator[Rows]:
    while part := list(islice(rows, size)):
        yield part


def _column(label: str, rows: Rows, name: str, kinds: dict[str, str]) -> pa.Array:
    """The cells of a column as text."""
    values = [row.get(name) for _, row in rows]
    if TEXTS.issuperset(map(type, values)) and kinds.get(name, "text") == "text":
        try:
            made = pa.array(values, pa.string())
        except UnicodeEncodeError:
            pass  # half a character, and where it stands is found below
        else:
            if made.null_count < len(made):
                kinds[name] = "text"
            return made
    cells = [_cell(label, line, value, name, kinds) for (line, _), value in zip(rows, values, strict=True)]
    return pa.array(cells, pa.string())


def _cell(label: str, line: int, value: Any, column: str, kinds: dict[str, str]) -> str | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):  # NaN is missing, as in frames
        return None
    if isinstance(value, str):
        kind, text = "text", value
        if not value.isascii() and any("\ud800" <= mark <= "\udfff" for mark in value):
            raise InputError(f"{label}, line {line}: '{column}' holds half a character (a lone surrogate)")
    elif isinstance(value, bool):
        kind, text = "true/false", str(value).lower()
    elif isinstance(value, int):
        kind, text = "numbers", str(value)
    elif isinstance(value, float):
        kind, text = "numbers", str(int(value)) if value.is_integer() else repr(value)
    else:
        raise InputError(f"{label}, line {line}: '{column}' holds a list or an object; flatten it first")
    if kinds.setdefault(column, kind) != kind:
        raise InputError(
            f"{label}, line {line}: column '{column}' mixes types, {kinds[column]} before and {kind} here; "
            "quote all of it as text"
        )
    return text
