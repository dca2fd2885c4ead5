"""A workbook as the zip archive that it is: its sheets, where their XML lies, formats that show leading zeros."""

from __future__ import annotations

import posixpath
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from carat.data.workbooks.values import zeros_of
from carat.errors import InputError, nearest

ENDING = ".xlsx"
_OLE = b"\xd0\xcf\x11\xe0"
"""How the files of old begin, and those with a password."""
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    ElementTree.ParseError,
    expat.ExpatError,
    LookupError,  # a part that is missing, or an unknown encoding
    StopIteration,
    EOFError,
    OSError,
    RuntimeError,  # for encrypted entries
    ValueError,
)
"""What reading a damaged archive may raise."""


@dataclass(frozen=True)
class Sheet:
    """One sheet of a workbook.

    Args:
        name: as its tab says.
        part: where its XML lies in the archive.
        cells: whether it holds cells, and not a chart.
        visible: whether its tab is shown.
    """

    name: str
    part: str
    cells: bool
    visible: bool


@dataclass(frozen=True)
class Package:
    """What the archive says of itself.

    Args:
        path: of the file.
        workbook: the part that lists the sheets.
        sheets: in the order of their tabs.
        zeros: by number of a cell's style, the pattern of its format where that shows leading zeros.
        from_1904: whether dates are counted from 1904.
    """

    path: Path
    workbook: str
    sheets: tuple[Sheet, ...]
    zeros: dict[int, str]
    from_1904: bool

    def sheet(self, name: str | None) -> Sheet:
        """The sheet of this name, or the first one that a person sees; a near miss is named."""
        tables = [sheet for sheet in self.sheets if sheet.cells]
        if name is None:
            chosen = next((sheet for sheet in tables if sheet.visible), next(iter(tables), None))
            if chosen is None:
                raise InputError(f"{self.path}: the workbook has no sheet with cells")
            return chosen
        found = next((sheet for sheet in tables if sheet.name == name), None)
        if found is None:
            raise InputError(f"{self.path}: no sheet '{name}'; {nearest(name, [sheet.name for sheet in tables])}")
        return found


def split_sheet(path: str | Path) -> tuple[Path, str | None]:
    """File and sheet of `book.xlsx#Sheet name`; the sheet is None where none is named.

    >>> [(str(file), sheet) for file, sheet in map(split_sheet, ("book.xlsx#Prices 2024", "a#b.csv"))]
    [('book.xlsx', 'Prices 2024'), ('a#b.csv', None)]
    """
    text = str(path)
    at = text.lower().rfind(f"{ENDING}#")
    if at < 0 or Path(text).exists():
        return Path(text), None
    end = at + len(ENDING)
    return Path(text[:end]), text[end + 1 :] or None


def is_workbook(path: str | Path) -> bool:
    """Whether the name is that of a workbook, with or without a sheet."""
    return split_sheet(path)[0].suffix.lower() == ENDING


def open_package(path: Path) -> Package:
    """What a workbook says of itself; what only looks like one is refused."""
    _sniff(path)
    with reading(path) as archive:
        workbook = _related(archive, "")["officeDocument"]
        root = _parse(archive, workbook)
        by_id, parts = _related_by_id(archive, workbook), _related(archive, workbook)
        sheets = tuple(_sheet(entry, by_id) for entry in root.iter() if _local(entry.tag) == "sheet")
        settings = next((entry for entry in root.iter() if _local(entry.tag) == "workbookPr"), None)
        from_1904 = settings is not None and settings.get("date1904", "0") in ("1", "true")
        zeros = _zeros(_parse(archive, parts["styles"])) if "styles" in parts else {}
    return Package(path, workbook, sheets, zeros, from_1904)


@contextmanager
def reading(path: Path) -> Iterator[zipfile.ZipFile]:
    """The archive; what is wrong with it in one line."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except InputError:
        raise
    except _BROKEN as error:
        raise damaged(path) from error


def contains(file: IO[bytes], pattern: re.Pattern[bytes]) -> bool:
    """Whether a pattern of a few signs occurs in a file of any size."""
    before = b""
    while chunk := file.read(1 << 20):
        if pattern.search(before + chunk):
            return True
        before = chunk[-32:]
    return False


def damaged(path: Path) -> InputError:
    """The error for a file that can't be read as a workbook."""
    return InputError(f"{path}: not an Excel workbook, or a damaged one; open it in Excel and save it as .xlsx again")


def _sniff(path: Path) -> None:
    """Tell what else goes by the name of a workbook."""
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    with path.open("rb") as file:
        start = file.read(4)
        if start.startswith(_OLE):
            rest = file.read()
            if "EncryptedPackage".encode("utf-16-le") in rest:
                raise InputError(f"{path}: protected by a password; save a copy without one")
            raise InputError(f"{path}: an Excel file of the old format (.xls); open it in Excel and save it as .xlsx")
    if not start.startswith(b"PK"):
        raise InputError(f"{path}: not an Excel workbook; if it is text, rename it to .csv")


def _sheet(entry: ElementTree.Element, by_id: dict[str, tuple[str, str]]) -> Sheet:
    link = next(value for name, value in entry.attrib.items() if _local(name) == "id" and name != "id")
    kind, part = by_id[link]
    return Sheet(entry.get("name", ""), part, kind == "worksheet", entry.get("state", "visible") == "visible")


def _zeros(styles: ElementTree.Element) -> dict[int, str]:
    codes = {
        entry.get("numFmtId"): zeros_of(entry.get("formatCode", ""))
        for entry in styles.iter()
        if _local(entry.tag) == "numFmt"
    }
    found = next((entry for entry in styles if _local(entry.tag) == "cellXfs"), None)
    patterns = enumerate(codes.get(style.get("numFmtId")) for style in ([] if found is None else found))
    return {place: pattern for place, pattern in patterns if pattern is not None}


def _related(archive: zipfile.ZipFile, part: str) -> dict[str, str]:
    """The parts that one refers to, by what they are."""
    return dict(_related_by_id(archive, part).values())


def _related_by_id(archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    folder, name = posixpath.split(part)
    root = _parse(archive, posixpath.join(folder, "_rels", f"{name}.rels"))
    found = {}
    for entry in root:
        target = entry.get("Target", "")
        place = target[1:] if target.startswith("/") else posixpath.normpath(posixpath.join(folder, target))
        found[entry.get("Id", "")] = (entry.get("Type", "").rpartition("/")[2], place)
    return found


def _parse(archive: zipfile.ZipFile, part: str) -> ElementTree.Element:
    return ElementTree.fromstring(archive.read(part))


def _local(name: str) -> str:
    return name.rpartition("}")[2]
