"""Parquet: only the cells that are meant change; types, metadata and row groups stay."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import carat
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row

ROWS = 7


def table() -> pa.Table:
    schema = pa.schema(
        [
            pa.field("text", pa.string()),
            pa.field("big", pa.large_string()),
            pa.field("coded", pa.dictionary(pa.int32(), pa.string())),
            pa.field("int", pa.int16()),
            pa.field("float", pa.float32()),
            pa.field("flag", pa.bool_()),
            pa.field("day", pa.date32(), metadata={b"unit": b"day"}),
            pa.field("price", pa.decimal128(8, 2)),
            pa.field("must", pa.string(), nullable=False),
            pa.field("tags", pa.list_(pa.string())),
        ],
        metadata={b"owner": b"me"},
    )
    day = datetime.date(2024, 3, 1)
    one: dict[str, Any] = {
        "text": "x",
        "big": "x",
        "coded": "x",
        "int": 5,
        "float": 0.1,
        "flag": True,
        "day": day,
        "price": decimal.Decimal("1.50"),
        "must": "x",
        "tags": ["a"],
    }
    rows = [one] * (ROWS - 2) + [{**one, "text": "", "float": float("nan")}, {**dict.fromkeys(one), "must": "x"}]
    return pa.Table.from_pylist(rows, schema=schema)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "t.parquet"
    pq.write_table(
        table(), found, row_group_size=3, compression={"text": "gzip", "int": "zstd"}, use_dictionary=["big"]
    )
    return found


CHANGES = {
    "text": ("x", "y"),
    "big": ("x", "y"),
    "coded": ("x", "new"),
    "int": ("5", "-6"),
    "float": ("0.1", "0.25"),
    "flag": ("true", "FALSE"),
    "day": ("2024-03-01", "2024-04-02"),
    "price": ("1.50", "2.25"),
}


def test_cells_change_and_nothing_else(path: Path, tmp_path: Path) -> None:
    out = tmp_path / "o.parquet"
    cells = [row(4, name, old, new) for name, (old, new) in CHANGES.items()]
    assert carat.apply(listed(*cells, added(0, "text", "=")), path, out=out).changes == 9
    old, new = pq.ParquetFile(path), pq.ParquetFile(out)
    assert new.schema_arrow.equals(old.schema_arrow, check_metadata=True)
    sizes = [[f.metadata.row_group(n).num_rows for n in range(f.num_row_groups)] for f in (old, new)]
    assert sizes == [[3, 3, 1]] * 2
    for place in range(4):
        packed = [f.metadata.row_group(0).column(place).compression for f in (old, new)]
        assert packed[0] == packed[1]
    before, after = old.read(), new.read()
    for number in (1, 2, 3, 6):
        assert before.slice(number, 1).to_pylist() == after.slice(number, 1).to_pylist()
    found = after.slice(4, 1).to_pylist()[0]
    assert found == {
        **before.slice(4, 1).to_pylist()[0],
        "text": "y",
        "big": "y",
        "coded": "new",
        "int": -6,
        "float": 0.25,
        "flag": False,
        "day": datetime.date(2024, 4, 2),
        "price": decimal.Decimal("2.25"),
    }
    assert after["text"][0].as_py() is None


def test_revert_restores_the_values(path: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "o.parquet", tmp_path / "b.parquet"
    cells = [row(4, name, old, new) for name, (old, new) in CHANGES.items()]
    more = [added(5, "text", "=was empty"), added(5, "float", "=3"), added(6, "text", "=was null")]
    carat.apply(listed(*cells, *more), path, out=out)
    carat.revert(f"{out}.changes.jsonl", out, back)
    found, wanted = pq.read_table(back), pq.read_table(path)
    assert found.schema.equals(wanted.schema, check_metadata=True)
    assert str(found.to_pylist()) == str(wanted.to_pylist()), "as text, since NaN is not itself"


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("int", "much", "row 1: column 'int' of .* takes a whole number that fits int16, not 'much'"),
        ("int", "99999", "takes a whole number that fits int16, not '99999'"),
        ("day", "soon", "takes a date such as 2024-03-05, not 'soon'"),
        ("tags", "b", "lists or structs"),
    ],
)
def test_text_that_does_not_fit(path: Path, tmp_path: Path, column: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        carat.apply(listed(added(1, column, f"={text}")), path, out=tmp_path / "o.parquet")
    assert [each.name for each in tmp_path.iterdir()] == ["t.parquet"]


def test_a_column_without_nulls(path: Path, tmp_path: Path) -> None:
    carat.apply(listed(added(1, "must", "=")), path, out=tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet")["must"].to_pylist()[:3] == ["x", "", "x"]


def test_a_table_without_rows(tmp_path: Path) -> None:
    pq.write_table(table().slice(0, 0), tmp_path / "t.parquet")
    assert carat.apply(listed(), tmp_path / "t.parquet", out=tmp_path / "o.parquet").changes == 0
    assert pq.read_table(tmp_path / "o.parquet").equals(pq.read_table(tmp_path / "t.parquet"))
