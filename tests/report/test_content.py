"""What lies behind the page: the documented JSON of every record, small enough to send."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from carat.report.content import on_page
from carat.results import RecourseResult
from tests.report import results
from tests.report.reading import Page, documented, written
from tests.support.planted import planted_table


def check_stored(stored: Any, whole: Any, own: dict[str, str | None]) -> None:
    """A page has a field as it is, or leaves it out: where it is null, false or empty, or `values` has it."""
    if isinstance(whole, list):
        assert len(stored) == len(whole)
        for one, other in zip(stored, whole, strict=True):
            check_stored(one, other, own)
    elif isinstance(whole, dict):
        assert stored.keys() <= whole.keys()
        for name, value in whole.items():
            if name in stored:
                check_stored(stored[name], value, own)
            elif value is not None and value is not False and value != []:
                assert name == "before" or (name == "value" and "together" in whole)
                assert value == own[whole["column"]]
    else:
        assert type(stored) is type(whole)
        assert stored == whole


MAKERS = (results.result, results.costly, results.barren, results.blameless, results.hostile, results.judged)


@pytest.mark.parametrize("make", MAKERS)
def test_records_are_the_documented_json(make: Callable[[], RecourseResult], tmp_path: Path) -> None:
    found = make()
    data = Page(written(found, tmp_path)).data
    assert (data["schema"], data["version"]) == ("carat.record", 1)
    expected = documented(found)
    assert data["columns"] == [value["column"] for value in expected[0]["values"]]
    assert len(data["records"]) == len(expected)
    for stored, whole in zip(data["records"], expected, strict=True):
        own = {value["column"]: value["value"] for value in whole["values"]}
        assert {value["column"]: value.get("value") for value in stored["values"]} == own
        check_stored(stored, whole, own)


def test_evidence_and_counterfactuals_are_cut(tmp_path: Path) -> None:
    """And a thousand records of it stay a page that can be sent."""
    found = results.long()
    assert len(found) == 200
    text = written(found, tmp_path)
    assert len(text.encode()) < 3_000_000
    data = Page(text).data
    assert max(row["count"] for row in data["records"]) == 50
    assert max(len(row["counterfactuals"]) for row in data["records"]) == 20
    witness = {"column": "a", "value": "b", "together": 0, "usual": []}
    record = found.to_json(show=1)[0]
    record["values"][0]["against"] = [witness] * 9
    assert on_page(record)["values"][0]["against"] == [{"column": "a", "together": 0}] * 8


def test_long_numbers_as_names_stay_exact(tmp_path: Path) -> None:
    """A script would round them; shorter ones stay numbers, for their order."""
    table = planted_table(40)
    names = [2**53 - 1, 2**53, 2**53 + 1, -(2**53), *range(36)]
    fitted = results.fitted_with_id(planted_table())
    found = fitted.recourse(table.append_column("bill", [names]), all=True)
    shown = {row["record"] for row in Page(written(found, tmp_path)).data["records"]}
    assert shown == {2**53 - 1, str(2**53), str(2**53 + 1), str(-(2**53)), *range(36)}


def test_costs(tmp_path: Path) -> None:
    found = results.costly()
    data = Page(written(found, tmp_path)).data
    assert data["costs"]
    for row in data["records"]:
        costs = [change.cost for change in found.explain(row["record"], show=20).counterfactuals]
        assert [change["cost"] for change in row["counterfactuals"]] == pytest.approx(costs)
    assert not Page(written(results.result(), tmp_path)).data["costs"]


def test_no_counterfactuals(tmp_path: Path) -> None:
    data = Page(written(results.barren(), tmp_path)).data
    assert all("counterfactuals" not in row and row["count"] == 0 for row in data["records"])
    assert all("none of its columns may change" in row["reason"] for row in data["records"])


def test_missing_and_unseen(tmp_path: Path) -> None:
    data = Page(written(results.result(), tmp_path)).data
    missing, unseen = (next(row for row in data["records"] if row["record"] == name) for name in (1, 2))
    assert missing["values"][3] == {"column": "Buyer", "seen": 0, "filled": 1.0}
    assert unseen["values"][3]["value"] == "Nobody & Sons"
    assert unseen["values"][3]["seen"] == 0
    assert [value["column"] for value in unseen["values"] if value.get("new")] == ["Buyer"]
    assert "Buyer Nobody & Sons was never seen in training." in unseen["words"]


def test_scores_without_a_number(tmp_path: Path) -> None:
    """A detector from outside may give none; the page is there all the same."""
    data = Page(written(results.unscored(), tmp_path)).data
    assert [row["record"] for row in data["records"] if "score" not in row] == [0]
    scores = [row["score"] for row in data["records"] if "score" in row]
    assert scores == sorted(scores)


def test_histogram_is_of_the_whole_table(tmp_path: Path) -> None:
    """Of all records that were looked at, also where the result has three of them."""
    found = results.model().recourse(planted_table(1200, seed=1), top=3)
    assert len(found) == 3
    assert 3 < len(found.scale.reference) < 1200
    found.report(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    data = Page(text).data
    assert "<strong>1,200</strong> rows scored" in text
    assert "Scores of 1,200 rows" in text
    assert sum(data["histogram"]["counts"]) == 1200
    assert len(data["records"]) == 3
    # Without the scores, as from an older result, it is what is known of normal records.
    text = written(replace(found, scored=None), tmp_path)
    assert "<strong>3</strong> rows in this report" in text
    assert sum(Page(text).data["histogram"]["counts"]) == len(found.scale.reference)
