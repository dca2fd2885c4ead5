"""The table that is audited: every column as codes of its different values, whatever the column is called."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from carat.data.text import is_typed, to_text


@dataclass(frozen=True)
class AuditColumn:
    """One column of text.

    Args:
        name: as in the table; no name is reserved.
        values: its different values, the most frequent first, ties by text.
        counts: how often each occurs, int64 [V].
        codes: the place of every cell's value, int32 [n]; −1 where the cell is blank.
        typed: whether it came as numbers or times. The text is then carat's own, and says nothing by its form.
    """

    name: str
    values: tuple[str, ...]
    counts: np.ndarray
    codes: np.ndarray
    typed: bool = False

    @classmethod
    def of(cls, name: str, cells: pa.ChunkedArray | pa.Array) -> AuditColumn:
        """From the cells of a column."""
        array = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
        coded = to_text(array, name).dictionary_encode()
        texts = coded.dictionary.to_pylist()
        raw = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        counts = np.bincount(raw[raw >= 0], minlength=len(texts))
        order = sorted(range(len(texts)), key=lambda i: (-counts[i], texts[i]))
        place = np.full(len(texts) + 1, -1, dtype=np.int32)
        place[np.asarray(order, dtype=np.int64)] = np.arange(len(texts), dtype=np.int32)
        values = tuple(texts[i] for i in order)
        return cls(name, values, counts[order].astype(np.int64), place[raw], is_typed(array.type))

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def blank(self) -> int:
        """How many cells are blank."""
        return int((self.codes < 0).sum())


@dataclass(frozen=True)
class AuditTable:
    """The columns of a table; two may have the same name.

    Args:
        columns: in order, all of the same length.
        rows: how many rows there are.
    """

    columns: tuple[AuditColumn, ...]
    rows: int

    @classmethod
    def of(cls, table: pa.Table) -> AuditTable:
        """From an Arrow table; empty text counts as blank."""
        columns = [AuditColumn.of(name, table.column(place)) for place, name in enumerate(table.column_names)]
        return cls(tuple(columns), table.num_rows)
