"""Which cells are changed, where they stand, and which lists are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

import carat
from carat.auditing.applying.choosing import Rules, choose
from carat.auditing.applying.planning import Plan, plan
from carat.auditing.decisions import list_of
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row

TABLE = pa.table(
    {"id": ["N-1", "N-2", "N-3"], "City": ["Lieth", "Bergen", None], "Zip": ["07021", "5003", "true"], "n": [1, 2, 3]}
)


def planned(*rows: dict[str, Any], table: Any = TABLE, id: str | None = None, **rules: Any) -> Plan:
    return plan(list_of(listed(*rows)), table, Rules(**rules), id=id)


def changes(made: Plan) -> list[tuple[int, int, str | None, str | None]]:
    return [(edit.row, edit.column, edit.before, edit.after) for edit in made.edits]


def test_undecided_cells_go_by_certainty() -> None:
    rows = [row(0, "City", "Lieth", "Leith", confidence=0.9), row(1, "City", "Bergen", "Berge", confidence=0.89)]
    assert changes(planned(*rows)) == [(0, 1, "Lieth", "Leith")]
    assert planned(*rows).left == {"uncertain": 1}
    assert len(planned(*rows, certain=0.5).edits) == 2
    assert planned(*rows, decided_only=True).left == {"undecided": 2}


def test_decisions_go_before_certainty() -> None:
    made = planned(
        row(0, "City", "Lieth", "Leith", confidence=0.99, decision="reject"),
        row(1, "City", "Bergen", "Oslo", confidence=0.1, decision="accept"),
        row(1, "Zip", "5003", "1", decision="wrong"),
        row(2, "City", None, None),
        added(2, "Zip", "="),
        added(0, "n", "=1"),
        decided_only=False,
    )
    assert changes(made) == [(1, 1, "Bergen", "Oslo"), (2, 2, "true", None)]
    assert [choice.by for choice in made.choices] == ["you", "you"]
    assert made.left == {"rejected": 1, "wrong": 1, "no fix": 1, "same": 1}


def grouped(first: str | None, second: str | None, sure: tuple[float, float] = (0.95, 0.95)) -> list[dict[str, Any]]:
    return [
        row(0, "City", "Lieth", "07021", group=4, decision=first, confidence=sure[0]),
        row(0, "Zip", "07021", "Lieth", group=4, decision=second, confidence=sure[1]),
    ]


@pytest.mark.parametrize(
    ("rows", "count", "left"),
    [
        (grouped(None, None), 2, {}),
        (grouped(None, None, (0.95, 0.5)), 0, {"group": 1, "uncertain": 1}),
        (grouped("accept", None, (0.1, 0.1)), 2, {}),
        (grouped("reject", None), 0, {"rejected": 1, "group": 1}),
        (grouped("wrong", "reject"), 0, {"wrong": 1, "rejected": 1}),
        (grouped("=x", None, (0.1, 0.95)), 2, {}),
        (grouped("=x", "reject"), 1, {"rejected": 1}),
    ],
)
def test_groups_together_or_not_at_all(rows: list[dict[str, Any]], count: int, left: dict[str, int]) -> None:
    found = choose(list_of(listed(*rows)), Rules())
    assert (len(found.choices), found.left) == (count, left)


def test_groups_decided_apart_are_refused() -> None:
    with pytest.raises(InputError, match=r"rows 1 and 2 are fixed together \(group 4\) but decided differently"):
        planned(*grouped("accept", "reject"))
    rows = grouped("accept", None)
    rows[1]["proposal"] = None
    with pytest.raises(InputError, match="row 2: has no suggested fix, but row 1"):
        planned(*rows)


def test_rows_by_number_by_id_and_by_index() -> None:
    assert changes(planned(row("0.0", "City", "Lieth", "Leith"))) == [(0, 1, "Lieth", "Leith")]
    assert changes(planned(row("N-3", "City", None, "Oslo"), id="id")) == [(2, 1, None, "Oslo")]
    assert changes(planned(row("2.0", "Zip", "5003", "5004"), id="n")) == [(1, 2, "5003", "5004")]
    frame = TABLE.to_pandas().set_index(pd.Index(["x", "y", "z"]))
    assert changes(planned(row("y", "City", "Bergen", "Oslo"), table=frame)) == [(1, 1, "Bergen", "Oslo")]


@pytest.mark.parametrize(
    ("rows", "id", "message"),
    [
        ([row(3, "City", "x", "y")], None, "there is no row 3 in the table, which has 3 rows, counted from 0"),
        ([row(-1, "City", "x", "y")], None, "'-1' is not a row number"),
        ([row("N-1", "City", "Lieth", "y")], None, "name that column with `id`"),
        ([row("N-9", "City", "x", "y")], "id", "no row of the table is named 'N-9'"),
        ([row(0, "Cty", "x", "y")], None, "row 1: the table has no column 'Cty'; did you mean 'City'"),
        ([row("N-1", "City", "Lieth", "y")], "ID", "no column 'ID', which identifies the rows; did you mean 'id'"),
        ([row(0, "City", "Leith", "y")], None, r"the table has 'Lieth' in row 0, column 'City', not 'Leith' \(it is"),
        ([row(2, "City", "Oslo", "y")], None, "has a blank cell in row 2, column 'City', not 'Oslo'"),
        (
            [row(0, "City", "a", "y"), row(1, "City", "b", "y", decision="reject"), row(1, "n", "2", "3")],
            None,
            "2 of 3 cells differ",
        ),
    ],
)
def test_lists_that_do_not_fit(rows: list[dict[str, Any]], id: str | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        planned(*rows, id=id)


def test_an_id_that_repeats() -> None:
    table = TABLE.set_column(0, "id", pa.array(["N-1", "N-2", "N-1"]))
    with pytest.raises(InputError, match="'N-1' names row 0 and row 2; give an `id` column without repeats"):
        planned(row("N-1", "City", "Lieth", "y"), table=table, id="id")


def test_what_a_spreadsheet_rewrites() -> None:
    made = planned(row(2, "Zip", "TRUE", "FALSE"), row(0, "Zip", "7021", "Leith"))
    assert changes(made) == [(0, 2, "07021", "Leith"), (2, 2, "true", "false")]
    with pytest.raises(InputError, match="'07021' of the table reads '7021' in the list"):
        planned(row(0, "Zip", "7021", "7022"))


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b,a\n1,2,3\n4,5,4\n")
    out = tmp_path / "o.csv"
    carat.apply(listed(row(0, "a", "3", "x"), row(0, "b", "2", "y")), path, out=out)
    assert out.read_bytes() == b"a,b,a\n1,y,x\n4,5,4\n"
    for rows in ([row(1, "a", "4", "x")], [added(0, "a", "=x")]):
        with pytest.raises(InputError, match="2 columns named 'a', and `value` does not tell which is meant"):
            carat.apply(listed(*rows), path, out=tmp_path / "p.csv")


def test_certain_is_a_probability() -> None:
    for bad in (0, 1.1, "much", True):
        with pytest.raises(InputError, match="`certain` is a probability"):
            Rules(certain=bad)  # type: ignore[arg-type]
