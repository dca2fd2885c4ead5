"""What a person does on the page of an audit, and what is to be read there."""

from __future__ import annotations

from pathlib import Path

from tests.report.acting import exported
from tests.report.browser import Tab

LINES = "[...document.querySelectorAll('.line')].map(line => line.querySelector('.what').textContent)"
HEAD = "document.querySelector('#cell h3').textContent"
PROGRESS = "document.getElementById('progress').textContent"
STATUS = "document.getElementById('status').textContent"
SPOKEN = "document.getElementById('said').textContent"
MARKS = "[...document.querySelectorAll('.fate')].map(mark => mark.textContent).join('').replace(/>?[0-9]+%/g, '.')"
FIELDS = ["record", "column", "value", "kind", "error", "proposal", "confidence", "alternatives", "reason", "group"]


def press(page: Tab, keys: str) -> None:
    for key in keys:
        page.press(key)


def downloaded(page: Tab, folder: Path, name: str = "ports-cells.csv") -> list[dict[str, str]]:
    head, *rows = exported(page, folder, "download", name)
    assert head == [*FIELDS, "decision"]
    return [dict(zip(head, row, strict=True)) for row in rows]


def decided(page: Tab, folder: Path) -> dict[tuple[str, str], str]:
    return {(row["record"], row["column"]): row["decision"] for row in downloaded(page, folder)}


def give(page: Tab, path: Path) -> None:
    """Choose a file as a person would."""
    (node,) = [page.call("Runtime.evaluate", expression="document.getElementById('load')")["result"]["objectId"]]
    page.call("DOM.setFileInputFiles", files=[str(path)], objectId=node)
