"""Whether an id column tells the rows of a table apart, counted while they are read."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from carat.data.text import to_text

LOOKED_AT = 1_000_000
"""Rows whose IDs are held at most; a table without end must not fill the memory."""


class RowIds:
    """The IDs of rows, part by part.

    Args:
        column: the id column.

    >>> RowIds("bill").add(pa.array(["a", "b", "a", None])).in_words()
    "column 'bill' does not tell all rows apart (2 rows share an ID, 1 row has none), so `record` is not unique"
    >>> RowIds("bill").add(pa.array(["a", "b"])).in_words() is None
    True
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self._parts: list[pa.Array] = []
        self._rows = 0

    def add(self, ids: pa.Array) -> RowIds:
        """The next IDs."""
        if self._rows < LOOKED_AT:
            some = to_text(ids.slice(0, LOOKED_AT - self._rows), self.column)
            self._parts.append(some)
            self._rows += len(some)
        return self

    def merge(self, other: RowIds) -> RowIds:
        """The IDs that come after these."""
        for part in other._parts:
            self.add(part)
        return self

    def in_words(self) -> str | None:
        """How many rows can't be told apart by their ID, in one line; None where all can."""
        ids = pa.chunked_array(self._parts, pa.string())
        counts = ids.drop_null().value_counts().field(1)
        shared = pc.sum(counts.filter(pc.greater(counts, 1))).as_py() or 0
        if not shared and not ids.null_count:
            return None
        said = [f"{shared:,} rows share an ID"] if shared else []
        if ids.null_count:
            said.append(f"{ids.null_count:,} row{' has' if ids.null_count == 1 else 's have'} none")
        looked = f" of the first {LOOKED_AT:,}" if self._rows == LOOKED_AT else ""
        why = f"{', '.join(said)}{looked}"
        return f"column '{self.column}' does not tell all rows apart ({why}), so `record` is not unique"
