"""What may be choice or plain variety is not taken for error, and is never fixed unasked."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import carat


def invoices(*, free: float, seed: int = 3) -> pa.Table:
    """900 invoices whose cost centre mostly follows the supplier, with a few amounts below zero and some slips."""
    chance = random.Random(seed)
    suppliers = [
        (f"S{n:03d}", f"Town {n % 17}", f"{chance.randrange(1000, 9999):06d}", f"{chance.randrange(100, 180) * 10:04d}")
        for n in range(40)
    ]
    rows = []
    for number in range(900):
        name, town, code, centre = chance.choice(suppliers)
        if chance.random() < free:
            centre = chance.choice(suppliers)[3]
        amount = f"{'-' if number % 75 == 0 else ''}{chance.uniform(10, 3000):.2f}"
        day = f"2025-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}"
        rows.append([name, town, code, centre, day, amount])
    rows[5][2] = rows[5][2].lstrip("0")
    rows[7][4] = "03/13/2025"
    rows[9][5] = "875,21"
    names = ["Supplier", "Town", "Code", "Centre", "Date", "Amount"]
    return pa.table({name: [row[place] for row in rows] for place, name in enumerate(names)})


@pytest.fixture(scope="module")
def free() -> carat.AuditResult:
    """The audit of a table in which every tenth cost centre is somebody's choice."""
    return carat.audit(invoices(free=0.1))


def test_a_column_of_choices_is_pointed_out_and_left_alone(free: carat.AuditResult) -> None:
    centres = [cell for cell in free.to_arrow().to_pylist() if cell["column"] == "Centre"]
    assert len(centres) > 45
    assert max(cell["confidence"] for cell in centres) < 0.9
    assert {cell["kind"] for cell in centres} == {"mismatch"}, "another cost centre is no typo"
    (told,) = [remark.text for remark in free.remarks if remark.code == "contested"]
    assert told.startswith("Centre: ")
    fixed = free.fixed()
    assert fixed["Centre"].equals(invoices(free=0.1)["Centre"])


def test_few_wrong_cells_are_no_choices() -> None:
    result = carat.audit(invoices(free=0.01))
    assert not [remark for remark in result.remarks if remark.code == "contested"]
    centres = [cell for cell in result.to_arrow().to_pylist() if cell["column"] == "Centre"]
    assert any(cell["confidence"] >= 0.9 for cell in centres)


def test_a_sign_is_part_of_a_number(free: carat.AuditResult) -> None:
    assert not [cell for cell in free.to_arrow().to_pylist() if (cell["value"] or "").startswith("-")]


def test_other_ways_to_write_the_same_are_rewritten(free: carat.AuditResult) -> None:
    found = {(cell["record"], cell["column"]): cell for cell in free.to_arrow().to_pylist()}
    date, amount, code = found[7, "Date"], found[9, "Amount"], found[5, "Code"]
    assert [cell["proposal"] for cell in (date, amount)] == ["2025-03-13", "875.21"]
    assert code["proposal"] == f"{int(code['value']):06d}"
    for cell in (date, amount, code):
        assert cell["kind"] == "format"
        assert cell["confidence"] >= 0.9, "that it occurs once is no reason to doubt it"


def test_a_language_that_few_rows_have_is_no_error() -> None:
    chance = random.Random(1)
    journals = [
        (f"Journal of {a} {b}", f"{n:04d}-{n * 7:04d}")
        for n, (a, b) in enumerate(zip("ABCDEFGHIJKL" * 3, "XYZ" * 12, strict=True))
    ]
    rows = [
        (*chance.choice(journals), "eng" if chance.random() < 0.93 else chance.choice(["fre", "ger", "spa"]))
        for _ in range(1000)
    ]
    table = pa.table({name: [row[place] for row in rows] for place, name in enumerate(["Journal", "ISSN", "Language"])})
    assert len(carat.audit(table).to_arrow()) <= 5
