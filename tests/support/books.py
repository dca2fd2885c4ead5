"""Workbooks for tests, and LibreOffice to open them with."""

from __future__ import annotations

import shutil
import subprocess
import warnings
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

FILTERS = {"csv": "csv:Text - txt - csv (StarCalc):44,34,76", "xlsx": "xlsx:Calc MS Excel 2007 XML"}
"""How LibreOffice calls formats; a CSV file with commas, quotes and UTF-8."""
PATIENCE = 120
"""Seconds for LibreOffice on a busy machine."""


def write_book(path: Path, sheets: Mapping[str, Iterable[Iterable[Any]]]) -> Path:
    """A workbook with these rows on these sheets; a text is a text, whatever it begins with."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        for cells in sheet.iter_rows():
            for cell in cells:
                if isinstance(cell.value, str):
                    cell.data_type = "s"
    book.save(path)
    return path


def office(path: Path, kind: str, folder: Path) -> Path:
    """What LibreOffice makes of a file, in another format; skipped, loudly, where there is none."""
    program = shutil.which("soffice")
    if program is None:
        warnings.warn("no soffice: the tests with LibreOffice are skipped", stacklevel=2)
        pytest.skip("no soffice on this machine")
    home = folder / "home"
    command = [program, f"-env:UserInstallation={home.as_uri()}", "--headless", "--convert-to", FILTERS.get(kind, kind)]
    subprocess.run([*command, "--outdir", folder, path], check=True, capture_output=True, timeout=PATIENCE)
    return folder / f"{path.stem}.{kind}"


def parts_of(path: Path) -> dict[str, bytes]:
    """All parts of a workbook, as they are."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def with_part(path: Path, name: str, content: bytes) -> Path:
    """The same workbook with another content of one part."""
    parts = parts_of(path) | {name: content}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, blob in parts.items():
            archive.writestr(one, blob)
    return path
