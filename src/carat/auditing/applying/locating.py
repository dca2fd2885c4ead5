"""Where the cells of a list stand in a table, and whether the list was made for that table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.auditing.decisions import CellList, ListedCell, plain_record
from carat.data.sources import Source
from carat.data.sources.csv import CsvSource
from carat.data.sources.jsonl import JsonLinesSource
from carat.data.text import to_text, truth
from carat.errors import COLUMNS, InputError, nearest
from carat.observing import Observer, Silent

SAME = "give the table that was asked about, with the same index or id column"
"""What to do where a result is applied to another table."""
NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?")


@dataclass(frozen=True, slots=True)
class Located:
    """Where one cell of a list stands.

    Args:
        row: number from 0.
        column: place of the column, from 0.
        stands: what the table has there; None where it is blank.
    """

    row: int
    column: int
    stands: str | None


def locate(
    cells: CellList, source: Source, *, id: str | None = None, observer: Observer | None = None
) -> list[Located]:
    """Read the table once, batch by batch, and find every cell of the list in it, in the order of the list.

    Args:
        cells: the list.
        source: the table.
        id: column that names the rows; None goes by the index of a pandas frame, or by row numbers.
        observer: is told how far it is.

    Raises:
        InputError: where a row or a column is not there, or where other values stand there than the list says.
    """
    candidates = [_places(cell, cells, source) for cell in cells]
    search = _Search(cells, source, id, candidates)
    stage = (observer or Silent()).stage("reading the table", source.about_rows())
    for rows in search.run():
        stage.advance(rows)
    stage.finish()
    return _settled(cells, source, search, candidates)


def same_text(listed: str | None, stands: str | None) -> bool:
    """Whether a list means what stands there, also after a spreadsheet has rewritten it.

    >>> same_text("TRUE", "true"), same_text("true", "1"), same_text("7021", "07021"), same_text("Leith", "Lieth")
    (True, True, True, False)
    """
    if listed is None or stands is None:
        return listed == stands
    if listed == stands or listed.replace("\r\n", "\n") == stands.replace("\r\n", "\n"):
        return True
    word = listed.casefold()
    if word in ("true", "false"):
        return bool(word == truth(pa.array([stands]))[0].as_py())
    return rewritten(listed, stands)


def rewritten(listed: str | None, stands: str | None) -> bool:
    """Whether both are the same number, written differently: a spreadsheet drops zeros and changes the decimal sign.

    >>> rewritten("7021", "07021"), rewritten("0,5", "0.50"), rewritten("7021", "7021")
    (True, True, False)
    """
    if listed is None or stands is None or listed == stands:
        return False
    if not NUMBER.fullmatch(listed.strip()) or not NUMBER.fullmatch(stands.strip()):
        return False
    return float(listed.replace(",", ".")) == float(stands.replace(",", "."))


class _Search:
    """One pass over the table: which rows are meant, and what stands in the cells asked for."""

    def __init__(self, cells: CellList, source: Source, id: str | None, candidates: list[list[int]]) -> None:
        self._cells, self._source = cells, source
        self._id = None if id is None else _id_place(source, id)
        self._index: pa.Array | None = getattr(source, "index", None) if id is None else None
        by_name: dict[str, int] = {}
        self.of = np.array([by_name.setdefault(cell.record, len(by_name)) for cell in cells], dtype=np.int64)
        """Which of the different records each cell is in, [c]."""
        self._records = list(by_name)
        self.row = np.full(len(by_name), -1, dtype=np.int64)
        """Row number of each record, [r]."""
        self.stands: dict[tuple[int, int], str | None] = {}
        """By cell and place of the column, what stands there."""
        asked: dict[int, list[int]] = {}
        for number, places in enumerate(candidates):
            for place in places:
                asked.setdefault(place, []).append(number)
        self._asked = {place: np.array(numbers, dtype=np.int64) for place, numbers in sorted(asked.items())}
        self.rows = 0

    def run(self) -> Iterator[int]:
        """Read to the end; gives the rows of each batch."""
        named = self._id is not None or self._index is not None
        find = self._by_name() if named else self._by_number()
        places = list(dict.fromkeys([*self._asked, *([] if self._id is None else [self._id])])) or [0]
        for batch in _batches(self._source, places, None if named else frozenset(self.row.tolist())):
            local = find(batch, places)
            for place, numbers in self._asked.items():
                here = local[self.of[numbers]]
                hit = here >= 0
                if hit.any():
                    cells = batch.column(places.index(place)).take(pa.array(here[hit]))
                    texts = to_text(cells, self._source.names[place]).to_pylist()
                    self.stands.update(zip(((n, place) for n in numbers[hit].tolist()), texts, strict=True))
            self.rows += batch.num_rows
            yield batch.num_rows

    def _by_number(self) -> Any:
        """Records are row numbers."""
        asked = np.array([self._number(record) for record in self._records], dtype=np.int64)
        self.row[:] = asked

        def find(batch: pa.RecordBatch, places: Sequence[int]) -> np.ndarray:
            local = asked - self.rows
            local[local >= batch.num_rows] = -1
            return np.maximum(local, -1)

        return find

    def _by_name(self) -> Any:
        """Records are what a column or an index says."""
        names = {record: number for number, record in enumerate(self._records)}
        for number, record in enumerate(self._records):  # as a spreadsheet writes a whole number
            names.setdefault(plain_record(record), number)
        wanted, owner = pa.array(list(names), pa.string()), np.array(list(names.values()), dtype=np.int64)

        def find(batch: pa.RecordBatch, places: Sequence[int]) -> np.ndarray:
            if self._index is not None:
                ids = to_text(self._index.slice(self.rows, batch.num_rows), "index")
            else:
                ids = to_text(batch.column(places.index(self._id or 0)), "id")
            found = pc.index_in(ids, value_set=wanted).fill_null(-1).to_numpy(zero_copy_only=False)
            local = np.full(len(self._records), -1, dtype=np.int64)
            for row in np.flatnonzero((found >= 0) & ids.is_valid().to_numpy(zero_copy_only=False)).tolist():
                number = int(owner[found[row]])
                if self.row[number] >= 0:
                    raise InputError(
                        f"{self._source.label}: '{self._records[number]}' names row {self.row[number]} and row "
                        f"{self.rows + row}; give an `id` column without repeats"
                    )
                self.row[number], local[number] = self.rows + row, row
            return local

        return find

    def _number(self, record: str) -> int:
        plain = plain_record(record)
        if not plain.isdecimal() or len(plain) > 18:
            cell = next(cell for cell in self._cells if cell.record == record)
            hint = SAME if self._cells.own else "if it is the value of a column, name that column with `id`"
            raise InputError(f"{self._cells.where(cell)}: '{record}' is not a row number; {hint}")
        return int(plain)


def _batches(source: Source, places: Sequence[int], rows: frozenset[int] | None) -> Iterator[pa.RecordBatch]:
    """Columns of a table; where it is known which rows matter, the others may come out blank."""
    if isinstance(source, CsvSource):
        return source.cells(places)
    names = [source.names[place] for place in places]
    if isinstance(source, JsonLinesSource) and rows is not None:
        return source.cells(names, rows)
    return source.batches(names)


def _id_place(source: Source, id: str) -> int:
    places = [place for place, name in enumerate(source.names) if name == id]
    if not places:
        raise InputError(
            f"{source.label}: no column '{id}', which identifies the rows; {nearest(id, source.names, listed=COLUMNS)}"
        )
    if len(places) > 1:
        raise InputError(f"{source.label}: there are {len(places)} columns named '{id}'; rename all but one")
    return places[0]


def _places(cell: ListedCell, cells: CellList, source: Source) -> list[int]:
    places = [place for place, name in enumerate(source.names) if name == cell.column]
    if not places:
        raise InputError(
            f"{cells.where(cell)}: {source.label} has no column '{cell.column}'; {nearest(cell.column, source.names)}"
        )
    return places


def _settled(cells: CellList, source: Source, search: _Search, candidates: list[list[int]]) -> list[Located]:
    """Every cell at its one place, or a word on what does not fit."""
    found: list[Located] = []
    strange: list[tuple[ListedCell, str | None]] = []
    for number, (cell, places) in enumerate(zip(cells, candidates, strict=True)):
        row = int(search.row[search.of[number]])
        if row < 0:
            hint = "use the list and the `id` of the same audit (a spreadsheet may have dropped zeros at its beginning)"
            raise InputError(
                f"{cells.where(cell)}: no row of {source.label} is named '{cell.record}'; {SAME if cells.own else hint}"
            )
        if row >= search.rows:
            raise InputError(
                f"{cells.where(cell)}: there is no row {row} in {source.label}, which has {search.rows:,} rows, "
                "counted from 0"
            )
        fitting = [p for p in places if not cell.checked or same_text(cell.value, search.stands[number, p])]
        if len(places) > 1 and len(fitting) != 1:
            raise InputError(
                f"{cells.where(cell)}: {source.label} has {len(places)} columns named '{cell.column}', and `value` "
                "does not tell which is meant; rename all but one"
            )
        if fitting:
            found.append(Located(row, fitting[0], search.stands[number, fitting[0]]))
        else:
            strange.append((cell, search.stands[number, places[0]]))
    if strange:
        raise _foreign(cells, source, strange)
    return found


def _foreign(cells: CellList, source: Source, strange: Sequence[tuple[ListedCell, str | None]]) -> InputError:
    cell, stands = strange[0]
    share = f"{len(strange):,} of {len(cells):,} cells differ" if len(strange) > 1 else "the others fit"
    if len(cells) == 1:
        share = "it is the only cell"
    hint = "the list is for another table, or the table has changed: audit it again"
    return InputError(
        f"{cells.where(cell)}: {source.label} has {_quoted(stands)} in row {cell.record}, column '{cell.column}', not "
        f"{_quoted(cell.value)} ({share}); {SAME if cells.own else hint}"
    )


def _quoted(text: str | None) -> str:
    if text is None:
        return "a blank cell"
    return f"'{text}'" if len(text) <= 60 else f"'{text[:59]}…'"
