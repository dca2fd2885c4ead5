"""Change cells of a CSV file and no other byte of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carat.auditing.applying.content import Copy, Splice
from carat.auditing.applying.edits import Edit
from carat.auditing.applying.letters import Letters
from carat.auditing.applying.scanning import cell_bounds, row_bounds, unquoted, written
from carat.data.sources.csv import CsvSource, codec_of
from carat.errors import InputError

LONGEST = 1 << 25
"""Bytes of one row; the reader, too, takes a longer one for a quote that was never closed."""


def patch_csv(copy: Copy, source: CsvSource, edits: Sequence[Edit], encoding: str | None) -> list[Splice]:
    """Copy a CSV file with some cells changed.

    Args:
        copy: from the table to the new file.
        source: the table, for its delimiter and columns.
        edits: by row and column, each cell at most once.
        encoding: of the file; None is UTF-8.

    Returns:
        What was replaced, in the order of `edits`; a cell that holds the new text already is left alone, and its
        splice has the same bytes before and after.
    """
    start = copy.read()
    letters = Letters.of(codec_of(encoding), start, source.label, source.delimiter)
    patch = _Patch(source, letters, edits)
    copy.write(letters.mark)
    held, made = start[len(letters.mark) :], []
    row = -1  # the header
    final = False
    while not final:
        piece = copy.read()
        final = not piece
        whole = len(held) - len(held) % letters.width
        if final and whole < len(held):
            raise InputError(f"{source.label}: not {encoding} text; try another `encoding`")
        starts, ends, told = row_bounds(letters.ascii(held[:whole]), source.delimiter.encode(), final=final)
        told *= letters.width
        changes = patch.changes(held, starts, ends, row)
        made += copy.splice(held, told, changes)
        row += len(starts)
        held = held[told:] + piece
        if len(held) > LONGEST + len(piece):
            raise InputError(f"{source.label}: row {row} is longer than 32 MB; is a quote missing?")
    if len(made) < len(edits):
        raise changed_meanwhile(source.label)
    return made


def changed_meanwhile(label: str) -> InputError:
    """The error for a table that is not what it was when it was looked at."""
    return InputError(f"{label}: has changed while it was read; try again")


class _Patch:
    """What the rows of a piece become."""

    def __init__(self, source: CsvSource, letters: Letters, edits: Sequence[Edit]) -> None:
        self._source, self._letters = source, letters
        self._delimiter = source.delimiter.encode()
        self._edits = edits
        self._rows = np.array([edit.row for edit in edits], dtype=np.int64)

    def changes(self, held: bytes, starts: np.ndarray, ends: np.ndarray, row: int) -> list[tuple[int, int, bytes]]:
        """Start, end and new bytes of the cells to change among rows of which the first has this number."""
        found: list[tuple[int, int, bytes]] = []
        at, last = np.searchsorted(self._rows, [max(row, 0), row + len(starts)]).tolist()
        while at < last:
            number = self._edits[at].row
            after = int(np.searchsorted(self._rows, number, "right"))
            start, end = int(starts[number - row]), int(ends[number - row])
            found += self._row(held, start, end, self._edits[at:after])
            at = after
        return found

    def _row(self, held: bytes, start: int, end: int, edits: Sequence[Edit]) -> list[tuple[int, int, bytes]]:
        width, columns = self._letters.width, len(self._source.names)
        raw = held[start * width : end * width]
        bounds = cell_bounds(self._letters.ascii(raw), self._delimiter)
        if len(bounds) != columns:
            raise InputError(
                f"{self._source.label}: row {edits[0].row} has {len(bounds)} cells, but the header {columns}"
            )
        changes = []
        for edit in edits:
            first, last = (place * width for place in bounds[edit.column])
            new = self._cell(raw[first:last], edit, alone=columns == 1)
            changes.append((start * width + first, start * width + last, new))
        return changes

    def _cell(self, raw: bytes, edit: Edit, *, alone: bool) -> bytes:
        """The new bytes of a cell; an empty row would be no row at all, so its only cell is quoted."""
        column, text = self._source.names[edit.column], edit.after or ""
        try:
            stands = self._letters.decode(raw)
        except UnicodeDecodeError as error:
            raise InputError(f"{self._source.label}: row {edit.row} can't be read; try another `encoding`") from error
        if unquoted(stands) != (edit.before or ""):
            raise changed_meanwhile(self._source.label)
        if unquoted(stands) == text:
            return raw
        quoted = stands.startswith('"') or (alone and not text)
        try:
            return self._letters.encode(written(text, self._source.delimiter, quoted=quoted))
        except UnicodeEncodeError as error:
            raise InputError(
                f"{self._source.label}: '{text}' for row {edit.row}, column '{column}' can't be written in "
                f"{self._letters.encoding}; choose another value, or convert the table to UTF-8 first"
            ) from error
