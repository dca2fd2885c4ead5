"""Excel workbooks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from carat.data.sources.base import BATCH_ROWS, check_columns
from carat.data.workbooks.grid import read_grid
from carat.data.workbooks.package import split_sheet
from carat.errors import InputError


class XlsxSource:
    """The table on one sheet of a workbook; cells are the text that a person sees, empty is missing.

    A sheet has at most about a million rows and is read at once, as text.

    Args:
        path: of the file, followed by `#Sheet name` for another sheet than the first.
    """

    def __init__(self, path: str) -> None:
        self.label = path
        file, sheet = split_sheet(path)
        self.grid = read_grid(file, sheet, label=path)
        """The table, and where on the sheet it stands."""
        self.names = self.grid.names

    def about_rows(self) -> int | None:
        """Exactly so many."""
        return self.grid.rows

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time."""
        check_columns(self, columns)
        if not self.grid.rows:
            sheet = self.grid.sheet.name
            raise InputError(f"{self.label}: there is a header but no rows on the sheet '{sheet}'")
        texts = [self.grid.texts[self.names.index(name)] for name in columns]
        yield from pa.table(texts, names=list(columns)).combine_chunks().to_batches(max_chunksize=BATCH_ROWS)
