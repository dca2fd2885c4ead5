"""Changes of single cells in a copy of an Excel workbook, and in nothing else of it.

The XML of the one sheet is changed where the cells stand; every other part of the archive is copied as it is. A library
that reads a workbook and writes it again would drop what it does not know, such as shapes, slicers and form controls.
"""

from __future__ import annotations

import copy
import re
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from carat.auditing.applying.edits import Edit
from carat.auditing.applying.workbook_cells import Change, changes_of
from carat.data.workbooks.grid import Grid, read_grid
from carat.data.workbooks.package import Package, contains, reading, split_sheet
from carat.data.workbooks.values import cell_name
from carat.data.workbooks.walking import CellWalk, RawCell, Tag, Walk
from carat.errors import InputError
from carat.files import replacing

_FORMULA = re.compile(rb"<(?:\w+:)?f[ />]")
_SETTINGS = re.compile(rb"<(?:\w+:)?calcPr\b[^>]*>")
_BEFORE_SETTINGS = re.compile(rb"</(\w+:|)(?:sheets|functionGroups|externalReferences|definedNames)>")


def patch_workbook(table: str | Path, out: Path, edits: Sequence[Edit]) -> None:
    """Write a copy of a workbook with these cells changed.

    A cell keeps its style. A number stays a number, a date a date, where the new text is one. Formulas elsewhere are
    calculated again when Excel opens the copy; LibreOffice waits until it is asked to.

    Args:
        table: the workbook, followed by `#Sheet name` for another sheet than the first.
        out: where the copy goes; it is there whole, or not at all.
        edits: the changes, by row and column of the table.

    Raises:
        InputError: where a cell does not hold what an edit expects, or holds a formula.
    """
    path, sheet = split_sheet(table)
    grid = read_grid(path, sheet)
    changes = changes_of(grid, edits)
    with (
        replacing(out) as temporary,
        reading(path) as archive,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as made,
    ):
        for entry in archive.infolist():
            with archive.open(entry) as source, made.open(copy.copy(entry), "w") as target:
                if entry.filename == grid.sheet.part:
                    _Patch(grid, changes).run(source, target)
                elif entry.filename == grid.package.workbook and _has_formulas(archive, grid.package):
                    target.write(_calculated_anew(source.read()))
                else:
                    shutil.copyfileobj(source, target, 1 << 20)


def formula_cells(table: str | Path) -> set[tuple[int, int]]:
    """Row and column of every cell of the table that holds a formula; `patch_workbook` refuses to change those."""
    path, sheet = split_sheet(table)
    grid = read_grid(path, sheet)
    columns = {place: column for column, place in enumerate(grid.places)}
    found: set[tuple[int, int]] = set()

    def take(cell: RawCell) -> None:
        row = cell.row - grid.header - 1
        if cell.formula is not None and 0 <= row < grid.rows and cell.column in columns:
            found.add((row, columns[cell.column]))

    with reading(path) as archive, archive.open(grid.sheet.part) as file:
        CellWalk(take).run(file)
    return found


