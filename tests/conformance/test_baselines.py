"""One suite over the baselines that a model offers by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import carat
from carat.baselines import BASELINES
from tests.support.fitted import frame, model_of
from tests.support.planted import DOMAINS, corrupted

pytestmark = pytest.mark.parametrize("name", BASELINES)


def test_columns_and_changes(name: str) -> None:
    records: list[dict[str, Any]] = [*corrupted()[0][:2], {**corrupted()[0][0], "Good": None}]
    result = model_of("mead").recourse(frame(records), k=5, method=name, all=True)
    rows = result.to_arrow().to_pylist()
    assert list(rows[0]) == ["record", "rank", "score", "percentile", "valid", "changed", *DOMAINS]
    assert {row["record"] for row in rows} == {0, 1, 2}
    for row in rows:
        before = records[row["record"]]
        assert row["changed"] == [domain for domain in DOMAINS if row[domain] != before[domain]]
        assert row["changed"]
        assert "Good" not in row["changed"] or row["record"] != 2, "a missing entity is never a target"


def test_no_output_breaks_a_constraint(name: str) -> None:
    constraints = carat.Constraints(immutable=["Port"], forbidden={"Carrier": ["Carrier-0a"]}, max_changes=1)
    rows = model_of("mead").recourse(frame(corrupted()[0][:6]), k=8, method=name, all=True, constraints=constraints)
    for row in rows.to_arrow().to_pylist():
        assert "Port" not in row["changed"]
        assert len(row["changed"]) == 1
        assert "Carrier" not in row["changed"] or row["Carrier"] != "Carrier-0a"


def test_words_and_page(name: str, tmp_path: Path) -> None:
    """Without an explainer there is no likelihood to show; everything else is there."""
    result = model_of("mead").recourse(frame(corrupted()[0][:1]), k=2, method=name, all=True)
    assert "1. " in str(result.explain(0))
    result.report(tmp_path / "page.html")
    assert "NaN" not in (tmp_path / "page.html").read_text(encoding="utf-8").split('type="application/json"')[1][:5000]
