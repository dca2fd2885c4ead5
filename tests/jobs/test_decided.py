"""Decisions about cells of new rows, as the rows join a model."""

from __future__ import annotations

import pyarrow as pa
import pytest

import carat
from carat.data import Table, open_source
from carat.errors import InputError
from carat.jobs.decided import Decided
from tests.support.planted import planted_table


def test_each_word_puts_something_else_into_the_cell() -> None:
    model = carat.fit(planted_table(300), profile="instant", memory=False, device="cpu")
    rows = planted_table(4, seed=9)
    cells = pa.table(
        {
            "record": ["0", "1", "2", "3"],
            "column": ["Port"] * 4,
            "proposal": ["Port-0a", "Port-1a", "Port-2a", "Port-3a"],
            "decision": ["accept", "=elsewhere", "wrong", "reject"],
        }
    )
    table = Table.read(open_source(rows), model.schema, model.vocabulary)
    joined, decided = Decided.read(cells, model.vocabulary).apply(table)
    before = rows["Port"].to_pylist()
    # What is wrong and not known better is missing; what was rejected stays.
    assert joined.decode()["Port"].to_pylist() == ["Port-0a", "elsewhere", None, before[3]]
    assert decided.tolist() == [True] * 4
    assert joined.decode().drop_columns("Port") == rows.drop_columns("Port")


def test_a_list_of_which_no_row_came_by_is_refused() -> None:
    model = carat.fit(planted_table(300), profile="instant", device="cpu")
    # Written by hand, so without proposals.
    cells = pa.table({"record": ["P-7", "P-9"], "column": ["Port"] * 2, "decision": ["=elsewhere", "reject"]})
    with pytest.raises(InputError, match="none of the 2 rows with a decision is in the data; the model names rows by"):
        model.update(planted_table(40, seed=9), decisions=cells)
