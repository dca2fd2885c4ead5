"""CSV files."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

from carat.data.sources.base import about_lines, check_columns, check_names, first_line, not_utf8
from carat.errors import InputError

MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
"""What may stand between two cells, and what it is called."""
SHOWN = 60
"""Characters of a faulty row that an error shows."""
BLOCK, SMALL_BLOCK = 1 << 24, 1 << 20
"""Bytes that Arrow takes at once; a row may lie in two blocks, not in three. Arrow reads up to 32 blocks ahead, so
small ones keep memory flat where a few cells are looked for. After a row too long for them, large ones take over."""
HINT = (
    "say how it is written with `encoding`, such as latin-1, cp1252 or utf-16, or save it as UTF-8 (in Excel: Save As, "
    "CSV UTF-8)"
)
"""What to do about a file in another encoding."""


class _LongRowError(Exception):
    """A row did not fit a small block."""


class CsvSource:
    """A CSV file: cells are text and never guessed at, empty is missing.

    The delimiter (comma, semicolon, tab or bar) is taken from the header.

    Args:
        path: of the file.
        encoding: how it is written, as Python calls it; None is UTF-8.
        by_place: whether names may repeat, since columns are asked for by place, as in `cells`.
    """

    def __init__(self, path: str, *, encoding: str | None = None, by_place: bool = False) -> None:
        self.label = path
        self._said, self._encoding = encoding, codec_of(encoding)
        self._path = path
        self._gzipped = path.lower().endswith(".gz")
        header = self._header()
        outside_quotes = re.sub(r'"[^"]*"', "", header)
        self.delimiter = max(MARKS, key=lambda mark: (outside_quotes.count(mark), mark == ","))
        """What stands between two cells."""
        try:
            names = next(csv.reader(io.StringIO(header, newline=""), delimiter=self.delimiter))
        except csv.Error as error:
            raise InputError(f"{path}: the header can't be read; are the lines ended by \\n?") from error
        self.names = names if by_place else check_names(names, path)

    def _open(self) -> Any:
        return gzip.open(self._path) if self._gzipped else open(self._path, "rb")

    def _header(self) -> str:
        """The first record of the file, which may span lines where a quoted name does."""
        if self._encoding is not None:
            return self._decoded_header(self._encoding)
        try:
            with self._open() as file:
                raw = file.readline()
                while raw.count(b'"') % 2 and (more := file.readline()):
                    raw += more
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.label}: can't be read ({first_line(error)})") from error
        if raw.startswith(b"PK\x03\x04"):
            raise InputError(f"{self.label}: this is a spreadsheet under another name; rename it to .xlsx")
        raw = raw.removeprefix(codecs.BOM_UTF8)
        try:
            header = str(raw, "utf-8").rstrip("\r\n")
        except UnicodeDecodeError as error:
            raise not_utf8(self.label, HINT) from error
        if "\0" in header:
            raise not_utf8(self.label, HINT)
        return self._named(header)

    def _decoded_header(self, encoding: str) -> str:
        """The same of a file in another encoding, in which a line may end in other bytes."""
        try:
            with self._open() as file, io.TextIOWrapper(file, encoding=encoding, newline="\n") as lines:
                header = lines.readline()
                while header.count('"') % 2 and (more := lines.readline()):
                    header += more
        except UnicodeError as error:
            raise self._other_encoding(error) from error
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(f"{self.label}: can't be read ({first_line(error)})") from error
        if "\0" in header:
            raise self._other_encoding()
        return self._named(header.removeprefix("\ufeff").rstrip("\r\n"))

    def _named(self, header: str) -> str:
        if not header.strip():
            raise InputError(f"{self.label}: the first line must name the columns, but it is empty")
        return header

    def _other_encoding(self, error: BaseException | None = None) -> InputError:
        """The error for a file that is not written as it was said to be."""
        why = f" ({first_line(error)})" if error is not None else ""
        return InputError(f"{self.label}: not {self._said} text{why}; try another `encoding`")

    def about_rows(self) -> int | None:
        """From the size of the file and the length of its first lines."""
        return None if self._gzipped else about_lines(Path(self._path))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        rows = 0
        for batch in self._read(self.names, columns, named=True, block=BLOCK):
            rows += batch.num_rows
            yield batch
        if not rows:
            raise InputError(f"{self.label}: there is a header but no rows")

    def cells(self, places: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """The rows, if any, with the columns at these places, whatever they are called."""
        names = [str(place) for place in range(len(self.names))]
        columns = [str(place) for place in places]
        done = 1  # the header
        for block in (SMALL_BLOCK, BLOCK):
            skip = done
            try:
                for batch in self._read(names, columns, named=False, block=block):
                    fresh = batch.slice(skip)
                    skip -= batch.num_rows - fresh.num_rows
                    done += fresh.num_rows
                    yield fresh
                return
            except _LongRowError:
                continue  # from there on in larger blocks

    def _read(
        self, names: Sequence[str], columns: Sequence[str], *, named: bool, block: int
    ) -> Iterator[pa.RecordBatch]:
        """All rows as Arrow reads them; the header is one of them where the names are not taken from it."""
        try:
            # Arrow's own stream: its reading threads must not hold a Python file when the interpreter ends.
            with pa.input_stream(self._path, compression="gzip" if self._gzipped else None) as file:
                yield from pyarrow.csv.open_csv(
                    file,
                    read_options=pyarrow.csv.ReadOptions(
                        block_size=block, encoding=self._encoding or "utf8", column_names=None if named else names
                    ),
                    parse_options=pyarrow.csv.ParseOptions(delimiter=self.delimiter, newlines_in_values=True),
                    convert_options=pyarrow.csv.ConvertOptions(
                        include_columns=list(columns),
                        column_types=dict.fromkeys(names, pa.string()),
                        null_values=[""],
                        strings_can_be_null=True,
                        quoted_strings_can_be_null=True,
                    ),
                )
        except UnicodeError as error:
            raise self._other_encoding(error) from error
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, EOFError, zlib.error) as error:
            if "UTF8" in str(error):
                raise not_utf8(self.label, HINT) from error
            if "straddl" in str(error) and block < BLOCK:
                raise _LongRowError from error
            if "Empty CSV" in str(error):
                raise InputError(f"{self.label}: there is a header but no rows") from error
            raise InputError(self._ragged() or f"{self.label}: {first_line(error)}") from error

    def _ragged(self) -> str | None:
        """Where the first row is that has more or fewer cells than the header, and what to do; None without one."""
        encoding, wanted, mark = self._encoding or "utf-8-sig", len(self.names), MARKS[self.delimiter]
        try:
            with self._open() as file, io.TextIOWrapper(file, encoding=encoding, newline="") as lines:
                rows = csv.reader(lines, delimiter=self.delimiter)
                line = 1
                for row in rows:
                    if row and len(row) != wanted:
                        cells = f"{len(row):,} cell{'' if len(row) == 1 else 's'} instead of {wanted:,}"
                        start = " ".join(self.delimiter.join(row).split())[:SHOWN]
                        todo = f"add the missing {mark}s" if len(row) < wanted else f"quote a value that holds a {mark}"
                        todo = "is a quote never closed?" if rows.line_num > line else todo
                        return f"{self.label}, line {line:,}: {cells} ({start}); {todo}"
                    line = rows.line_num + 1
        except (csv.Error, UnicodeError, OSError, EOFError, zlib.error):
            pass  # then there is more amiss than that
        return None


def codec_of(encoding: str | None) -> str | None:
    """The encoding as Python calls it; None for UTF-8, which needs no translation."""
    if encoding is None:
        return None
    try:
        name = codecs.lookup(encoding).name
        "".encode(name)  # some codecs turn bytes into bytes
    except (LookupError, TypeError, ValueError) as error:
        raise InputError(f"unknown `encoding` '{encoding}'; for example: utf-8, latin-1, cp1252, utf-16") from error
    return None if name in ("utf-8", "utf-8-sig", "ascii") else name
