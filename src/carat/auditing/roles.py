"""Which part every column of a table takes in an audit."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.auditing.findings import Role
from carat.auditing.options import AuditOptions
from carat.auditing.table import AuditColumn, AuditTable
from carat.data.text import is_date, is_number

ONCE = 0.5
"""Where more than this share of a column's cells hold a value that comes only once, other rows can't vote on it."""
MOSTLY = 0.9
"""Share of cells that look alike from which the column is of that kind: a dirty column is never wholly so."""
SPREAD = 3
"""Numbers or dates that come fewer times than this on average are measured, not chosen from a list."""
MANY = 10_000
"""So many different numbers with a fraction are measured, however long the table is."""
FEW = 50
"""With fewer different values there is no telling a measure from a list."""
CODE = re.compile(r"\d+\Z")

UNIQUE = "a different value in every row"
NAMES_ROWS = "used as the row ID"
NOT_NAMED = "not among the columns you named"
BY_NAME = "left out by name"
CHOSEN = (NAMES_ROWS, NOT_NAMED, BY_NAME)
"""Why a column is left out where the user said so."""
MOSTLY_ONCE = "most values occur only once"
MEASURED = {"numbers": "numbers with very many values", "dates": "dates with very many values"}


def roles(table: AuditTable, options: AuditOptions) -> tuple[tuple[Role, str], ...]:
    """The role of every column and, where similar rows do not vote on it, why; in the order of the table.

    A column takes part unless it is constant, unique per row, the id, or left out by name. Columns in which values
    hardly repeat, and numbers or dates with very many values, get text checks alone. A column that is named takes part
    whatever it looks like; one with a different value in every row still can't be voted on.
    """
    return tuple(_role(column, table.rows, options) for column in table.columns)


def _role(column: AuditColumn, rows: int, options: AuditOptions) -> tuple[Role, str]:
    name = column.name
    if name in options.without:
        return "left out", BY_NAME
    named = name in options.named
    if name == options.id and not named:
        return "left out", NAMES_ROWS
    if options.columns is not None and not named:
        return "left out", NOT_NAMED
    if not len(column.values):
        return "left out", "no values"
    cells = int(column.counts.sum())
    unique = len(column.values) == cells and cells > 1
    if named:
        return ("text", UNIQUE) if unique else ("voted", "")
    if len(column.values) == 1:
        return "left out", "only one value"
    if unique:
        return "left out", UNIQUE
    if int((column.counts == 1).sum()) > ONCE * cells:
        return "text", MOSTLY_ONCE
    measured = _measured(column, cells)
    return ("text", MEASURED[measured]) if measured else ("voted", "")


def _measured(column: AuditColumn, cells: int) -> str | None:
    """What kind of measure a column holds, or None: codes of digits are no measure, they stand for something."""
    values = len(column.values)
    if values < FEW or (values * SPREAD <= cells and values <= MANY):
        return None
    texts = pa.array(column.values, pa.string())

    def share(which: pa.Array) -> float:
        return float(column.counts[which.to_numpy(zero_copy_only=False)].sum()) / cells

    if share(is_date(texts)) >= MOSTLY:
        return "dates" if values * SPREAD > cells else None
    if share(is_number(texts)) < MOSTLY or _codes(column, cells):
        return None
    fractions = share(pc.match_substring_regex(texts, r"\d[.,]\d")) > 1 - MOSTLY
    return "numbers" if values * SPREAD > cells or fractions else None


def _codes(column: AuditColumn, cells: int) -> bool:
    """Whether nearly all cells are digits of one length, as zip codes, phone numbers and account numbers are."""
    lengths = np.fromiter(
        (len(text) if CODE.match(text) else 0 for text in column.values), dtype=np.int64, count=len(column.values)
    )
    by_length = np.bincount(lengths, weights=column.counts)
    by_length[:4] = 0  # up to three digits are as often a number as a code
    return bool(by_length.max(initial=0) >= MOSTLY * cells)
