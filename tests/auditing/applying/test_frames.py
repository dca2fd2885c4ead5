"""Fixes applied to frames: in their own library, with their index and types, and never in place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import carat
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row
from tests.support.audits import cities, fake_audit


@pytest.fixture
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)


FRAME = pd.DataFrame(
    {
        "text": ["a", "b?", None],
        "object": np.array(["a", "b", np.nan], dtype=object),
        "int": [1, 2, 3],
        "maybe": pd.array([1, 2, None], dtype="Int64"),
        "float": [0.5, 1.5, np.nan],
        "kind": pd.Categorical(["u", "v", "u"]),
        "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03"]),
        "flag": [True, False, True],
    },
    index=pd.Index(["x", "y", "z"], name="label"),
)
CELLS = listed(
    row("y", "text", "b?", "b"),
    row("y", "object", "b", "B"),
    row("y", "int", "2", "7"),
    row("z", "maybe", None, "9"),
    row("x", "maybe", "1", None, decision="="),
    row("x", "float", "0.5", "0.75"),
    row("x", "kind", "u", "w"),
    added("z", "when", "=2025-06-07"),
    row("z", "flag", "true", "false"),
)


def test_pandas_keeps_index_types_and_what_is_missing() -> None:
    given = FRAME.copy()
    made = carat.apply(CELLS, given)
    pd.testing.assert_frame_equal(given, FRAME)
    pd.testing.assert_index_equal(made.index, FRAME.index)
    assert [str(kind) for kind in made.dtypes] == [str(kind) for kind in FRAME.dtypes]
    assert made["text"].tolist()[:2] == ["a", "b"]
    assert made["object"].tolist()[:2] == ["a", "B"]
    assert isinstance(made["object"].iloc[2], float), "NaN stays NaN"
    assert made["int"].tolist() == [1, 7, 3]
    assert made["maybe"].isna().tolist() == [True, False, False]
    assert made["kind"].tolist() == ["w", "v", "u"]
    assert made["when"].iloc[2] == pd.Timestamp("2025-06-07")
    assert made["flag"].tolist() == [True, False, False]


def test_rows_go_by_label_in_a_shuffled_frame() -> None:
    made = carat.apply(CELLS, FRAME.iloc[[2, 0, 1]])
    assert made.index.tolist() == ["z", "x", "y"]
    assert made.loc["y", "int"] == 7


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_keeps_its_types(lazy: bool) -> None:
    frame = pl.from_pandas(FRAME.reset_index())
    made = carat.apply(CELLS, frame.lazy() if lazy else frame, id="label")
    assert isinstance(made, pl.LazyFrame if lazy else pl.DataFrame)
    made = made.lazy().collect()
    assert made.schema == frame.schema
    assert made["int"].to_list() == [1, 7, 3]
    assert made["maybe"].to_list() == [None, 2, 9]
    assert made["kind"].to_list() == ["w", "v", "u"]


def test_arrow_and_dictionaries_come_back_in_arrow() -> None:
    table = pa.Table.from_pandas(FRAME.reset_index(), preserve_index=False)
    made = carat.apply(CELLS, table, id="label")
    assert made.schema.equals(table.schema, check_metadata=True)
    assert made["int"].to_pylist() == [1, 7, 3]
    same = carat.apply(listed(row(1, "a", "x", "y")), {"a": ["w", "x"], "b": [1, 2]})
    assert same.to_pydict() == {"a": ["w", "y"], "b": [1, 2]}


@pytest.mark.parametrize("form", ["rows", "columns", "tuple"])
def test_a_list_of_dictionaries(form: str) -> None:
    cells: Any = CELLS.to_pydict() if form == "columns" else CELLS.to_pylist()
    made = carat.apply(tuple(cells) if form == "tuple" else cells, FRAME)
    pd.testing.assert_frame_equal(made, carat.apply(CELLS, FRAME))
    pd.testing.assert_frame_equal(carat.apply([], FRAME), FRAME)
    with pytest.raises(
        InputError, match=r"the list: no column 'record'; give a list of cells like the to_frame\(\) of"
    ):
        carat.apply({"x": "accept"}, FRAME)


@pytest.mark.usefixtures("_fake")
def test_the_table_given_first_is_said() -> None:
    result = carat.audit(cities())
    for cells in (result, result.to_frame(), result.to_arrow().to_pandas()):
        with pytest.raises(InputError, match=r"the list comes first, and the table second: apply\(cells, table\)"):
            carat.apply(cities().to_pandas(), cells)
    assert carat.apply([], result.to_frame()).equals(result.to_frame()), "a table may look like a list"


@pytest.mark.usefixtures("_fake")
def test_a_result_in_every_form() -> None:
    result, data = carat.audit(cities()), cities().to_pandas()
    fixed = carat.apply(result, data)
    assert not fixed.equals(data)
    for form in (result.to_frame(), result.to_arrow().to_pylist(), result.cells(), result.to_json()):
        pd.testing.assert_frame_equal(carat.apply(form, data), fixed)


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("int", "many", "the list, row 1: column 'int' of the table takes a whole number that fits int64, not 'many'"),
        ("when", "soon", "row 1: column 'when' of the table takes a time such as 2024-03-05 13:30:00.*, not 'soon'"),
        ("flag", "perhaps", "row 1: column 'flag' of the table takes true or false, not 'perhaps'"),
    ],
)
def test_values_that_do_not_fit(column: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        carat.apply(listed(added("x", column, f"={text}")), FRAME)


@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "datetime64[s]", "datetime64[ns, UTC]", "timedelta64[s]", "Int64", "category"]
)
def test_a_pandas_cell_becomes_blank_as_its_type_writes_it(dtype: str) -> None:
    made = carat.apply(listed(added(0, "x", "=")), pd.DataFrame({"x": pd.Series([1, 2]).astype(dtype)}))
    assert str(made["x"].dtype) == dtype
    assert made["x"].isna().tolist() == [True, False]


def test_a_column_without_blanks_keeps_its_cells_and_all_else_is_fixed(caplog: pytest.LogCaptureFixture) -> None:
    cells = listed(
        row("y", "int", "2", "<blank>"),
        row("z", "int", "3", "<blank>"),
        added("x", "flag", "="),
        row("y", "text", "b?", "b"),
        row("x", "float", "0.5", "0.75", group=7),
        row("x", "int", "1", "<blank>", group=7),
        added("x", "when", "="),
    )
    made = carat.apply(cells, FRAME)
    pd.testing.assert_frame_equal(made.drop(columns=["text", "when"]), FRAME.drop(columns=["text", "when"]))
    assert (made.loc["y", "text"], made["when"].isna().sum()) == ("b", 1)
    numbers, flags = caplog.messages
    assert "column 'int' holds int64, which can't be blank, so 3 cells stay as they are (row " in numbers
    assert numbers.endswith("convert it first: df.astype({'int': 'Int64'})")
    assert "1 cell stays as it is (row x); convert it first: df.astype({'flag': 'boolean'})" in flags


@pytest.mark.usefixtures("_fake")
@pytest.mark.parametrize("make", [pa.Table.to_pandas, pl.from_arrow, lambda table: table, pa.Table.to_pydict])
def test_a_result_fixes_what_is_certain(make: Any) -> None:
    data = make(cities())
    result = carat.audit(data)
    fixed = result.fixed()
    assert type(fixed) is (pa.Table if isinstance(data, dict) else type(data))
    city = list(fixed["City"] if not isinstance(fixed, pa.Table) else fixed["City"].to_pylist())
    assert city[3] == "Leith"
    assert city[7] == "Scotland!", "its confidence is .85"
    both = result.fixed(certain=0.8)
    assert list(both["City"] if not isinstance(both, pa.Table) else both["City"].to_pylist())[7] == "Leith"


@pytest.mark.usefixtures("_fake")
def test_a_result_applied_to_another_frame() -> None:
    result = carat.audit(cities(), id="number")
    wider = cities().to_pandas().assign(extra=1).sample(frac=1, random_state=0)
    made = result.apply(wider, certain=0.5)
    assert made.index.tolist() == wider.index.tolist()
    assert made.set_index("number").loc["N-005", "Land"] == "Peru"
    with pytest.raises(InputError, match="give the table that was asked about"):
        result.apply(made)


@pytest.mark.usefixtures("_fake")
def test_a_result_of_a_file(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("é,b\n".encode("latin-1") + b"x?,y\n" * 2 + b"z,w\n" * 38)
    fixed = carat.audit(path, encoding="latin-1").fixed()
    assert fixed["é"].to_pylist()[:3] == ["x", "x", "z"]


def test_the_best_valid_fix_of_recourse() -> None:
    table = {
        "Port": ["Callao", "Leith"] * 100,
        "Goods": ["fish meal", "whisky"] * 100,
        "Origin": ["Peru", "Scotland"] * 100,
    }
    model = carat.fit(table, profile="instant")
    rows = pd.DataFrame(
        {"Goods": ["whisky", "whisky"], "extra": [1, 2], "Port": ["Callao", "Leith"], "Origin": ["Peru", "Scotland"]},
        index=["a", "b"],
    )
    fixed = model.recourse(rows, all=True).fixed()
    pd.testing.assert_frame_equal(fixed, rows.assign(Goods=["fish meal", "whisky"]), check_dtype=False)
    assert fixed.dtypes.equals(rows.dtypes)
    assert model.recourse(rows.iloc[[0]].to_dict("list")).fixed().num_rows == 1
    result = model.recourse(rows, all=True)
    for other in (fixed, rows.reset_index(drop=True), rows.rename(index={"a": "c"})):
        with pytest.raises(
            InputError, match=r"'?a'?.*; give the table that was asked about, with the same index or id"
        ):
            result.apply(other)


@pytest.mark.parametrize(("yes", "no"), [(True, False), ("True", "False"), ("TRUE", "FALSE"), (1, 0), ("1", "0")])
def test_fixes_of_true_and_false_are_spelt_as_the_frame_spells_them(yes: Any, no: Any) -> None:
    model = carat.fit(
        {"Port": ["Callao", "Leith"] * 100, "Origin": ["Peru", "Scotland"] * 100, "cold": [True, False] * 100},
        profile="instant",
    )
    rows = pd.DataFrame({"Port": ["Callao", "Leith"], "Origin": ["Peru", "Scotland"], "cold": [no, no]})
    assert model.score(rows)["anomalous"].tolist() == [True, False]
    fixed = model.recourse(rows).fixed()
    pd.testing.assert_frame_equal(fixed, rows.assign(cold=[yes, no]))


def test_a_range_of_numbers_is_not_written() -> None:
    rows = 200
    table = pa.table(
        {
            "Goods": ["feather", "stone"] * (rows // 2),
            "Port": ["Callao", "Leith"] * (rows // 2),
            "Weight": [1 + n % 5 if n % 2 == 0 else 100 + n % 5 for n in range(rows)],
        }
    )
    model = carat.fit(table, profile="instant", numeric={"Weight": 2})
    strange = pa.table({"Goods": ["feather"], "Port": ["Callao"], "Weight": [102]})
    result = model.recourse(strange, all=True)
    assert "Weight" in result.to_frame()["changed"].to_pylist()[0]
    assert result.fixed().equals(strange)
    assert result.apply(strange).schema == strange.schema


def test_rows_of_recourse_by_id() -> None:
    table = pa.table(
        {
            "key": [f"K{n}" for n in range(200)],
            "Port": ["Callao", "Leith"] * 100,
            "Goods": ["fish meal", "whisky"] * 100,
            "Origin": ["Peru", "Scotland"] * 100,
        }
    )
    model = carat.fit(table, profile="instant", id="key")
    strange = pa.table(
        {"key": ["b", "a"], "Port": ["Leith", "Callao"], "Goods": ["whisky"] * 2, "Origin": ["Scotland", "Peru"]}
    )
    fixed = model.recourse(strange, all=True).fixed()
    assert fixed["Goods"].to_pylist() == ["whisky", "fish meal"]
