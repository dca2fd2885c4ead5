"""A page as a browser would find it, and what its records must say."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from carat.report import write_report
from carat.results import RecourseResult

SHOWN = 20
"""Counterfactuals of a record that a page has, at most."""


class Page(HTMLParser):
    """Elements, and the text of the scripts, as a browser would find them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, str] = {}
        self.inside = ""
        self.between: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.inside = dict(attrs).get("id") or tag
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts[self.inside] = self.texts.get(self.inside, "") + data
        if "footer" in self.open:
            self.between["footer"] = self.between.get("footer", "") + data

    @property
    def footer(self) -> str:
        """Its text, as it reads."""
        return self.between["footer"]

    @property
    def data(self) -> Any:
        """What the script reads."""
        return json.loads(self.texts["data"])


def strange_words(text: str) -> set[str]:
    """Words of the paper and of the code in what is said to people, who have rows, columns, values and fixes."""
    return {
        word.lower() for word in re.findall(r"\b(?:domain|entit|record|counterfactual|repair)\w*", text, re.IGNORECASE)
    }


def written(result: RecourseResult, folder: Path, **options: Any) -> str:
    """The page of a result."""
    write_report(result, folder / "page.html", **options)
    return (folder / "page.html").read_text(encoding="utf-8")


def documented(result: RecourseResult) -> list[dict[str, Any]]:
    """`Explanation.to_json` of every record of a small result, rounded and cut as docs/schema.md has it."""
    found = sorted(result.to_json(show=SHOWN), key=lambda record: (-(record["alarm"] or 0.0), record["score"]))
    for record in found:
        assert (record.pop("schema"), record.pop("version")) == ("carat.record", 1)
        for value in record["values"]:
            value["against"] = value["against"][:8]
    rounded: list[dict[str, Any]] = _rounded(found)
    return rounded


def _rounded(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return {name: _rounded(one, name) for name, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one, name) for one in value]
    digits = 3 if name in {"likelihood", "expected", "filled"} else 6 if name == "alarm" else 7
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value
