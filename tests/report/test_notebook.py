"""What a notebook shows: small, whole, escaped."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from carat.report import explanation_html, result_html
from carat.results import RecourseResult
from tests.report import results
from tests.report.results import EVIL


class Balanced(HTMLParser):
    """Checks that every element is closed in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("found", [results.result(), results.costly(), results.barren(), results.hostile()])
def test_whole_and_escaped(found: RecourseResult) -> None:
    texts = [result_html(found), *(explanation_html(found.explain(row["record"])) for row in found.records)]
    for text in texts:
        assert Balanced(text).tags <= {
            "div",
            "p",
            "b",
            "i",
            "s",
            "small",
            "span",
            "table",
            "tr",
            "th",
            "td",
            "br",
            "tbody",
        }
        assert EVIL not in text
        assert not re.search(r"https?:|\bcolor: *(black|white|#)", text)


def test_result_says_how_many() -> None:
    found = results.result()
    text = result_html(found)
    assert "<b>24 rows</b>" in text
    assert text.count("<tr>") == 11
    assert "14 more rows" in text
    assert "<table" not in result_html(results.model().recourse(results.frame([]), all=True))


def test_explanation_says_why() -> None:
    found = results.costly()
    text = explanation_html(found.explain(0))
    assert "⚑ Port" in text
    assert "<s>Port-2a</s> → <b>Port-0a</b>" in text
    assert ">cost<" in text
    assert "missing" in explanation_html(found.explain(1))
    assert "No fix was found." in explanation_html(results.barren().explain(0))
    assert "score none" in explanation_html(results.unscored().explain(0))


def test_a_repair_that_does_not_help_says_so() -> None:
    """The threshold is put above every score: then nothing helps."""
    found = results.costly()
    assert "still anomalous" not in result_html(found)
    scale = replace(found.scale, threshold=1e9)
    strict = replace(found, scale=scale, batches=tuple(replace(batch, scale=scale) for batch in found.batches))
    text = result_html(strict)
    assert "24 anomalous" in text
    assert text.count("still anomalous") == text.count("cost ") == 10
    assert "✓" not in explanation_html(strict.explain(0))
