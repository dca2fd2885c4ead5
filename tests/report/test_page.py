"""The page as a file: whole, small, silent on the network, and no text of a user's is ever markup."""

from __future__ import annotations

import builtins
import json
import math
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch

from carat.errors import MissingExtraError
from carat.recourse import RecourseResult
from carat.report import Collector, Overview, write_collected, write_report
from carat.report import collect as module
from carat.report.charts import histogram_svg
from carat.report.palette import DARK, LIGHT, SHAPES, TEXT, contrast
from tests.planted import planted_table
from tests.report import results
from tests.report.results import CLOSING, EVIL


class Page(HTMLParser):
    """Elements, and the text of the scripts, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") or tag

    def handle_data(self, data: str) -> None:
        self.texts[self.inside] = self.texts.get(self.inside, "") + data

    @property
    def data(self) -> Any:
        """What the script reads."""
        return json.loads(self.texts["data"])


def written(result: RecourseResult, folder: Path, **options: Any) -> str:
    write_report(result, folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def test_structure(tmp_path: Path) -> None:
    found = results.result()
    text = written(found, tmp_path, title="A title & more")
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert "<h1>A title &amp; more</h1>" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    data = page.data
    assert data["domains"] == ["Port", "Good", "Carrier", "Buyer"]
    records = {row["record"]: row for row in found.records}
    assert sorted(row["name"] for row in data["records"]) == sorted(records)
    scores = [row["score"] for row in data["records"]]
    assert scores == sorted(scores)
    first = data["records"][0]
    explained = found.explain(first["name"], show=20)
    assert first["words"][0] in str(explained)
    assert first["score"] == pytest.approx(explained.score)
    assert first["count"] == records[first["name"]]["count"]
    assert len(first["changes"]) == min(first["count"], 20)
    for change, shown in zip(explained.counterfactuals, first["changes"], strict=True):
        assert {data["domains"][d]: data["texts"][new] for d, new, _, _ in shown[4]} == {
            name: new for name, (_, new) in change.changes.items()
        }
        assert [support for _, _, support, _ in shown[4]] == list(change.support.values())
        # Seen with everything beside it is the same as seen with the least familiar of it.
        assert all((support > 0) == (known == 3) for _, _, support, known in shown[4])
        assert shown[3] is None
    assert not data["costs"]


def test_every_text_is_stored_once(tmp_path: Path) -> None:
    texts = Page(written(results.result(), tmp_path)).data["texts"]
    assert len(texts) == len(set(texts))


def test_long_result_stays_small(tmp_path: Path) -> None:
    found = results.long()
    assert len(found) == 200
    text = written(found, tmp_path)
    assert len(text.encode()) < 3_000_000
    data = Page(text).data
    assert max(row["count"] for row in data["records"]) == 50
    assert max(len(row["changes"]) for row in data["records"]) == 20


def test_no_network(tmp_path: Path) -> None:
    """Not an address in it, and the page forbids itself to fetch."""
    text = written(results.result(), tmp_path)
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(", text)
    page = Page(text)
    assert not [tag for tag, attrs in page.elements if attrs.get("src") is not None]
    assert [attrs["href"] for _, attrs in page.elements if "href" in attrs] == ["data:,", "#records"]
    assert "default-src 'none'" in text


@pytest.mark.parametrize("title", [None, EVIL + CLOSING])
def test_texts_are_never_markup(tmp_path: Path, title: str | None) -> None:
    text = written(results.hostile(), tmp_path, title=title)
    page = Page(text)
    tags = [tag for tag, _ in page.elements]
    assert tags.count("script") == 3
    assert "img" not in tags
    assert EVIL not in text
    assert text.lower().count("</script") == 3
    texts = page.data["texts"]
    assert EVIL in texts
    assert CLOSING in texts
    assert EVIL in page.data["domains"]
    assert "</script>" in {row["name"] for row in page.data["records"]}


def test_costs(tmp_path: Path) -> None:
    found = results.costly()
    data = Page(written(found, tmp_path)).data
    assert data["costs"]
    for row in data["records"]:
        costs = [change.cost for change in found.explain(row["name"], show=20).counterfactuals]
        assert [change[3] for change in row["changes"]] == pytest.approx(costs)


def test_no_counterfactuals(tmp_path: Path) -> None:
    data = Page(written(results.barren(), tmp_path)).data
    assert all(row["changes"] == [] and row["count"] == 0 for row in data["records"])
    assert all("no domain of it may change" in row["reason"] for row in data["records"])


def test_missing_and_unseen(tmp_path: Path) -> None:
    data = Page(written(results.result(), tmp_path)).data
    missing, unseen = (next(row for row in data["records"] if row["name"] == name) for name in (1, 2))
    assert missing["entities"][3] is None
    assert missing["likelihood"][3] is None
    assert data["texts"][unseen["entities"][3]] == "Nobody & Sons"
    assert unseen["seen"][3] == 0
    assert unseen["new"] == [0, 0, 0, 1]
    assert missing["new"] == [0, 0, 0, 0]
    assert "Buyer Nobody & Sons was never seen in training." in unseen["words"]


def test_nothing_flagged_and_nothing_there(tmp_path: Path) -> None:
    good = results.frame(results.mixed()[:1]).slice(0, 0)
    text = written(results.model().recourse(good, all=True), tmp_path)
    assert Page(text).data["records"] == []
    assert "<strong>0</strong> records in this report" in text
    assert "There are no records in this report." in text
    calm = Overview.of(torch.tensor([2.0, 3.0]), 1.0)
    text = written(results.model().recourse(good, all=True), tmp_path, overview=calm)
    assert "No record is anomalous, so there is none to show." in text
    normal = planted_table(40)
    data = Page(written(results.model().recourse(normal, all=True), tmp_path)).data
    assert all(row["words"] for row in data["records"])
    none = results.frame([{"Port": None, "Good": None, "Carrier": None, "Buyer": None}])
    data = Page(written(results.model().recourse(none, all=True), tmp_path)).data
    assert data["records"][0]["words"] == ["The record has no entities."]


def test_sentences_and_counts_come_in_the_same_order(tmp_path: Path) -> None:
    for row in Page(written(results.result(), tmp_path)).data["records"]:
        told = [domain for domain, _ in row["against"]]
        assert told == sorted(told, key=lambda domain: row["likelihood"][domain])


def test_overview(tmp_path: Path) -> None:
    scores = torch.cat([torch.linspace(-5, 5, 900), torch.full((100,), -20.0)])
    overview = Overview.of(scores, -6.0)
    assert (overview.records, overview.anomalous) == (1000, 100)
    assert sum(overview.counts) == 1000
    assert -6.0 in overview.edges
    below = sum(count for count, end in zip(overview.counts, overview.edges[1:], strict=True) if end <= -6)
    assert below == 100
    text = written(results.result(), tmp_path, overview=overview)
    assert "<strong>1,000</strong> records scored" in text
    assert re.search(r"<strong>100</strong> anomalous\s+\(10 %\)", text)
    with pytest.raises(ValueError, match="2 counts need 3 edges"):
        Overview(1, 0, (1, 0), (0.0, 1.0), 0.0)


def test_histogram_shows_the_few_and_the_many() -> None:
    """What is anomalous lies left of the threshold, also where it is rare; what lies far out squeezes nothing."""
    body = torch.linspace(-10, 10, 100_000)
    overview = Overview.of(torch.cat([body, torch.tensor([-31.0, -40.0, -500.0])]), -30.0)
    parted = zip(overview.counts, overview.edges[1:], strict=True)
    assert sum(count for count, end in parted if end <= -30.0) == 3
    assert overview.edges[0] > -100
    result = Overview.of_result(torch.tensor([-1000.0, -2000.0]), torch.linspace(-10, 10, 400), -9.0)
    assert sum(count > 0 for count in result.counts) > 15
    drawn = histogram_svg(Overview.of(torch.cat([body, torch.tensor([-35.0])]), -30.0), 560, 170)
    assert "var(--flag)" in drawn


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0], [float("nan"), 1.0], [0.0, 1e30], [-1e9, *[1.0] * 500, 3.0]])
def test_overview_of_odd_scores(scores: list[float]) -> None:
    """One bar or many, every finite score is in one, and the threshold parts them."""
    overview = Overview.of(torch.tensor(scores), 1.0)
    assert sum(overview.counts) == sum(map(math.isfinite, scores))
    assert 1.0 in overview.edges
    assert len(overview.counts) <= 50


def test_collector_keeps_the_strangest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Part by part, with a limit, it is the same page, only shorter; the sums are of all records."""
    found = results.result()
    monkeypatch.setattr("carat.recourse.result.BATCH", 4)
    parted = results.model().recourse(results.frame(results.mixed()), all=True)
    assert len(parted.parts) == 6
    whole, some = Collector.of(found), Collector(found.scale, found.evidence, found.method, limit=5)
    for part in parted.parts:
        some.add(part)
    assert some.domains == whole.domains
    assert some.entities == whole.entities
    assert some.repaired == whole.repaired
    assert torch.equal(some.scores, whole.scores)
    write_collected(some, tmp_path / "some.html")
    text = (tmp_path / "some.html").read_text(encoding="utf-8")
    data, all_data = Page(text).data, Page(written(found, tmp_path)).data
    assert "The 5 strangest of 24 records are listed;" in text
    names = [row["name"] for row in data["records"]]
    assert [row["score"] for row in data["records"]] == [row["score"] for row in all_data["records"][:5]]
    assert all(row["words"] for row in data["records"])
    assert len(set(names)) == 5
    assert module.RECORDS >= 1000


