"""What says the same counts as the same: votes are held on the usual form, and a form alone is a sure fix."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import carat
from carat.auditing.table import AuditTable
from carat.auditing.trust import REWRITTEN
from carat.auditing.usual import Usual

TRAINS = 60
SOURCES = 10


def reports() -> tuple[list[dict[str, str | None]], list[str]]:
    """Trains as ten sources report them, the last one in a form of its own; also the right time of each train."""
    right = [f"{n % 11 + 1}:{n % 50 + 10:02d} {'a' if n % 3 else 'p'}.m." for n in range(TRAINS)]
    rows: list[dict[str, str | None]] = []
    for train, time in enumerate(right):
        for source in range(SOURCES):
            written = time if source < SOURCES - 1 else f"05/14/2024 {time.replace('.', '').replace(' ', '').upper()}"
            rows.append({"Train": f"IC{train:03d}", "Source": f"S{source}", "City": f"C{train % 7}", "Leaves": written})
    return rows, right


@pytest.fixture(scope="module")
def found() -> dict[tuple[int, str], dict[str, Any]]:
    rows, _ = reports()
    rows[4 * SOURCES + 9]["Leaves"] = "05/14/2024 3:59PM"  # a wrong time, in the wrong form
    rows[5 * SOURCES + 2]["City"] = "C5Ã¼"
    cells = carat.audit(pa.Table.from_pylist(rows)).to_arrow().to_pylist()
    return {(cell["record"], cell["column"]): cell for cell in cells}


def test_a_cell_in_another_form_gets_the_usual_one(found: dict[tuple[int, str], dict[str, Any]]) -> None:
    _, right = reports()
    for train in (0, 1, 2, 30):
        cell = found[train * SOURCES + 9, "Leaves"]
        assert (cell["kind"], cell["proposal"]) == ("format", right[train])
        assert 0.9 <= cell["confidence"] <= REWRITTEN
        assert cell["reason"].startswith(("write times like", "all 9 other rows"))


def test_a_form_is_no_proof_of_what_it_says(found: dict[tuple[int, str], dict[str, Any]]) -> None:
    """Nine sources have another time: the fix is theirs, not the tenth's time in their form."""
    _, right = reports()
    cell = found[4 * SOURCES + 9, "Leaves"]
    assert cell["value"] == "05/14/2024 3:59PM"
    assert cell["proposal"] == right[4]
    assert "write times like" in cell["reason"]


def test_only_the_odd_cells_are_listed(found: dict[tuple[int, str], dict[str, Any]]) -> None:
    listed = {key for key in found if key[1] == "Leaves"}
    assert listed == {(train * SOURCES + 9, "Leaves") for train in range(TRAINS)}


def test_what_was_rejected_stays_away() -> None:
    rows, _ = reports()
    table = pa.Table.from_pylist(rows)
    decided = [{"record": 9, "column": "Leaves", "value": rows[9]["Leaves"], "decision": "reject"}]
    again = carat.audit(table, decisions=decided)
    assert (9, "Leaves") not in {(cell.record, cell.column) for cell in again}
    assert (19, "Leaves") in {(cell.record, cell.column) for cell in again}


def test_values_that_say_the_same_are_one() -> None:
    times = ["7:15 p.m."] * 29 + ["8:20 p.m."] + ["05/14/2024 7:15PM"] * 3 + [None]
    raw = AuditTable.of(pa.table({"Time": times, "Name": ["x"] * 34}))
    usual = Usual.of(raw, (0,))
    assert usual.table.columns[0].values == ("7:15 p.m.", "8:20 p.m.")
    assert usual.table.columns[0].counts.tolist() == [32, 1]
    assert usual.table.columns[0].codes.tolist() == [0] * 29 + [1] + [0] * 3 + [-1]
    assert usual.odd((0, 1)).sum() == 3
    assert usual.rewrite(30, 0) == ("7:15 p.m.", "write times like '7:15 p.m.'")
    assert usual.rewrite(0, 0) == usual.rewrite(33, 0) == (None, None)
    assert raw.columns[0].values != usual.table.columns[0].values, "the table itself is not touched"


def test_what_came_as_numbers_has_no_form() -> None:
    raw = AuditTable.of(pa.table({"Amount": pa.array([0.1 + 0.2, *[0.25] * 40])}))
    assert Usual.of(raw, (0,)).table.columns[0] is raw.columns[0]


def test_two_rewrites_for_one_value() -> None:
    raw = AuditTable.of(pa.table({"Price": [f"{1200 + n}.50" for n in range(40)] + ["$1,300.50", "$2,400.75"]}))
    assert set(Usual.of(raw, (0,)).text[0]) == {None, "1300.50", "2400.75"}


def test_columns_that_take_no_part_are_left_alone() -> None:
    raw = AuditTable.of(pa.table({"A": ["ZÃ¼rich"] * 9, "B": ["ZÃ¼rich"] * 9}))
    usual = Usual.of(raw, (1,))
    assert [column.values for column in usual.table.columns] == [("ZÃ¼rich",), ("Zürich",)]
    assert np.array_equal(usual.odd((0, 1)), [[False, True]] * 9)
