"""Tables going out: csv, csv.gz, parquet, jsonl and xlsx by their ending, or JSON lines on standard output.

A file is written under a temporary name and renamed at the end: it is there whole, or not at all.
"""

from __future__ import annotations

import gzip
import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Self

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from carat.data.sources import check_ending
from carat.data.workbooks.writing import SheetFile, load_openpyxl
from carat.files import check_place, replacing


class TableWriter:
    """Writes a table part by part; the first part, which may be empty, settles the columns.

    >>> with TableWriter("-") as out:
    ...     out.write(pa.table({"record": [0], "score": [1.5]}))
    {"record": 0, "score": 1.5}
    """

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        self.path = None if str(path) == "-" else Path(path)
        if self.path is not None:
            check_output(self.path, force=force)
        self.schema: pa.Schema | None = None
        """The columns; None before the first part."""
        self._place = ExitStack()
        self._lines: IO[str] = sys.stdout
        self._parts: Any = None
        self._files: list[Any] = []

    def __enter__(self) -> Self:
        if self.path is not None:
            self._temporary = self._place.enter_context(replacing(self.path))
        return self

    @property
    def begun(self) -> bool:
        """Whether anything was written, and the columns settled by it."""
        return self.schema is not None

    def _open(self) -> None:
        assert self.path is not None
        assert self.schema is not None
        if self.path.suffix.lower() == ".parquet":
            self._parts = pq.ParquetWriter(self._temporary, self.schema, compression="zstd")
        elif self.path.suffix.lower() == ".xlsx":
            self._parts = SheetFile(self._temporary, self.schema.names)
        elif self.path.suffix.lower() == ".jsonl":
            self._lines = self._temporary.open("w", encoding="utf-8")
            self._files.append(self._lines)
        else:
            opener = gzip.open if self.path.suffix.lower() == ".gz" else open
            file = opener(self._temporary, "wb")
            self._files.append(file)
            self._parts = pyarrow.csv.CSVWriter(file, flat(self.schema.empty_table()).schema)

    def write(self, table: pa.Table) -> None:
        """Append rows."""
        if self.schema is None:
            self.schema = table.schema
            if self.path is not None:
                self._open()
        table = table.cast(self.schema)
        if self._parts is None:
            for row in table.to_pylist():
                self._lines.write(json.dumps(row, ensure_ascii=False, default=str) + "\n")
            self._lines.flush()
        else:
            self._parts.write_table(table if isinstance(self._parts, pq.ParquetWriter) else flat(table))

    def __exit__(self, *raised: Any) -> None:
        if self.path is None:
            return
        try:
            for file in [self._parts, *self._files]:
                if file is not None:
                    file.close()
        except BaseException as error:
            raised = (type(error), error, error.__traceback__)
            raise
        finally:
            self._place.__exit__(*raised)


def check_output(path: Path, *, force: bool) -> None:
    """Refuse, before any work, what could not be written at its end."""
    check_ending(path, writing=True)
    if path.suffix.lower() == ".xlsx":
        load_openpyxl()
    check_place(path, force=force)


def flat(table: pa.Table) -> pa.Table:
    """In CSV and in workbooks a list is a JSON array in one cell."""
    columns = [
        pa.array(
            [None if v is None else json.dumps(v, ensure_ascii=False) for v in column.to_pylist()],
            pa.string(),
        )
        if pa.types.is_list(column.type)
        else column
        for column in table.columns
    ]
    return pa.table(columns, names=table.column_names)
