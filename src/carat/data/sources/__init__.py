"""Where rows come from: a file by its ending, standard input, or a frame, as batches of Arrow columns.

A `Source` can be read more than once and never holds more than a batch of a file in memory, or the one sheet of a
workbook as text.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carat.data.sources.base import NotUtf8Error, Source, check_columns
from carat.data.sources.csv import CsvSource
from carat.data.sources.frames import frame_like, open_frame
from carat.data.sources.jsonl import JsonLinesSource, PipeSource, spool
from carat.data.sources.parquet import ParquetSource
from carat.data.sources.stretches import Stretch, StretchSource, plan_stretches
from carat.data.sources.xlsx import XlsxSource
from carat.data.workbooks.package import split_sheet
from carat.errors import InputError, nearest

__all__ = [
    "open_source",
    "Source",
    "check_columns",
    "check_ending",
    "check_needed",
    "frame_like",
    "ENDINGS",
    "NotUtf8Error",
    "Stretch",
    "StretchSource",
    "plan_stretches",
]

ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl", ".xlsx")
LISTED = 12
"""Columns that an error names; a table may have hundreds."""


def open_source(data: Any, *, once: bool = False, encoding: str | None = None, by_place: bool = False) -> Source:
    """A path, `-` for JSON lines on standard input, or a frame of pandas, polars or pyarrow.

    Args:
        data: what to read; `book.xlsx#Sheet name` is another sheet of a workbook than the first.
        once: the rows will be read a single time, so that a pipe can be passed on as it comes.
        encoding: of a CSV file, such as `latin-1`; None is UTF-8.
        by_place: whether the names of a CSV file's columns may repeat; see `CsvSource.cells`.
    """
    is_csv = isinstance(data, str | Path) and str(data).lower().endswith((".csv", ".csv.gz"))
    if encoding is not None and not is_csv:
        raise InputError("`encoding` is for csv files; everything else is UTF-8 or says itself how it is written")
    if isinstance(data, StretchSource):
        return data
    if not isinstance(data, str | Path):
        return open_frame(data)
    if str(data) == "-":
        if once:
            return PipeSource(sys.stdin.buffer, "standard input")
        return JsonLinesSource(spool(sys.stdin.buffer), "standard input")
    return _open_file(data, encoding, by_place)


def check_needed(source: Source, names: Sequence[str]) -> None:
    """Refuse a table that lacks several columns of a model: it is another table, or another model."""
    missing = [name for name in names if name not in source.names]
    if len(missing) > 1 and not isinstance(source, PipeSource):  # nobody knows what a pipe will still bring
        needed, lacking, there = (
            ", ".join(some[:LISTED]) + (", …" if len(some) > LISTED else "") for some in (names, missing, source.names)
        )
        hint, near = getattr(source, "hint", ""), nearest(missing[0], source.names)
        hint = hint or (f"; {near}" if near.endswith("?") else "")
        if len(missing) < len(names):
            raise InputError(f"{source.label}: the columns {lacking} are missing; this table has {there}{hint}")
        raise InputError(f"{source.label}: the model needs the columns {needed}; this table has {there}{hint}")


def check_ending(path: Path, *, writing: bool = False) -> None:
    """Tables are told apart by the ending of their name."""
    if not path.name.lower().endswith(ENDINGS):
        sheet = path.suffix.lower() in (".xls", ".xlsm", ".xlsb", ".ods")
        hint = "save it as .xlsx" if sheet else "rename or convert it"
        if writing:
            hint = "choose one of them"
        raise InputError(f"{path}: a table ends in {', '.join(ENDINGS)}; {hint}")


def _open_file(data: str | Path, encoding: str | None, by_place: bool) -> Source:
    path, _ = split_sheet(data)
    if not path.exists():
        raise InputError(f"{path}: no such file")
    if path.is_dir():
        raise InputError(f"{path}: this is a folder, not a table; name one file ({', '.join(ENDINGS)})")
    check_ending(path)
    if path.stat().st_size == 0:
        raise InputError(f"{path}: the file is empty (0 bytes)")
    if path.suffix.lower() == ".parquet":
        return ParquetSource(str(path))
    if path.suffix.lower() == ".jsonl":
        return JsonLinesSource(path, str(path))
    if path.suffix.lower() == ".xlsx":
        return XlsxSource(str(data))
    return CsvSource(str(path), encoding=encoding, by_place=by_place)
