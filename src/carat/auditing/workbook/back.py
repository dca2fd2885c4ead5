"""Findings read back from a workbook, with what a person has decided in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from carat.auditing.workbook.looks import COLUMNS, FINDINGS, SECOND
from carat.data.workbooks.package import damaged, open_package
from carat.data.workbooks.values import cell_name, cell_text, unescaped
from carat.data.workbooks.writing import load_openpyxl
from carat.errors import InputError


def read_findings(path: str | Path) -> pa.Table:
    """The list of findings in a workbook, as `AuditResult.to_file` has it, with the decisions.

    Rows may be sorted, hidden, removed and added, and columns added. A formula is read as its own text: that is what
    Excel makes of a decision such as `=Berlin`.
    """
    path = Path(path)
    names = {sheet.name for sheet in open_package(path).sheets if sheet.cells}
    sheet = next((name for name in (FINDINGS + SECOND, FINDINGS) if name in names), None)
    if sheet is None:
        raise InputError(f"{path}: no sheet '{FINDINGS}'; give a workbook that carat audit --out wrote")
    rows = _rows(path, sheet)
    header = [_text(value) for value in next(rows, ())]
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise InputError(f"{path}: no column '{missing[0]}' in row 1 of the sheet '{sheet}'; put it back as it was")
    places = [header.index(name) for name in COLUMNS]
    columns: list[list[Any]] = [[] for _ in COLUMNS]
    for number, row in enumerate(rows, start=1):
        values = [row[place] if place < len(row) else None for place in places]
        if all(value is None for value in values):
            continue
        for name, column, place, value in zip(COLUMNS, columns, places, values, strict=True):
            try:
                column.append(_value(name, value))
            except (ValueError, TypeError) as error:
                where = f"{sheet}!{cell_name(number, place)}"
                raise InputError(f"{path}: {where} can't be read as '{name}': {_text(value)!r}") from error
    return pa.table([_array(name, column) for name, column in zip(COLUMNS, columns, strict=True)], names=list(COLUMNS))


def _rows(path: Path, sheet: str) -> Iterator[tuple[Any, ...]]:
    """The cells of a sheet, formulas as they are written."""
    openpyxl = load_openpyxl()
    try:
        book = openpyxl.load_workbook(path, read_only=True)
        try:
            found = book[sheet]
            found.reset_dimensions()  # not every program says truly how far a sheet goes
            yield from found.iter_rows(values_only=True)
        finally:
            book.close()
    except InputError:
        raise
    except Exception as error:  # openpyxl has no errors of its own for damaged files
        raise damaged(path) from error


def _text(value: Any) -> str | None:
    """The text of a cell; of a formula, also one over several cells, the formula."""
    formula = getattr(value, "text", None)
    if isinstance(formula, str):
        value = formula if formula.startswith("=") else f"={formula}"
    text = cell_text(value)
    return None if text is None else unescaped(text)


def _value(name: str, value: Any) -> Any:
    """A cell as its column wants it."""
    if value is None or value == "":
        return None
    if name == "record":
        return int(value) if isinstance(value, float) and value.is_integer() else _own(value)
    if name in ("error", "confidence"):
        return float(value)
    if name == "group":
        return int(value)
    if name == "alternatives":
        others = json.loads(_text(value) or "[]")
        if not isinstance(others, list) or not all(isinstance(text, str) for text in others):
            raise ValueError("not a list of texts")
        return others
    return _text(value)


def _own(value: Any) -> Any:
    return value if isinstance(value, int) and not isinstance(value, bool) else _text(value)


def _array(name: str, values: list[Any]) -> pa.Array:
    if name == "record":
        if all(value is None or isinstance(value, int) for value in values):
            return pa.array(values, pa.int64())
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    kinds = {"error": pa.float64(), "confidence": pa.float64(), "group": pa.int64()}
    return pa.array(values, pa.list_(pa.string()) if name == "alternatives" else kinds.get(name, pa.string()))
