"""Whether IDs tell rows apart."""

from __future__ import annotations

import pyarrow as pa
import pytest

from carat.data import row_ids
from carat.data.row_ids import RowIds


def test_parts_are_counted_together() -> None:
    ids = RowIds("bill").add(pa.array(["a", "b"])).add(pa.array(["b", "c", ""]))
    assert ids.in_words() == (
        "column 'bill' does not tell all rows apart (2 rows share an ID, 1 row has none), so `record` is not unique"
    )


@pytest.mark.parametrize("ids", [[], ["a"], [1, 2, 3]])
def test_nothing_to_say(ids: list[object]) -> None:
    assert RowIds("bill").add(pa.array(ids)).in_words() is None


def test_numbers_and_blanks() -> None:
    said = RowIds("bill").add(pa.array([1, 1, None, None])).in_words()
    assert said is not None
    assert "(2 rows share an ID, 2 rows have none)" in said


def test_a_table_without_end_is_looked_at_as_far_as_memory_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_ids, "LOOKED_AT", 3)
    ids = RowIds("bill").add(pa.array(["a", "a"]))
    said = ids.add(pa.array(["b", "b"])).add(pa.array(["b"])).in_words()
    assert said is not None
    assert "(2 rows share an ID of the first 3)" in said
