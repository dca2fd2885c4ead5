"""What the audit's page shows on any screen: rows, odd texts, ten thousand cells, dark, small, printed, by Tab."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from tests.report.acting import choose, click, reopen
from tests.report.browser import Tab
from tests.report.deciding import HEAD, PROGRESS, STATUS, downloaded, press
from tests.report.reading import strange_words
from tests.report.test_analyst import WEAK
from tests.report.test_words import SAID
from tests.support.audit_pages import ARABIC, CLOSING, EVIL

pytestmark = pytest.mark.slow


@pytest.fixture
def page(audit: Tab) -> Tab:
    """The page of a small audit, fresh."""
    return audit


def test_the_row_and_its_precedents(page: Tab) -> None:
    heads = page.run("[...document.querySelectorAll('#cell thead th')].map(head => head.textContent)")
    assert heads[:2] == ["column", "this row"]
    assert len(heads) == 7
    rows: list[list[str]] = page.run(
        "[...document.querySelectorAll('#cell tbody tr')].map(row => [...row.children].map(cell => cell.textContent))"
    )
    assert [row[0] for row in rows] == ["City", "Country", "Weight", "Goods"]
    assert rows[0][1] == "⚑ Lieth"
    assert {text.removeprefix("⚑ ") for text in rows[1][2:]} == {"Scotland"}
    assert "The 5 most similar rows have in City: " in page.run("document.querySelector('.beside').textContent")
    choose(page, "kind", "misplaced")
    assert page.run("document.querySelectorAll('#cell .doubted').length") == 2


def test_blanks_spaces_and_differences_are_seen(page: Tab) -> None:
    choose(page, "kind", "variant")
    assert page.run("document.querySelector('.change-of del').textContent") == "·Porto·"
    choose(page, "kind", "missing")
    assert page.run("document.querySelector('.change-of').innerText").startswith("(blank) → Norway")
    choose(page, "kind", "format")
    assert page.run("document.querySelector('.change-of del mark').textContent") == " kg"


def test_hostile_texts(tab: Tab, pages: Path, folder: Path) -> None:
    tab.screen(1280)
    tab.open(pages / "audit-hostile.html")
    seen = ""
    for _ in range(11):
        seen += tab.run("document.getElementById('cell').textContent")
        tab.press("a")
    assert EVIL in seen
    assert ARABIC in seen
    assert "U+202E" in seen, "what turns a line round is named"
    assert tab.run("document.querySelectorAll('img, main script').length") == 0
    assert tab.run("document.querySelector('.change-of bdi') !== null")
    name = tab.run("JSON.parse(document.getElementById('data').textContent).download")
    stored = {path for path in folder.iterdir() if path.suffix == ".csv"}
    click(tab, "download")
    end = time.monotonic() + 30
    while not (new := {path for path in folder.iterdir() if path.suffix == ".csv"} - stored):
        assert time.monotonic() < end, name
        time.sleep(0.05)
    (target,) = new
    rows = [line for line in target.read_bytes().decode("utf-8-sig").split("\r\n") if line]
    assert len(rows) == 12
    assert CLOSING.replace('"', '""') in "\n".join(rows), "texts come out as they are: the file is for a program"
    target.unlink()
    assert tab.errors == []


def test_ten_thousand(tab: Tab, pages: Path, folder: Path) -> None:
    """Only what is in sight is drawn, and a key is answered at once."""
    tab.screen(1280)
    begun = time.perf_counter()
    tab.open(pages / "audit-many.html")
    assert time.perf_counter() - begun < 15
    assert tab.run(STATUS) == "10,000 cells"
    assert tab.run("document.querySelectorAll('.line').length") < 60
    took = tab.run(
        "(() => { const begun = performance.now(); for (let n = 0; n < 50; n++)"
        " document.dispatchEvent(new KeyboardEvent('keydown', {key: 'a', bubbles: true}));"
        " return performance.now() - begun })()".replace("document.dispatch", "document.body.dispatch")
    )
    assert took / 50 < 200, f"{took / 50:.0f} ms a key"
    assert tab.run(PROGRESS) == "50 of 10,000 decided"
    tab.run("document.getElementById('list').scrollTop = 1e9")
    tab.wait("[...document.querySelectorAll('.line')].some(line => line.dataset.place === '9999')")
    tab.run("[...document.querySelectorAll('.line')].at(-1).click()")
    assert tab.run(HEAD) == "Row 9999, Column 7"
    assert "Similar rows are shown for the most suspicious cells only." in tab.run(
        "document.getElementById('cell').innerText"
    )
    choose(tab, "search", "value 3.1")
    assert 0 < int(tab.run(STATUS).split(" ")[0].replace(",", "")) < 10_000
    click(tab, "reset")
    tab.run("document.getElementById('patterns').open = true")
    assert "drop ' oz' at the end" in tab.run("document.querySelector('#patterns li').textContent")
    tab.run("document.querySelector('#patterns button').click()")
    some = int(tab.run(PROGRESS).split(" ")[0].replace(",", ""))
    assert some > 400
    assert len(downloaded(tab, folder, "many-cells.csv")) == some
    tab.open(pages / "audit-many.html")
    assert tab.run(PROGRESS) == f"{some:,} of 10,000 decided"
    assert tab.errors == []


@pytest.mark.parametrize("name", ["small", "hostile"])
@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_is_wider_than_the_screen(tab: Tab, pages: Path, name: str, width: int) -> None:
    tab.screen(width)
    tab.open(pages / f"audit-{name}.html")
    for details in ("patterns", "help"):
        tab.run(f"document.getElementById('{details}').open = true")
    tab.press("e")
    assert tab.run("document.documentElement.scrollWidth") <= width
    wide = tab.run(
        "[...document.querySelectorAll('main *, footer *')]"
        ".filter(e => !e.closest('.scroll, .what, .where, .examples, thead'))"
        f".filter(e => e.getBoundingClientRect().right > {width} + 1).map(e => e.outerHTML.slice(0, 80))"
    )
    assert wide == []
    assert tab.errors == []


@pytest.mark.parametrize("name", ["small", "hostile"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_text_is_readable(tab: Tab, pages: Path, name: str, dark: bool) -> None:
    tab.screen(1280, dark=dark)
    tab.open(pages / f"audit-{name}.html")
    for details in ("patterns", "help"):
        tab.run(f"document.getElementById('{details}').open = true")
    press(tab, "arw")
    page_of: list[dict[str, Any]] = []
    for _ in range(10):
        page_of.append(tab.run(WEAK))
        tab.press("j")
    tab.press("e")
    page_of.append(tab.run(WEAK))
    assert [found["weak"] for found in page_of if found["weak"]] == []
    assert page_of[0]["colours"] >= 4


def test_focus_is_seen_and_the_list_is_one_stop(page: Tab, pages: Path) -> None:
    press(page, "a")  # else there is nothing to download
    reopen(page, pages / "audit-small.html", PROGRESS, "1 of 13 decided")
    outlined = (
        "(() => { const e = document.activeElement; return [e.id || e.dataset.action || e.className || e.tagName,"
        " getComputedStyle(e).outlineStyle !== 'none'] })()"
    )
    reached = []
    for _ in range(60):
        page.press("Tab")
        reached.append(page.run(outlined))
    names = [name for name, _ in reached]
    assert [name for name, seen in reached if not seen and name != "BODY"] == []
    assert {"theme", "column", "kind", "decision", "search", "reset", "accept", "reject", "wrong", "type"} <= set(names)
    assert {"download", "copy", "load"} <= set(names)
    first = names.index("accept")
    assert names[:first].count("line") == 1


def test_the_button_that_was_pressed_keeps_the_focus(page: Tab) -> None:
    for _ in range(3):
        page.run("document.querySelector('[data-action=reject]').focus()")
        page.press("Enter")
        assert page.run("document.activeElement.dataset.action") == "reject"
    assert page.run(PROGRESS) == "3 of 13 decided"


@pytest.mark.parametrize("width", [360, 1280])
def test_speaks_of_rows_columns_values_and_fixes(tab: Tab, pages: Path, width: int) -> None:
    tab.screen(width)
    tab.open(pages / "audit-small.html")
    for details in ("patterns", "help"):
        tab.run(f"document.getElementById('{details}').open = true")
    press(tab, "arw")
    assert strange_words(tab.run(SAID)) == set()


def test_paper_has_the_cells(page: Tab) -> None:
    press(page, "a")
    page.run("dispatchEvent(new Event('beforeprint'))")
    lines = page.run("[...document.querySelectorAll('#paper li')].map(line => line.textContent)")
    assert len(lines) == 13
    assert lines[0].startswith("Row 5, City: Lieth → Leith typo, 99% likely wrong; fix accepted.")
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run("document.querySelectorAll('#paper li').length") == 0
