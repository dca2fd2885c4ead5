"""Columns of numbers and times: how they read as text is carat's own doing, and no sign of an error."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import carat
from carat.auditing.reading import read_table
from carat.auditing.suspicion import foreign_shapes, usual_code
from carat.auditing.table import AuditTable
from carat.auditing.texts import OF_VALUES, value_texts

FORMS = [OF_VALUES.index(name) for name in ("coarse shape", "fine shape", "rarest letters", "length", "affix")]


def amounts(rows: int = 400) -> list[float]:
    drawn = np.random.default_rng(0).integers(10_000, 99_999, rows) * 10 + 7
    return [1120.0 if number % 100 == 0 else float(cents) / 100 for number, cents in enumerate(drawn)]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(amounts()),
        pa.array([datetime(2024, 1, 1) + timedelta(days=n, microseconds=n % 50 == 0) for n in range(400)]),
        pa.array([5 if number % 100 == 0 else 12_345 + number for number in range(400)]),
        pa.array(amounts()).cast(pa.decimal128(10, 3)),
    ],
    ids=["floats", "times", "integers", "decimals"],
)
def test_the_form_of_what_is_typed_says_nothing(cells: pa.Array) -> None:
    table = AuditTable.of(pa.table({"it": cells}))
    told = value_texts(table, [0])[0].told[:-1, FORMS]
    assert (told == told[0]).all()
    assert not foreign_shapes(table.columns[0]).any()
    assert usual_code(table.columns[0])[0] is None


def test_what_is_read_knows_its_type() -> None:
    frame = pa.table({"text": ["1.5", "2"], "number": [1.5, 2.0], "coded": pa.array([1, 2]).dictionary_encode()})
    assert [column.typed for column in read_table(frame).table.columns] == [False, True, True]


def test_whole_amounts_are_not_foreign() -> None:
    groups = [number * 7 % 5 for number in range(400)]
    columns: dict[str, Any] = {
        "City": [f"City {'ABCDE'[group]}" for group in groups],
        "Land": [f"Land {'VWXYZ'[group]}" for group in groups],
    }
    as_numbers = carat.audit({**columns, "Amount": amounts()})
    assert not [cell for cell in as_numbers if cell.column == "Amount"]
    texts = ["1120" if number % 100 == 0 else f"{amount:.2f}" for number, amount in enumerate(amounts())]
    as_text = carat.audit({**columns, "Amount": texts})
    assert {cell.value for cell in as_text if cell.column == "Amount"} == {"1120"}, "who wrote it so may have slipped"
