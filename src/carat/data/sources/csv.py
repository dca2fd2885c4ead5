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
            raise InputError(f"{self.label}: can't be read ({first_line(error)})") from error
        if raw.startswith(b"PK\x03\x04"):
            raise InputError(
                f"{self.label}: this is a spreadsheet under another name; open it and save the sheet as .csv"
            )
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
                rows = 0
                for batch in reader:
                    rows += batch.num_rows
                    yield batch
                if not rows:
                    raise InputError(f"{self.label}: there is a header but no rows")
        except (pa.ArrowInvalid, pa.ArrowKeyError, OSError, EOFError, zlib.error) as error:
            if "UTF8" in str(error):
                raise not_utf8(self.label) from error
            if "Empty CSV" in str(error):
                raise InputError(f"{self.label}: there is a header but no rows") from error
            raise InputError(f"{self.label}: {first_line(error)}") from error
