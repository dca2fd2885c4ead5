"""A Parquet file in stretches of rows, cut by what the file says of itself: the same on every machine.

A row group is read by itself, in batches, and a stretch consists of whole batches. So whoever reads the stretches one
after the other reads the very batches that `ParquetSource` gives, whoever else reads the other stretches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from carat.data.sources.base import BATCH_ROWS
from carat.data.sources.parquet import ParquetSource
from carat.errors import InputError

ROWS = 32_768
"""Row groups are taken together until they have so many rows."""


@dataclass(frozen=True)
class Stretch:
    """Rows of a file, of row groups that are read for them.

    Args:
        start: number of the first row.
        stop: number of the row after the last one.
        groups: the row groups that hold them: the first, and the one after the last.
        skipped: rows of those row groups before the first row.
    """

    start: int
    stop: int
    groups: tuple[int, int]
    skipped: int = 0

    def __len__(self) -> int:
        return self.stop - self.start


def plan_stretches(path: str | Path, rows: int = ROWS) -> list[Stretch]:
    """Stretches of a Parquet file, in order: small row groups together, a large one in parts of `BATCH_ROWS`."""
    sizes = _sizes(str(path))
    planned: list[Stretch] = []
    start = first = 0
    while first < len(sizes):
        if sizes[first] > BATCH_ROWS:
            begins = range(0, sizes[first], BATCH_ROWS)
            ends = [min(begin + BATCH_ROWS, sizes[first]) for begin in begins]
            group = (first, first + 1)
            planned += [Stretch(start + b, start + e, group, b) for b, e in zip(begins, ends, strict=True)]
            start, first = start + sizes[first], first + 1
            continue
        count, after = 0, first
        while after < len(sizes) and count < rows and sizes[after] <= BATCH_ROWS:
            count, after = count + sizes[after], after + 1
        if count:
            planned.append(Stretch(start, start + count, (first, after)))
        start, first = start + count, after
    return planned


def _sizes(path: str) -> list[int]:
    """Rows of every row group."""
    ParquetSource(path)  # says what is wrong with the file
    found = pq.read_metadata(path)
    return [int(found.row_group(group).num_rows) for group in range(found.num_row_groups)]


class StretchSource(ParquetSource):
    """The batches of a Parquet file that begin in a stretch of its rows.

    Args:
        path: of the file.
        stretch: which rows.
    """

    def __init__(self, path: str, stretch: Stretch) -> None:
        if not Path(path).is_file():
            raise InputError(f"{path}: not found on a worker; the table must be in a folder that all machines share")
        super().__init__(path)
        self.stretch = stretch
        self.place = stretch.start
        """Number of the row that the present batch begins with."""

    def about_rows(self) -> int | None:
        """So many as are in the stretch."""
        return len(self.stretch)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        place = self.stretch.start - self.stretch.skipped
        for batch in self._of_groups(columns, range(*self.stretch.groups)):
            if place >= self.stretch.stop:
                return
            if place >= self.stretch.start:
                self.place = place
                yield batch
            place += batch.num_rows
