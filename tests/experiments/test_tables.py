"""Tables from made-up cells whose figures can be worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from carat.experiments.tables import METRICS, Results, figure, tables


def cell(data: str, method: str, value: float, ranks: list[int], seed: int = 0) -> dict[str, Any]:
    return {
        "data": data,
        "synthetic": True,
        "entities": 10,
        "domains": 4,
        "train": 100,
        "seed": seed,
        "cell": method,
        "k": 50,
        "coverage": 1.0,
        "counterfactuals": 5.0,
        "seconds": 0.5,
        "rank": ranks,
        "values": {metric: [value, value, None] for metric in METRICS},
    }


CELLS = [
    cell("shipments:us_import", "xformer-r", 0.2, [0, 0]),
    cell("shipments:us_import", "carat", 0.8, [1, 0]),
    cell("shipments:us_import", "carat", 0.6, [2, 11], seed=1),
]


def test_gaps_are_left_out() -> None:
    assert figure([1.0, None, 3.0]).mean == 2.0
    assert figure([1.0, None, 3.0]).spread == pytest.approx(2**0.5)
    assert figure([None]).text() == "–"


def test_seeds_are_pooled() -> None:
    results = Results(CELLS)
    assert results.methods == ["xformer-r", "carat"]
    assert results.figure("shipments:us_import", "carat", "coherence").mean == pytest.approx(0.7)
    assert [results.recovery("shipments:us_import", "carat", k) for k in (1, 2, 50)] == [0.25, 0.5, 0.75]


def test_summary_of_two() -> None:
    """With two methods the better one of every metric has 1 and the other 0."""
    assert Results(CELLS).summary(["xformer-r", "carat"]) == {"xformer-r": 0.0, "carat": 1.0}


def test_the_page() -> None:
    page = tables(CELLS)
    assert "**0.7000 ± 0.1155** [0.9822]" in page, "the best in bold, the paper's beside"
    assert "| shipments:us_import | synthetic | 10 | 4 | 100 | 2 | 0, 1 |" in page
    assert "Along the dial" not in page


def test_a_failure_is_told() -> None:
    page = tables([*CELLS, {**cell("flights", "dice-genetic", 0, []), "values": {}, "error": "time-out"}])
    assert "| flights | dice-genetic | time-out |" in page


def test_share_answered() -> None:
    page = tables([{**CELLS[0], "coverage": 0.5}])
    assert "(of 50 %)" in page
