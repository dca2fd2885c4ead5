"""A list of cells in any form that a caller may have it, and whether it is about the table at hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from carat.auditing.applying.content import checksum
from carat.auditing.decisions import CellList, list_of, read_cells
from carat.auditing.options import AuditOptions
from carat.auditing.reading import read_table
from carat.auditing.result import SCHEMA, AuditResult, Cell
from carat.errors import InputError


def cell_list(cells: Any) -> CellList:
    """A list from a file, a frame, dictionaries, or the result of an audit."""
    if isinstance(cells, CellList):
        return cells
    if isinstance(cells, str | Path):
        return read_cells(cells)
    if isinstance(cells, AuditResult):
        about = {
            "options": {**cells.options.facts(), "encoding": cells.reading.encoding},
            "origin": {} if cells.origin is None else cells.origin.to_json(),
        }
        return replace(list_of(cells.to_arrow(), label="the audit", blank=""), about=about, own=True)
    if isinstance(cells, Mapping) and cells.get("schema") == SCHEMA:  # of `to_json`
        cells = cells.get("cells")
    if isinstance(cells, list | tuple):
        if not cells:
            return CellList(())
        cells = [asdict(cell) if isinstance(cell, Cell) else cell for cell in cells]
    return list_of(cells, blank="")


def check_order(cells: Any, table: Any) -> None:
    """Refuse a list where the table should be, before anything is said of what the table lacks to be a list."""
    mine, theirs = _columns(cells), _columns(table)
    if isinstance(table, AuditResult | CellList) or (theirs >= LISTED and mine and not mine >= LISTED):
        raise InputError("`table` is a list of cells; the list comes first, and the table second: apply(cells, table)")


LISTED = {"record", "column", "proposal", "decision"}
"""Columns by which a list is known."""


def _columns(thing: Any) -> set[str]:
    """Names of the columns of what is in memory; none of a path."""
    if isinstance(thing, AuditResult | CellList):
        return LISTED
    names = getattr(thing, "column_names", None)  # Arrow's `columns` are the columns themselves
    return {str(name) for name in (getattr(thing, "columns", ()) if names is None else names)}


def check_same_table(cells: CellList, table: Path, encoding: str | None) -> None:
    """Refuse a list whose audit read another table; without a word on the audit, the values alone decide.

    Raises:
        InputError: where the table is another one.
    """
    origin, options = cells.about.get("origin") or {}, cells.about.get("options") or {}
    known = origin.get("fingerprint")
    if not known or (origin.get("checksum") and origin["checksum"] == checksum(table)):
        return
    # Perhaps it was packed, converted or saved anew: then its cells are the same.
    named = AuditOptions(columns=options.get("columns"), also=options.get("also") or (), id=options.get("id"))
    if read_table(table, named, encoding=encoding).fingerprint != known:
        raise InputError(
            f"{table}: is not the table that {cells.label} is about, or has changed since; audit it again, or, if only "
            f"other cells changed and no row was added, removed or moved, remove {cells.label}.about.json"
        )
