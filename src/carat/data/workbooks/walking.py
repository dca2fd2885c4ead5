"""Walk through the XML of a sheet, cell by cell, knowing where in the bytes each cell stands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO
from xml.parsers import expat

CHUNK = 1 << 20
Tag = tuple[int, int]
"""Where an element begins in the bytes, and where it ends."""


@dataclass(slots=True)
class RawCell:
    """A cell as its XML has it.

    Args:
        row: from 0.
        column: from 0.
        kind: its attribute `t`; "n" for numbers, which need none.
        style: its attribute `s`.
        start: where its XML begins.
        end: where its XML ends.
        formula: the attributes of its formula; None where it has none.
        value: the text of its value; None where it has none.
    """

    row: int
    column: int
    kind: str
    style: int
    start: int
    end: int = 0
    formula: dict[str, str] | None = None
    value: str | None = None


class Walk:
    """One way through a sheet; what a subclass does with rows and cells is up to it.

    The bytes are fed in chunks and given up as soon as no cell that is under way needs them, so that a sheet of any
    size takes the memory of a chunk.
    """

    def __init__(self) -> None:
        self._parser = expat.ParserCreate()
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._starts
        self._parser.EndElementHandler = self._ends
        self._buffer, self._base = b"", 0
        self._inside = False
        self._at = 0
        self._cell: RawCell | None = None
        self._texts: list[str] = []
        self.prefix = ""
        """What stands before the name of every element: mostly nothing."""
        self.row, self.column = -1, -1
        """Where the walk is, from 0."""

    # What a subclass may do.

    def on_row(self, attributes: dict[str, str], start: int) -> None:
        """A row begins."""

    def on_cell(self, cell: RawCell) -> None:
        """A cell is complete."""

    def on_row_end(self, tag: Tag, *, empty: bool) -> None:
        """A row ends with this tag; that of an `empty` one is the `/>` of its only tag."""

    def on_sheet_end(self, tag: Tag) -> None:
        """All rows have come."""

    def on_other(self, name: str, attributes: dict[str, str]) -> None:
        """An element before or after the rows begins."""

    # The way itself.

    def walk(self, file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
        """Pieces of the file in order, each with the place of its first byte; a cell is never cut in two."""
        while chunk := file.read(CHUNK):
            self._buffer += chunk
            self._parser.Parse(chunk, False)
            yield self._given_up(self._at)
        self._parser.Parse(b"", True)
        yield self._given_up(self._base + len(self._buffer))

    def _given_up(self, until: int) -> tuple[bytes, int]:
        """What nobody needs any more: all before the cell that is under way."""
        if self._cell is not None:
            until = self._cell.start
        piece, base = self._buffer[: until - self._base], self._base
        self._buffer, self._base = self._buffer[until - self._base :], until
        return piece, base

    def _starts(self, name: str, attributes: dict[str, str]) -> None:
        self._at = start = self._parser.CurrentByteIndex
        local = name.rpartition(":")[2]
        if not self._inside:
            if local == "sheetData":
                self._inside, self.prefix = True, name[: -len(local)]
            else:
                self.on_other(local, attributes)
        elif local == "c":
            self.column = _column(attributes["r"]) if "r" in attributes else self.column + 1
            kind, style = attributes.get("t", "n"), int(attributes.get("s", 0))
            self._cell = RawCell(self.row, self.column, kind, style, start)
        elif local == "row":
            self.row = int(attributes["r"]) - 1 if "r" in attributes else self.row + 1
            self.column = -1
            self.on_row(attributes, start)
        elif self._cell is not None:
            if local == "f":
                self._cell.formula = attributes
            elif local == "v":
                self._texts = []
                self._parser.CharacterDataHandler = self._texts.append

    def _ends(self, name: str) -> None:
        if not self._inside:
            return
        local = name.rpartition(":")[2]
        if local == "v" and self._cell is not None:
            self._cell.value = "".join(self._texts)
            self._parser.CharacterDataHandler = None
        elif local == "c" and self._cell is not None:
            (_, self._cell.end), _ = self._end_tag(name)
            cell, self._cell = self._cell, None
            self.on_cell(cell)
        elif local == "row":
            tag, empty = self._end_tag(name)
            self.on_row_end(tag, empty=empty)
        elif local == "sheetData":
            self._inside = False
            tag, _ = self._end_tag(name)
            self.on_sheet_end(tag)

    def _end_tag(self, name: str) -> tuple[Tag, bool]:
        """The tag that ends an element, and whether it is the `/>` of an empty one, behind which the parser stands."""
        place: int = self._parser.CurrentByteIndex
        at = place - self._base
        if not self._buffer.startswith(f"</{name}".encode(), at):
            self._at = place
            return (place - 2, place), True
        self._at = self._base + self._buffer.index(b">", at) + 1
        return (place, self._at), False


class CellWalk(Walk):
    """Hands every cell on.

    Args:
        take: is given each cell.
    """

    def __init__(self, take: Callable[[RawCell], None]) -> None:
        super().__init__()
        self._take = take

    def on_cell(self, cell: RawCell) -> None:
        """Hand it on."""
        self._take(cell)

    def run(self, file: IO[bytes]) -> None:
        """Walk to the end."""
        for _ in self.walk(file):
            pass


def _column(name: str) -> int:
    """The column of a cell by its name, from 0.

    >>> _column("A1"), _column("AB12")
    (0, 27)
    """
    place = 0
    for sign in name:
        if sign.isdigit():
            break
        place = place * 26 + ord(sign) - 64
    return place - 1
