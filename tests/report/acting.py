"""What a person does on the page."""

from __future__ import annotations

import csv
import io
import time
from pathlib import Path

from tests.report.browser import Tab

NAMES = "[...document.querySelectorAll('#list .item:not([hidden]) .toggle')].map(name => name.textContent)"
"""Of the rows that are listed, as they are."""


def choose(page: Tab, field: str, value: str) -> None:
    """Fill a field as a person would."""
    found = f"document.getElementById('{field}')"
    page.run(f"{found}.value = '{value}'")
    for event in ("input", "change"):
        page.run(f"{found}.dispatchEvent(new Event('{event}', {{bubbles: true}}))")


def click(page: Tab, button: str) -> None:
    page.run(f"document.getElementById('{button}').click()")


def exported(page: Tab, folder: Path, button: str = "export", name: str = "decisions.csv") -> list[list[str]]:
    """What lies in the downloaded table."""
    text = downloaded(page, folder, button, name).decode("utf-8-sig")
    return list(csv.reader(io.StringIO(text, newline="")))


def downloaded(page: Tab, folder: Path, button: str, name: str) -> bytes:
    """The file that a button gives."""
    target = folder / name
    target.unlink(missing_ok=True)
    click(page, button)
    end = time.monotonic() + 30
    while not (target.exists() and target.stat().st_size):
        assert time.monotonic() < end, "nothing was downloaded"
        time.sleep(0.05)
    return target.read_bytes()


def reopen(tab: Tab, path: Path, script: str, expected: object) -> None:
    """Open a page again, until a script there gives what is expected: Chromium may be slow to keep things."""
    for _ in range(20):
        tab.open(path)
        if tab.run(script) == expected:
            return
        time.sleep(0.25)
    assert tab.run(script) == expected
