"""Which columns take part in an audit, and why others do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from carat.auditing.options import AuditOptions
from carat.auditing.roles import roles
from carat.auditing.table import AuditTable

ROWS = 600
DRAW = np.random.default_rng(0)


def role_of(cells: Any, **options: Any) -> tuple[str, str]:
    table = AuditTable.of(pa.table({"it": pa.array(cells), "other": [f"o{n % 5}" for n in range(len(cells))]}))
    return roles(table, AuditOptions(**options))[0]


def drawn(values: list[Any]) -> list[Any]:
    return [values[n] for n in DRAW.integers(0, len(values), ROWS)]


ZIP = drawn([f"{n:05d}" for n in range(350, 650)])
PHONE = drawn([f"205{n:07d}" for n in range(1_000_000, 1_000_400)])


@pytest.mark.parametrize(
    ("cells", "role", "why"),
    [
        (["same"] * ROWS, "left out", "only one value"),
        ([None, "same"] * 5, "left out", "only one value"),
        (pa.array([None, None], pa.string()), "left out", "no values"),
        (["one row"], "left out", "only one value"),
        ([f"u{n}" for n in range(ROWS)], "left out", "a different value in every row"),
        ([f"u{n}" if n % 2 else None for n in range(ROWS)], "left out", "a different value in every row"),
        ([f"u{n}" if n % 3 else "often" for n in range(ROWS)], "text", "most values occur only once"),
        ([f"u{n}" if n % 3 == 0 else "often" for n in range(ROWS)], "voted", ""),
        (drawn(["a", "b", "c"]), "voted", ""),
        (ZIP, "voted", ""),
        (PHONE, "voted", ""),
        (drawn(list(range(20))), "voted", ""),
        (drawn([round(n * 0.37, 2) for n in range(350)]), "text", "numbers with very many values"),
        (
            [*drawn([round(n * 0.37, 2) for n in range(350)])[:-20], *[None] * 20],
            "text",
            "numbers with very many values",
        ),
        (drawn([f"2024-{n % 12 + 1:02d}-{n % 28 + 1:02d} 10:{n % 60:02d}" for n in range(400)]), "text", "dates with"),
        (drawn([f"2024-01-{n + 1:02d}" for n in range(28)]), "voted", ""),
    ],
    ids=range(16),
)
def test_roles(cells: Any, role: str, why: str) -> None:
    found, said = role_of(cells)
    assert found == role
    assert said.startswith(why) if why else said == ""


def test_a_measure_with_a_few_slips_is_still_a_measure() -> None:
    cells = [str(value) for value in drawn([round(n * 0.37, 2) for n in range(350)])]
    cells[::30] = ["N/A"] * len(cells[::30])
    assert role_of(cells) == ("text", "numbers with very many values")


def test_many_fractions_are_a_measure_in_a_long_table_too() -> None:
    long = [f"{n % 11_000}.5" for n in range(66_000)]
    assert role_of(long) == ("text", "numbers with very many values")
    assert role_of([f"{n % 11_000:06d}" for n in range(66_000)]) == ("voted", "")


def test_a_named_column_takes_part() -> None:
    unique = [f"u{n}" for n in range(ROWS)]
    nearly = [f"u{n}" if n % 3 else "often" for n in range(ROWS)]
    for how in ({"also": ["it"]}, {"columns": ["it", "other"]}):
        assert role_of(nearly, **how) == ("voted", "")
        assert role_of(["same"] * 9, **how) == ("voted", "")
        assert role_of(unique, **how) == ("text", "a different value in every row"), "nobody can vote on it"


def test_left_out_by_name_and_the_id() -> None:
    cells = drawn(["a", "b"])
    assert role_of(cells, without=["it"]) == ("left out", "left out by name")
    assert role_of(cells, columns=["other"]) == ("left out", "not among the columns you named")
    assert role_of([f"u{n}" for n in range(9)], id="it") == ("left out", "used as the row ID")
    assert role_of(cells, columns=["other"], also=["it"]) == ("voted", "")


def test_names_are_not_reserved() -> None:
    table = AuditTable.of(pa.table({name: drawn(["a", "b"]) for name in ("record", "score", "column", "decision", "")}))
    assert roles(table, AuditOptions()) == (("voted", ""),) * 5
