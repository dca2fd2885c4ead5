"""What a person does on the page."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
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


def reopen(tab: Tab, path: Path, script: str, expected: object, act: Callable[[], object]) -> None:
    """Do something that a page keeps, and open it again: a script there then gives what is expected.

    Now and then Chromium keeps nothing of what a file's page writes, from its opening to its end: about one opening
    in twenty on a quiet machine, one in three on a busy one, and also with three lines of HTML of no particular make.
    So `act` is done again on a page that kept nothing; it must come to the same wherever it starts.
    """
    for _ in range(20):
        act()
        tab.open(path)
        if tab.run(script) == expected:
            return
    raise AssertionError(f"{tab.run(script)!r}, not {expected!r}")


def open_fresh(tab: Tab, path: Path) -> None:
    """Open a page that remembers nothing; see `reopen` for why one clearing may not do."""
    reopen(tab, path, "localStorage.length", 0, lambda: tab.run("try { localStorage.clear() } catch {}"))
