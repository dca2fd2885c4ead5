"""Tables from made-up cells whose figures can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from carat.experiments.cells import Cell, CellKey, Measured, Setting
from carat.experiments.tables import METRICS, Results, digest, figure, tables


def cell(data: str, method: str, value: float, ranks: list[int], seed: int = 0, **facts: Any) -> Cell:
    key = CellKey(
        data=data,
        fingerprint="f",
        model="m",
        kind="method",
        method=method,
        seed=seed,
        profile="fast",
        detector="mead",
        anomalies=2,
        k=50,
    )
    values = {metric: [value, value, None] for metric in METRICS}
    measured = Measured(values=values, rank=ranks, counterfactuals=5.0, seconds=0.5, **facts)
    return Cell(key=key, setting=Setting(synthetic=True, entities=10, domains=4, train=100), measured=measured)


US = "shipments:us_import"
CELLS = [cell(US, "xformer-r", 0.2, [0, 0]), cell(US, "carat", 0.8, [1, 0]), cell(US, "carat", 0.6, [2, 11], seed=1)]


def test_gaps_are_left_out() -> None:
    assert figure([1.0, None, 3.0]).mean == 2.0
    assert figure([1.0, None, 3.0]).spread == pytest.approx(2**0.5)
    assert figure([None]).text() == "–"


def test_seeds_are_pooled() -> None:
    results = Results(CELLS)
    assert results.methods == ["xformer-r", "carat"]
    cells = results.of(US, "carat")
    assert results.figure(cells, "coherence").mean == pytest.approx(0.7)
    assert [results.recovery(cells, k) for k in (1, 2, 50)] == [0.25, 0.5, 0.75]


def test_summary_of_two() -> None:
    """With two methods the better one of every metric has 1 and the other 0."""
    assert Results(CELLS).summary(["xformer-r", "carat"]) == {"xformer-r": 0.0, "carat": 1.0}


def test_what_is_found_is_averaged_over_seeds() -> None:
    def told(seed: int, gate: float | None) -> Cell:
        found = {"counts": {"roc_auc": 0.9, "caught_0.01": 0.25 + seed / 2}}
        found |= {} if gate is None else {"gate": {"roc_auc": gate, "caught_0.01": 1.0}}
        key = replace(CELLS[0].key, kind="detection", method="", seed=seed)
        return replace(CELLS[0], key=key, measured=None, detection=found)

    page = tables([*CELLS, told(0, 1.0), told(1, None)])
    assert "| data | counts | gate |" in page
    assert f"| {US}, ROC-AUC | 0.900 | 1.000 |" in page
    assert f"| {US}, caught at 1 % false alarms | 0.500 | 1.000 |" in page
    assert digest(told(0, None))["detection"]["counts"]["roc_auc"] == 0.9
    assert "What detectors and the gate find" not in tables(CELLS)


def test_the_page() -> None:
    page = tables(CELLS)
    assert "**0.7000 ± 0.1155** [0.9822]" in page, "the best in bold, the paper's beside"
    assert "| shipments:us_import | synthetic | 10 | 4 | 100 | 2 | 0, 1 |" in page
    assert "Along the dial" not in page


def test_a_failure_is_told() -> None:
    failed = replace(cell("flights", "dice-genetic", 0, []), measured=None, error="KeyError: 'x'")
    late = cell("flights", "dice-random", 0, [1], note="time-out: 1 of 10 anomalies in 120 s")
    page = tables([*CELLS, failed, late])
    assert "| flights | dice-genetic | KeyError: 'x' |" in page
    assert "| flights | dice-random | time-out: 1 of 10 anomalies in 120 s |" in page


def test_share_answered() -> None:
    page = tables([cell(US, "carat", 0.8, [1, 0], coverage=0.5)])
    assert "(of 50 %)" in page


def test_the_dial_is_a_field_of_its_cells() -> None:
    """Along the dial `carat-plus` itself stands in the middle; no other method is taken for a place on it."""
    middle = cell(US, "carat-plus", 0.5, [1, 0])
    ends = [
        replace(
            middle, key=replace(middle.key, kind="dial", prefer=prefer), measured=replace(middle.measured, rank=rank)
        )
        for prefer, rank in ((0.0, [1, 1]), (1.0, [0, 0]))
        if middle.measured is not None
    ]
    page = tables([*CELLS, middle, *ends])
    rows = [
        line.split(" | ") for line in page[page.index("Along the dial") :].splitlines() if line.startswith(f"| {US}")
    ]
    assert [(row[1], row[4]) for row in rows] == [("0", "1.000"), ("0.5", "0.500"), ("1", "0.000")]
    assert digest(ends[0])["prefer"] == 0.0
    assert digest(ends[0])["recovery"]["1"] == 1.0