class _Patch(Walk):
    """One way through a sheet that leaves out the cells to change and puts in the new ones."""

    def __init__(self, grid: Grid, changes: dict[int, dict[int, Change]]) -> None:
        super().__init__()
        self._grid = grid
        self._rows = dict(sorted(changes.items()))
        self._cells: dict[int, Change] = {}
        self._splices: list[tuple[int, int, bytes]] = []
        self._column_styles: list[tuple[int, int, int]] = []
        self._row_style: int | None = None
        self._lent: dict[int, int] = {}
        self._wanted = {
            place: change.kind for row in changes.values() for place, change in row.items() if change.borrows
        }

    def run(self, source: IO[bytes], target: IO[bytes]) -> None:
        """From one sheet to the other."""
        for piece, base in self.walk(source):
            at = base
            while self._splices and self._splices[0][0] < base + len(piece):
                start, end, new = self._splices.pop(0)
                target.write(piece[at - base : start - base])
                target.write(new)
                at = end
            target.write(piece[at - base :])

    def on_other(self, name: str, attributes: dict[str, str]) -> None:
        """Columns have styles of their own, for the cells that are not there."""
        if name == "col" and "style" in attributes:
            first, last = int(attributes["min"]) - 1, int(attributes["max"]) - 1
            self._column_styles.append((first, last, int(attributes["style"])))

    def on_row(self, attributes: dict[str, str], start: int) -> None:
        """Rows that are not there come before the next one that is."""
        self._insert_rows(start, before=self.row)
        self._cells = dict(sorted(self._rows.pop(self.row, {}).items()))
        own = attributes.get("customFormat") in ("1", "true")
        self._row_style = int(attributes["s"]) if own and "s" in attributes else None

    def on_cell(self, cell: RawCell) -> None:
        """A cell to change is replaced; cells that are not there come before the next one that is."""
        if cell.column in self._wanted and self._kind(cell) == self._wanted[cell.column]:
            self._lent[cell.column] = cell.style
        if not self._cells:
            return
        new = self._new_cells(before=cell.column)
        change = self._cells.pop(cell.column, None)
        end = cell.start
        if change is not None:
            if cell.formula is not None:
                name = cell_name(cell.row, cell.column)
                raise InputError(
                    f"{self._grid.package.path}: {self._grid.sheet.name}!{name} holds a formula, which is left alone; "
                    "reject this fix, or change the formula yourself"
                )
            new, end = new + self._cell_xml(change, cell.style), cell.end
        if new:
            self._splices.append((cell.start, end, new))

    def on_row_end(self, tag: Tag, *, empty: bool) -> None:
        """Cells that are not there and come after all that are."""
        if new := self._new_cells():
            end = f"</{self.prefix}row>".encode()
            self._splices.append((*tag, b">" + new + end) if empty else (tag[0], tag[0], new))

    def on_sheet_end(self, tag: Tag) -> None:
        """Rows that are not there and come after all that are."""
        self._insert_rows(tag[0], before=None)

    def _insert_rows(self, at: int, before: int | None) -> None:
        new = b""
        for row in [row for row in self._rows if before is None or row < before]:
            self._cells, self._row_style = dict(sorted(self._rows.pop(row).items())), None
            new += f'<{self.prefix}row r="{row + 1}">'.encode() + self._new_cells()
            new += f"</{self.prefix}row>".encode()
        if new:
            self._splices.append((at, at, new))

    def _new_cells(self, before: int | None = None) -> bytes:
        """The XML of cells that are not there yet, styled as their row or column is."""
        places = [place for place in self._cells if before is None or place < before]
        new = b""
        for place in places:
            change = self._cells.pop(place)
            style = self._row_style
            if style is None:
                style = next((style for first, last, style in self._column_styles if first <= place <= last), 0)
            new += self._cell_xml(change, style)
        return new

    def _cell_xml(self, change: Change, style: int) -> bytes:
        return change.xml(style, self._lent.get(change.column), self.prefix, self._grid.package)

    def _kind(self, cell: RawCell) -> int | None:
        """What a cell of the table is; None for one outside of it."""
        row = cell.row - self._grid.header - 1
        kinds = self._grid.kinds[self._grid.places.index(cell.column)]
        return int(kinds[row]) if 0 <= row < len(kinds) else None


def _has_formulas(archive: zipfile.ZipFile, package: Package) -> bool:
    """Whether there is anything to calculate anew."""
    for sheet in package.sheets:
        if sheet.cells:
            with archive.open(sheet.part) as file:
                if contains(file, _FORMULA):
                    return True
    return False


def _calculated_anew(workbook: bytes) -> bytes:
    """The list of sheets, with the word that formulas are calculated when it is opened."""
    if b"fullCalcOnLoad" in workbook:
        return workbook
    if (found := _SETTINGS.search(workbook)) is not None:
        new = found[0].replace(b"calcPr", b'calcPr fullCalcOnLoad="1"', 1)
        return workbook[: found.start()] + new + workbook[found.end() :]
    for found in reversed(list(_BEFORE_SETTINGS.finditer(workbook))):
        return workbook[: found.end()] + b"<" + found[1] + b'calcPr fullCalcOnLoad="1"/>' + workbook[found.end() :]
    return workbook
