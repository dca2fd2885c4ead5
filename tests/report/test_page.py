"""The page as a file: whole, small, silent on the network, and no text of a user's is ever markup."""

from __future__ import annotations

import builtins
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

import carat
from carat.errors import MissingExtraError
from carat.report import Collector, Overview, write_collected, write_report
from carat.report import collect as module
from carat.report.palette import DARK, LIGHT, SHAPES, TEXT, contrast
from carat.results import Origin
from tests.report import results
from tests.report.reading import Page, written
from tests.report.results import CLOSING, EVIL
from tests.support.planted import planted_table


def test_structure(tmp_path: Path) -> None:
    found = results.result()
    text = written(found, tmp_path, title="A title & more")
    page = Page(text)
    assert text.startswith("<!doctype html>")
    assert "<h1>A title &amp; more</h1>" in text
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    data = page.data
    assert data["columns"] == ["Port", "Good", "Carrier", "Buyer"]
    assert sorted(row["record"] for row in data["records"]) == sorted(row["record"] for row in found.records)
    scores = [row["score"] for row in data["records"]]
    assert scores == sorted(scores)
    # Seen with everything beside it is the same as seen with the least familiar of it.
    changes = [one for row in data["records"] for change in row["counterfactuals"] for one in change["changes"]]
    complete = [one for one in changes if one["column"] != "Buyer" and one["known"] == 3]
    assert complete
    assert all(one["support"] > 0 for one in complete)


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
    assert "from <script>alert(3)<script>WWW" in page.footer
    assert text.lower().count("</script") == 3
    texts = {value["value"] for row in page.data["records"] for value in row["values"]}
    assert {EVIL, CLOSING} <= texts
    assert EVIL in page.data["columns"]
    assert "</script>" in {row["record"] for row in page.data["records"]}


def test_nothing_flagged_and_nothing_there(tmp_path: Path) -> None:
    good = results.frame(results.mixed()[:1]).slice(0, 0)
    text = written(results.model().recourse(good, all=True), tmp_path)
    assert Page(text).data["records"] == []
    assert "<strong>0</strong> rows in this report" in text
    assert "This report has no rows." in text
    calm = Overview.of(torch.tensor([2.0, 3.0]), 1.0)
    text = written(results.model().recourse(good, all=True), tmp_path, overview=calm)
    assert "No row is anomalous, so there is nothing to show." in text
    normal = planted_table(40)
    data = Page(written(results.model().recourse(normal, all=True), tmp_path)).data
    assert all(row["words"] for row in data["records"])
    none = results.frame([{"Port": None, "Good": None, "Carrier": None, "Buyer": None}])
    data = Page(written(results.model().recourse(none, all=True), tmp_path)).data
    assert data["records"][0]["words"] == ["The row has no values."]


def test_collector_keeps_the_strangest(tmp_path: Path) -> None:
    """Batch by batch, with a limit, it is the same page, only shorter; the sums are of all records."""
    found = results.result()
    (batch,) = found.batches
    whole, some = Collector.of(found), Collector(found.scale, found.evidence, found.method, limit=5)
    for index in torch.arange(len(batch)).split(4):
        some.add(batch.take(index))
    assert some.domains == whole.domains
    assert some.entities == whole.entities
    assert some.repaired == whole.repaired
    assert torch.equal(some.scores, whole.scores)
    write_collected(some, tmp_path / "some.html")
    text = (tmp_path / "some.html").read_text(encoding="utf-8")
    data, all_data = Page(text).data, Page(written(found, tmp_path)).data
    assert "This list has the 5 strangest of 24 rows." in text
    names = [row["record"] for row in data["records"]]
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


ORIGIN = Origin(
    "9.8.7", "0123456789abcdef", "/home/me/a & b.csv", "fedcba9876543210" * 4, 24, "2031-02-03T05:06:07+01:00"
)


def test_footer_says_what_it_was_made_of(tmp_path: Path) -> None:
    found = results.result()
    text = Page(written(replace(found, origin=ORIGIN), tmp_path)).footer
    assert text == (
        "carat 9.8.7 · method instant · made 2031-02-03 04:06 UTC · model 0123456789abcdef"
        " · from a & b.csv, fingerprint fedcba987654"
    )
    assert Page(written(replace(found, origin=None), tmp_path)).footer == f"carat {carat.__version__} · method instant"
    assert found.origin is not None
    assert found.origin.fingerprint[:12] in Page(written(found, tmp_path)).footer


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
    for path in (path for path in folder.rglob("*") if path.is_file()):
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
