"""JSON lines: from a file that can be read twice, or from a pipe that can't."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from carat.data.sources.base import BATCH_ROWS, about_lines, check_columns, check_names, not_utf8
from carat.errors import InputError

PIPE_ROWS = 1_000
"""Rows that a pipe waits for at most before they are passed on."""

Rows = list[tuple[int, dict[str, Any]]]


class JsonLinesSource:
    """A file of JSON objects, one a line; a column missing from a line is missing there."""

    def __init__(self, file: Path, label: str) -> None:
        self.label = label
        self._file = file
        self.names = check_names(_names(self._parts(), label), label)

    def _parts(self) -> Iterator[Rows]:
        with self._file.open("rb") as lines:
            yield from _parse(lines, self.label, BATCH_ROWS)

    def _check(self, columns: Sequence[str]) -> None:
        check_columns(self, columns)

    def about_rows(self) -> int | None:
        """From the size of the file and the length of its first lines."""
        return about_lines(self._file)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time, every column as text."""
        self._check(columns)
        kinds: dict[str, str] = {}
        for rows in self._parts():
            arrays = [
                pa.array(
                    [_cell(self.label, number, row.get(name), name, kinds) for number, row in rows],
                    pa.string(),
                )
                for name in columns
            ]
            yield pa.record_batch(arrays, names=list(columns))


class PipeSource(JsonLinesSource):
    """JSON lines that come through a pipe: read once, passed on in small parts."""

    def __init__(self, stream: IO[bytes], label: str) -> None:
        self.label = label
        self._stream = _parse(stream, label, PIPE_ROWS)
        self._first = next(self._stream, [])
        self._used = False
        self.names = list(dict.fromkeys(name for _, row in self._first for name in row))

    def _parts(self) -> Iterator[Rows]:
        if self._used:
            raise InputError(f"{self.label}: a pipe can be read only once")
        self._used = True
        yield self._first
        yield from self._stream

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


def _names(parts: Iterator[Rows], label: str) -> list[str]:
    """All columns of a file, also those that begin late."""
    names = dict.fromkeys(name for part in parts for _, row in part for name in row)
    if not names:
        raise InputError(f"{label}: there are no rows")
    return list(names)


def _parse(lines: Iterable[bytes], label: str, size: int) -> Iterator[Rows]:
    part: Rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
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
        part.append((number, row))
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


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
