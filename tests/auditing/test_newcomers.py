"""A value that is new to a table is doubted, but nobody is sure of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import carat
from carat.auditing.newcomers import DOUBTED, UNSURE

SUPPLIERS = (
    ("Acme Paper", "Office", "Columbus", "OH"),
    ("Bluebird Freight", "Shipping", "Memphis", "TN"),
    ("Cedar Foods", "Catering", "Atlanta", "GA"),
    ("Delta Print", "Printing", "Atlanta", "GA"),
    ("Evergreen", "Cleaning", "Seattle", "WA"),
    ("Harbor Legal", "Legal", "Boston", "MA"),
)
NAMES = ("Supplier", "Category", "City", "State")
NEWCOMER = ("Orchid Health", "Insurance", "Atlanta", "GA")
ROWS = 240


def invoices(*more: tuple[str, ...]) -> pa.Table:
    """Invoices of six suppliers, and some rows more at the end."""
    chosen = np.random.default_rng(0).integers(len(SUPPLIERS), size=ROWS)
    rows = [*(SUPPLIERS[k] for k in chosen.tolist()), *more]
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(NAMES)})


@pytest.fixture(scope="module")
def found() -> list[dict[str, Any]]:
    """The list for a new supplier, and for a misspelt one in a row that is otherwise as usual."""
    table = invoices(NEWCOMER, ("Bluebird Freigth", "Shipping", "Memphis", "TN"))
    listed: list[dict[str, Any]] = carat.audit(table).to_arrow().to_pylist()
    return listed


def test_nobody_is_sure_that_a_new_supplier_is_an_error(found: list[dict[str, Any]]) -> None:
    about = [cell for cell in found if cell["record"] == ROWS]
    assert all(cell["error"] <= DOUBTED and cell["confidence"] <= UNSURE for cell in about)


def test_a_misspelt_one_is_still_found_and_fixed(found: list[dict[str, Any]]) -> None:
    (cell,) = (cell for cell in found if cell["record"] == ROWS + 1)
    assert (cell["column"], cell["proposal"], cell["kind"]) == ("Supplier", "Bluebird Freight", "typo")
    assert cell["confidence"] > 0.9


def test_no_row_is_rewritten_into_that_of_another_supplier() -> None:
    table = invoices(NEWCOMER)
    assert carat.audit(table).fixed().to_pylist() == table.to_pylist()
