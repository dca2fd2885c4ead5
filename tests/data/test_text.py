"""Columns as text: the same entity reads the same whatever the type of its column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from carat.data.text import all_dates, all_numbers, to_number, to_text
from carat.errors import InputError


@pytest.mark.parametrize(
    ("array", "texts"),
    [
        (pa.array(["0721", "NA", "", None, " "]), ["0721", "NA", None, None, " "]),
        (pa.array(["a", ""], pa.large_string()), ["a", None]),
        (pa.array(["a", ""], pa.string_view()), ["a", None]),
        (pa.array(["a", "", None, "a"]).dictionary_encode(), ["a", None, None, "a"]),
        (pa.array([721, None]), ["721", None]),
        (pa.array([721.0, 0.5, float("nan"), None]), ["721", "0.5", None, None]),
        (pa.array([721.0, None, 721.0]).dictionary_encode(), ["721", None, "721"]),
        (pa.array([True, False, None]), ["true", "false", None]),
        (pa.array([dt.date(2024, 2, 1)]), ["2024-02-01"]),
        (pa.array([Decimal("1.50")]), ["1.50"]),
        (pa.nulls(2), [None, None]),
        (pa.array([], pa.string()), []),
    ],
    ids=lambda value: str(value.type) if isinstance(value, pa.Array) else "",
)
def test_to_text(array: pa.Array, texts: list[str | None]) -> None:
    found = to_text(array, "HSCode")
    assert found.type == pa.string()
    assert found.to_pylist() == texts


@pytest.mark.parametrize(
    ("array", "hint"),
    [(pa.array([b"a"]), "bytes"), (pa.array([["a"]]), "lists or structs"), (pa.array([{"a": 1}]), "lists or structs")],
)
def test_to_text_refuses_what_is_no_text(array: pa.Array, hint: str) -> None:
    with pytest.raises(InputError, match=f"'HSCode'.*{hint}"):
        to_text(array, "HSCode")


@pytest.mark.parametrize(
    "array",
    [
        pa.array([" 1", "+2.5", "-3e2", ".5", "", None]),
        pa.array([" 1", "+2.5", "-3e2", ".5", "", None]).dictionary_encode(),
        pa.array([" 1", "+2.5", "-3e2", ".5", "", None], pa.large_string()),
        pa.array([1, 2.5, -300, 0.5, float("nan"), None]),
        pa.array([Decimal("1.0"), Decimal("2.5"), Decimal("-300.0"), Decimal("0.5"), None, None]),
    ],
    ids=lambda array: str(array.type),
)
def test_to_number(array: pa.Array) -> None:
    np.testing.assert_equal(to_number(array, "Weight"), [1, 2.5, -300, 0.5, np.nan, np.nan])


@pytest.mark.parametrize("value", ["12 kg", "1,5", "nan", "--1", "1e"])
def test_to_number_shows_the_text_it_can_not_read(value: str) -> None:
    with pytest.raises(InputError) as caught:
        to_number(pa.array(["1", None, value]), "Weight")
    assert "'Weight'" in str(caught.value)
    assert repr(value) in str(caught.value)


@pytest.mark.parametrize("array", [pa.array([True]), pa.array([dt.date(2024, 1, 1)]), pa.array([[1]])])
def test_to_number_refuses_other_types(array: pa.Array) -> None:
    with pytest.raises(InputError, match="'Weight'.*can't be numeric"):
        to_number(array, "Weight")


@pytest.mark.parametrize(
    ("texts", "numbers", "dates"),
    [
        (["0721", "1e3", "-1.5", " 7 "], True, False),
        (["1", "x"], False, False),
        (
            ["2024-01-31", "2024/1/31", "31.12.2024", "1/2/24", "2024-01-31T10:00:00Z", "2024-01-31 9:05 pm"],
            False,
            True,
        ),
        (["2024-01-31", "later"], False, False),
        (["1-2"], False, False),
        ([], False, False),
    ],
)
def test_what_text_looks_like(texts: list[Any], numbers: bool, dates: bool) -> None:
    entities = pa.array(texts, pa.string())
    assert (all_numbers(entities), all_dates(entities)) == (numbers, dates)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_a_time_reads_the_same_in_every_resolution(unit: str) -> None:
    times = pa.array([dt.datetime(2024, 1, 4), dt.datetime(2024, 1, 4, 10, 30), None]).cast(pa.timestamp(unit))
    assert to_text(times, "day").to_pylist() == ["2024-01-04 00:00:00", "2024-01-04 10:30:00", None]


def test_a_column_of_nothing_is_numeric() -> None:
    assert np.isnan(to_number(pa.nulls(2), "price")).all()
