"""What may not teach the judge; cells that changed places; and what nobody should write as a fix."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import carat
from carat.auditing.exchanges import exchanged
from carat.auditing.proposals import _fit, _signs_apart
from carat.auditing.suspicion import loners
from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.texts import value_texts


def column(counts: list[int]) -> AuditColumn:
    texts = [text for place, count in enumerate(counts) for text in [f"v{place:03d}"] * count]
    return AuditColumn.of("Any", pa.array(texts))


def test_values_that_occur_once_in_a_closed_list() -> None:
    odd = loners(column([40] * 20 + [1] * 9))
    assert odd.sum() == 9
    assert odd[-9:].all()


@pytest.mark.parametrize(
    "counts",
    [
        [40] * 20 + [1] * 3,  # a few new values
        [40] * 20 + [2] * 8 + [1] * 9,  # a long tail
        [40] * 3 + [1] * 60,  # names
        [1] * 30,
        [],
    ],
)
def test_and_in_others(counts: list[int]) -> None:
    assert not loners(column(counts)).any()


def test_a_rare_city_that_changed_places_with_its_state() -> None:
    """The city stands among the states twice, and only six times at home: the state beside it gives the swap away."""
    cities = ["Reno", "Boise", "Salem", "Provo", "Nampa"]
    rows = [[cities[n % 5], ["NV", "ID", "OR", "UT", "ID"][n % 5]] for n in range(150)]
    rows += [["Elko", "NV"]] * 6 + [["NV", "Elko"]] * 2
    table = AuditTable.of(pa.table({"City": [row[0] for row in rows], "State": [row[1] for row in rows]}))
    found = exchanged(table, value_texts(table, (0, 1)), (0, 1), np.arange(len(rows)))
    assert found[-2:].tolist() == [[1, 0], [1, 0]]
    assert (found[:-2] == -1).all()


def test_a_fix_is_nothing_that_is_doubted_wherever_it_stands() -> None:
    assert _fit({"Elko": -0.1, "NV": -3.0}, frozenset({"Elko"})) == {"NV": -3.0}
    assert _fit({"Elko": -0.1}, frozenset({"Elko"})) == {"Elko": -0.1}, "better than nothing"


def test_a_sign_more_or_less_explains_a_value_and_a_word_does_not() -> None:
    assert "25.00" in _signs_apart("$25.00", "25.00")
    assert "12%" in _signs_apart("12", "12%")
    assert not _signs_apart("Suppl 1", "1")
    assert not _signs_apart("25.00", "35.00")


def test_a_word_for_nothing_may_be_a_value() -> None:
    """`NA` beside Windhoek is Namibia; `N/A` wherever it stands is nothing."""
    places = [("Windhoek", "NA"), ("Lima", "PE"), ("Oslo", "NO"), ("Quito", "EC")]
    generator = np.random.default_rng(0)
    rows = [[*places[n % 4], ("red", "blue", "green")[int(generator.integers(3))]] for n in range(400)]
    for n in range(0, 400, 57):
        rows[n][2] = "N/A"
    table = pa.table({name: [row[k] for row in rows] for k, name in enumerate(("City", "Country", "Colour"))})
    listed = carat.audit(table).to_arrow().to_pylist()
    assert not [cell for cell in listed if cell["column"] == "Country"]
    assert {cell["record"] for cell in listed if cell["column"] == "Colour"} >= set(range(0, 400, 57))
