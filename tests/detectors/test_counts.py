"""The counts detector against a hand computation."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest

import carat
from carat.data import Columns, Table, TrainingData, open_source, scan
from carat.detectors import Counts


def fitted(table: pa.Table, smoothing: float = 0.5) -> tuple[Counts, TrainingData]:
    source = open_source(table)
    found = scan(source, Columns(domains=table.column_names))
    ids = Table.read(source, found.schema, found.vocabulary).ids
    data = TrainingData(ids, ids[:0], found.vocabulary)
    return Counts(smoothing=smoothing).fit(data), data


def test_by_hand() -> None:
    counts, data = fitted(pa.table({"A": list("aaab"), "B": list("xxyy")}))
    ids = data.vocabulary.encode([{"A": "a", "B": "x"}, {"A": "b", "B": "x"}])

    def lift(together: int, given: int, other: int) -> float:
        return math.log((together + 0.5 * other / 4) / (given + 0.5) / (other / 4))

    fits, does_not = (lift(2, 3, 2) + lift(2, 2, 3)) / 2, (lift(0, 1, 2) + lift(0, 2, 1)) / 2
    assert fits > 0 > does_not
    expected = [0.1 * fits, does_not]
    assert counts.score(ids).tolist() == pytest.approx(expected, rel=1e-5)


def test_a_new_entity_says_nothing_and_a_broken_habit_much() -> None:
    """The pair (b, x) never occurred: the more often b and x were seen, the stranger it is."""
    scores = []
    for times in (1, 10, 100):
        counts, data = fitted(pa.table({"A": ["a", "b"] * times, "B": ["x", "y"] * times}))
        scores.append(float(counts.score(data.vocabulary.encode([{"A": "b", "B": "x"}]))))
    assert scores[0] > scores[1] > scores[2]


def test_storage_follows_records_not_cardinality() -> None:
    """100,000 × 100,000 entities would be 40 GB as a matrix."""
    size = 100_000
    table = pa.table({"A": [f"a{i}" for i in range(size)] * 2, "B": [f"b{i}" for i in range(size)] * 2})
    model = carat.fit(table, explainer=False, detector="counts")
    assert len(model.pairs.keys) <= size