def test_sums_are_those_of_the_records() -> None:
    found = results.result()
    collected = Collector.of(found)
    records = found.records
    assert collected.domains.total() == sum(len(row["flagged"]) for row in records)
    assert collected.entities.total() == collected.domains.total()
    rows = found.to_arrow().to_pylist()
    repaired = {row["record"] for row in rows if row["valid"]}
    anomalous = {row["record"] for row in records if row["score"] < found.scale.threshold}
    assert collected.repaired == len(repaired & anomalous)


def test_scores_without_a_number(tmp_path: Path) -> None:
    """A detector from outside may give none; the page is there all the same."""
    found = results.result()
    part = found.parts[0]
    score = part.score.clone()
    score[0] = torch.nan
    data = Page(written(replace(found, parts=(replace(part, score=score),)), tmp_path)).data
    assert [row["score"] for row in data["records"] if row["name"] == 0] == [None]


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_contrast(palette: dict[str, str]) -> None:
    """WCAG AA of everything that is written or drawn on something."""
    assert LIGHT.keys() == DARK.keys()
    weak = {pair: contrast(palette[pair[0]], palette[pair[1]]) for pair in TEXT}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}
    weak = {pair: contrast(palette[pair[0]], palette[pair[1]]) for pair in SHAPES}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 3} == {}


def test_colours_come_from_the_palette() -> None:
    folder = Path(module.__file__).parent / "templates"
    for path in folder.iterdir():
        assert not re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[;\s\"')])", path.read_text(encoding="utf-8")), path.name


@pytest.mark.parametrize("package", ["jinja2", "altair", "vl_convert"])
def test_missing_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    genuine = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return genuine(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"carat-recourse\[report\]"):
        write_report(results.result(), tmp_path / "page.html")
    assert not list(tmp_path.iterdir())
