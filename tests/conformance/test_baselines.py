"""Every baseline of the registry against the public checks of methods, and on a page."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from carat.baselines.fimap import Fimap
from carat.baselines.rceaa import Rceaa, rceaa
from carat.jobs import recourse_result
from carat.recourse import Method, ModelParts, Settings
from carat.registry import BASELINES
from carat.testing import Check
from carat.testing.methods import MethodChecks
from tests.conformance.listing import listed
from tests.support.fitted import frame
from tests.support.planted import DOMAINS, corrupted

# They draw at random, and what they draw for a record depends on those before it.
DRAWN_IN_ORDER = ("fimap", "xformer-r")
WITHOUT = dict.fromkeys(DRAWN_IN_ORDER, ("rows_are_independent",))
ENOUGH = 40
"""Counterfactuals asked for, so that a baseline that draws at random finds some for every record."""
DICE = pytest.mark.skipif(find_spec("dice_ml") is None, reason="dice_ml is not installed")


def small_fimap(parts: ModelParts) -> Method:
    """The real one trains for half a minute."""
    assert parts.records is not None
    small = Fimap(epochs=4, copies=1, widths=(32,), proxy_width=32, seed=parts.run.seed)
    return small.fit(parts.records, parts.detector, parts.run)


def small_rceaa(parts: ModelParts) -> Method:
    """The real one descends nine times, and longer."""
    made = rceaa(parts)
    assert isinstance(made, Rceaa)
    return replace(made, epochs=6, weights=(0.5,))


SMALL = {"fimap": small_fimap, "rceaa": small_rceaa}


def asked(name: str) -> MethodChecks:
    """A baseline is no match for the paper's method, so nobody asks that its best repairs the record."""
    return MethodChecks(SMALL.get(name, name), needs=BASELINES[name].needs, context=False, detector="mead")


def marks(name: str) -> list[pytest.MarkDecorator]:
    return [DICE] if name.startswith("dice-") else []


HERE = [name for name in BASELINES if not name.startswith("dice-") or find_spec("dice_ml")]
SUITES = {name: asked(name) for name in HERE}


@pytest.mark.parametrize(
    "check",
    [each for name, suite in SUITES.items() for each in listed(name, suite.checks(), without=WITHOUT.get(name, ()))]
    + [pytest.param(None, id=name, marks=DICE) for name in BASELINES if name not in HERE],
)
def test_baseline(check: Check) -> None:
    check()


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in BASELINES])
def test_columns_and_changes(name: str) -> None:
    records: list[dict[str, Any]] = [*corrupted()[0][:2], {**corrupted()[0][0], "Good": None}]
    result = recourse_result(
        SUITES[name].model, frame(records), Settings(k=ENOUGH), method=SUITES[name].method, all=True
    )
    rows = result.to_arrow().to_pylist()
    assert list(rows[0]) == ["record", "rank", "score", "percentile", "valid", "changed", *DOMAINS]
    assert {row["record"] for row in rows} == {0, 1, 2}
    for row in rows:
        before = records[row["record"]]
        assert row["changed"] == [domain for domain in DOMAINS if row[domain] != before[domain]]
        assert row["changed"]
        assert "Good" not in row["changed"] or row["record"] != 2, "a missing entity is never a target"


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in BASELINES])
def test_page(name: str, tmp_path: Path) -> None:
    """Without an explainer there is no likelihood to show; everything else is there."""
    suite = SUITES[name]
    result = recourse_result(suite.model, frame(corrupted()[0][:1]), Settings(k=ENOUGH), method=suite.method, all=True)
    assert "1. " in str(result.explain(0))
    result.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    found = re.search(r'type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert found is not None

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    json.loads(found[1], parse_constant=refuse)
