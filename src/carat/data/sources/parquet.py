"""Parquet files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from carat.data.sources.base import BATCH_ROWS, check_columns, check_names, first_line
from carat.errors import InputError


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
        yield from self._of_groups(columns, None)

    def _of_groups(self, columns: Sequence[str], groups: range | None) -> Iterator[pa.RecordBatch]:
        """The rows of some row groups, or of all; no batch holds rows of two, so its batches are always the same."""
        check_columns(self, columns)
        try:
            with pq.ParquetFile(self._path, read_dictionary=[c for c in self._text if c in columns]) as file:
                for group in range(file.num_row_groups) if groups is None else groups:
                    for batch in file.iter_batches(BATCH_ROWS, row_groups=[group], columns=list(columns)):
                        yield batch.select(list(columns))
        except (pa.ArrowInvalid, OSError) as error:
            raise InputError(f"{self.label}: the Parquet file is damaged ({first_line(error)})") from error
