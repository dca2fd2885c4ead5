"""The page that documents the JSON: its example is real, and its tables have every field there is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import carat
from tests.documents.pages import ROOT, blocks_of
from tests.report import results
from tests.support.audits import cities, fake_audit

DOCUMENT = ROOT / "docs" / "schema.md"
PARTS: dict[str, Callable[[Any], list[Any]]] = {
    "The row": lambda record: [record],
    "A value": lambda record: record["values"],
    "A witness": lambda record: [one for value in record["values"] for one in value["against"]],
    "A pair": lambda record: record["pairs"],
    "A counterfactual": lambda record: record["counterfactuals"],
    "A change": lambda record: [one for change in record["counterfactuals"] for one in change["changes"]],
}


def documented(title: str) -> list[str]:
    """The fields that a section's table has, in order."""
    text = DOCUMENT.read_text(encoding="utf-8")
    section = text.partition(f"### {title}\n")[2]
    rows = re.findall(r"^\| (`.*?`) \|", re.split(r"^##", section, maxsplit=1, flags=re.MULTILINE)[0], re.MULTILINE)
    return [name for row in rows for name in re.findall(r"`(\w+)`", row)]


AUDIT: dict[str, Callable[[Any], list[Any]]] = {
    "The audit": lambda audit: [audit],
    "A column": lambda audit: audit["columns"],
    "A cell": lambda audit: audit["cells"],
}


@pytest.mark.parametrize("title", AUDIT)
def test_every_field_of_an_audit_is_documented(title: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.auditing.audit.audit_table", fake_audit)
    parts = AUDIT[title](carat.audit(cities()).to_json())
    assert parts
    assert all(list(part) == documented(title) for part in parts)


def test_every_field_of_a_change_is_documented(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"a,b\nx,y\n")
    cells = {"record": ["0"], "column": ["a"], "decision": ["=z"]}
    carat.apply(pa.table(cells), tmp_path / "t.csv", out=tmp_path / "o.csv")
    first, *rest = map(json.loads, (tmp_path / "o.csv.changes.jsonl").read_text().splitlines())
    section = DOCUMENT.read_text(encoding="utf-8").partition("### The first line\n")[2].partition("\n### ")[0]
    assert list(first) == re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)
    assert [list(one) for one in rest] == [documented("A changed cell")]


@pytest.mark.parametrize("title", PARTS)
def test_every_field_is_documented(title: str) -> None:
    found = [*results.costly().to_json(), *results.blameless().to_json()]
    parts = [part for record in found for part in PARTS[title](record)]
    assert parts
    assert all(list(part) == documented(title) for part in parts)


def test_every_field_of_the_page_is_documented(tmp_path: Path) -> None:
    results.costly().report(tmp_path / "page.html")
    found = re.search(r'id="data">(.*?)</script>', (tmp_path / "page.html").read_text(encoding="utf-8"))
    assert found
    section = DOCUMENT.read_text(encoding="utf-8").partition("## On the page\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)
    assert [name for row in rows for name in re.findall(r"`(\w+)`", row)] == list(json.loads(found[1]))


def test_example_is_real() -> None:
    (shown,) = (json.loads(block.text) for block in blocks_of(DOCUMENT) if block.language == "json")
    (code,) = (block.text for block in blocks_of(DOCUMENT) if block.language == "python")
    names: dict[str, Any] = {}
    exec(code, names)
    assert isinstance(names["result"], carat.RecourseResult)
    assert_alike(names["record"], shown)


def assert_alike(found: Any, shown: Any) -> None:
    """The same fields, texts and counts; other machines may compute another last digit."""
    if isinstance(found, dict):
        assert list(found) == list(shown)
        for name in found:
            assert_alike(found[name], shown[name])
    elif isinstance(found, list):
        assert len(found) == len(shown)
        for one, other in zip(found, shown, strict=True):
            assert_alike(one, other)
    else:
        assert found == (pytest.approx(shown, rel=1e-4) if isinstance(found, float) else shown)
