"""The audit's page in a real browser: keys, undo, filters, bulk, reload, export and import, without an error."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.report.acting import choose, click, exported
from tests.report.browser import Tab
from tests.report.reading import strange_words
from tests.report.test_analyst import WEAK
from tests.report.test_words import SAID
from tests.support import audit_pages
from tests.support.audit_pages import ARABIC, CLOSING, EVIL

pytestmark = pytest.mark.slow
LINES = "[...document.querySelectorAll('.line')].map(line => line.querySelector('.what').textContent)"
HEAD = "document.querySelector('#cell h3').textContent"
PROGRESS = "document.getElementById('progress').textContent"
STATUS = "document.getElementById('status').textContent"
SPOKEN = "document.getElementById('said').textContent"
MARKS = "[...document.querySelectorAll('.fate')].map(mark => mark.textContent).join('').replace(/>?[0-9]+%/g, '.')"
FIELDS = ["record", "column", "value", "kind", "error", "proposal", "confidence", "alternatives", "reason", "group"]


@pytest.fixture(scope="package")
def pages(folder: Path) -> Path:
    for name in ("small", "hostile", "many"):
        getattr(audit_pages, name)().report(folder / f"audit-{name}.html")
    return folder


@pytest.fixture
def page(tab: Tab, pages: Path) -> Iterator[Tab]:
    """The small page, fresh; at the end nothing must have gone wrong."""
    tab.screen(1280)
    tab.requests.clear()
    tab.open(pages / "audit-small.html")
    yield tab
    assert tab.errors == []


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


def test_lists_every_cell_and_loads_nothing(page: Tab) -> None:
    assert len(page.run(LINES)) == 13
    assert page.run(LINES)[0] == "Lieth → Leith"
    assert page.run(STATUS) == "13 cells"
    assert page.run(PROGRESS) == "0 of 13 decided"
    assert page.run(HEAD) == "Row 5, City"
    assert set(page.requests) == {page.run("location.href")}


def test_keys_decide_and_go_on(page: Tab, folder: Path) -> None:
    press(page, "arw")
    assert page.run(HEAD) == "Row 2, Weight"
    assert page.run(PROGRESS) == "3 of 13 decided"
    assert page.run(SPOKEN) == "Row 13, City: wrong, value unknown."
    press(page, "jk")
    page.press("ArrowDown")
    assert page.run(HEAD) == "Row 6, Weight"
    page.press("ArrowUp")
    assert page.run(HEAD) == "Row 2, Weight"
    assert page.run("document.activeElement.matches('.line[aria-current]')")
    page.press("e")
    assert page.run("document.activeElement.id") == "typed"
    page.run("document.activeElement.value = ' 7 stone'")
    page.press("Enter")
    page.press("=")
    page.run("document.activeElement.value = ''")
    page.press("Enter")
    assert decided(page, folder) == {
        ("5", "City"): "accept",
        ("9", "City"): "reject",
        ("13", "City"): "wrong",
        ("2", "Weight"): "= 7 stone",
        ("6", "Weight"): "=",
    }


def test_letters_in_a_field_are_letters(page: Tab) -> None:
    page.press("/")
    press(page, "ra")
    assert page.run("document.getElementById('search').value") == "ra"
    assert page.run(PROGRESS) == "0 of 13 decided"
    page.press("Escape")
    click(page, "reset")
    page.press("e")
    page.press("Escape")
    assert page.run("document.getElementById('typed')") is None
    press(page, "a")
    assert page.run(PROGRESS) == "1 of 13 decided"
    page.press("?")
    assert page.run("document.getElementById('help').open")


def test_the_old_and_the_suggested_value_typed_are_decisions_for_them(page: Tab, folder: Path) -> None:
    for text in ("Leith", "Lieth"):
        page.press("e")
        page.run(f"document.activeElement.value = '{text}'")
        page.press("Enter")
    assert list(decided(page, folder).values()) == ["accept", "reject"]


def test_undo_goes_back_many_steps(page: Tab) -> None:
    press(page, "arw")
    page.run("document.querySelector('.pattern-buttons button').click()")
    assert page.run(PROGRESS) == "7 of 13 decided", "four weights as one step"
    said = []
    for _ in range(5):
        page.press("u")
        said.append(page.run(PROGRESS)[:1])
    assert said == ["3", "2", "1", "0", "0"]
    assert page.run(HEAD) == "Row 5, City"
    assert page.run(SPOKEN) == "There is nothing to undo."
    assert page.run("document.getElementById('undo').disabled")


def test_a_swap_is_decided_together(page: Tab, folder: Path) -> None:
    choose(page, "kind", "misplaced")
    assert "Decided together with row 20, Country: Callao → Peru" in page.run(
        "document.querySelector('.group').innerText"
    )
    press(page, "a")
    assert decided(page, folder) == {("20", "City"): "accept", ("20", "Country"): "accept"}
    press(page, "u")
    assert page.run(PROGRESS) == "0 of 13 decided"


def test_a_cell_without_a_fix_is_not_accepted(page: Tab) -> None:
    choose(page, "kind", "mismatch")
    assert page.run("document.querySelector('[data-action=accept]').disabled")
    press(page, "a")
    assert page.run(SPOKEN).startswith("There is no suggested fix to accept")
    press(page, "w")
    assert page.run(PROGRESS) == "1 of 13 decided"


def test_filters(page: Tab) -> None:
    choose(page, "column", "2")
    assert page.run(STATUS) == "5 of 13 cells"
    choose(page, "kind", "missing")
    assert page.run(LINES) == ["15 → (blank)"]
    click(page, "reset")
    page.run("document.querySelector('.line').click()")
    press(page, "ar")
    choose(page, "decision", "accept")
    assert page.run(LINES) == ["Lieth → Leith"]
    choose(page, "decision", "undecided")
    assert page.run(STATUS) == "11 of 13 cells"
    click(page, "reset")
    choose(page, "search", "CALLA")
    assert page.run(STATUS) == "3 of 13 cells"
    choose(page, "search", '"Callao"')
    assert page.run(STATUS) == "2 of 13 cells"
    choose(page, "search", "no such value")
    assert page.run("document.getElementById('none').innerText").startswith("No cell matches the filters.")
    assert not page.run("document.querySelector('.panes').checkVisibility()")
    click(page, "again")
    assert len(page.run(LINES)) == 13
    page.run("document.querySelector('[data-kind=format]').click()")
    assert page.run(STATUS) == "4 of 13 cells"
    page.run("document.querySelector('.columns [data-column]').click()")
    assert page.run(STATUS) == "6 of 13 cells"
    click(page, "reset")
    choose(page, "order", "row")
    assert page.run(HEAD) is not None
    assert page.run("document.querySelector('.line').innerText").split("row ")[1].startswith("2")


def test_bulk_leaves_what_was_decided(page: Tab, folder: Path) -> None:
    page.press("j")
    press(page, "r")
    choose(page, "search", "Lieth")
    page.run("document.querySelectorAll('.line')[0].click()")
    names = page.run("[...document.querySelectorAll('.pattern')].map(one => one.firstChild.textContent)")
    assert names == ["City: Lieth → Leith in 3 rows"]
    page.run("document.querySelector('.pattern button').click()")
    assert page.run(SPOKEN) == "2 cells decided, fix accepted: Lieth → Leith."
    assert decided(page, folder) == {("5", "City"): "accept", ("9", "City"): "reject", ("13", "City"): "accept"}


def test_bulk_by_rewrite_and_by_filter(page: Tab, folder: Path) -> None:
    page.run("document.getElementById('patterns').open = true")
    first = "document.querySelector('#patterns li')"
    assert page.run(f"{first}.firstChild.textContent") == "Weight: drop ' kg' at the end in 4 cells"
    page.run(f"{first}.querySelector('.link').click()")
    assert page.run(STATUS) == "4 of 13 cells"
    assert "drop ' kg' at the end" in page.run("document.getElementById('only').innerText")
    page.run(f"{first}.querySelectorAll('button')[1].click()")
    assert set(decided(page, folder).values()) == {"reject"}
    press(page, "u")
    page.run("document.querySelector('#only button').click()")
    choose(page, "column", "0")
    click(page, "accept-shown")
    found = decided(page, folder)
    assert ("32", "City") not in found, "it has no fix"
    assert found["20", "Country"] == "accept", "a swap is not halved"
    assert len(found) == 6


def test_one_click_takes_an_alternative(page: Tab, folder: Path) -> None:
    page.run("document.querySelectorAll('.other')[0].click()")
    page.run("document.querySelectorAll('.other')[1].click()")
    assert decided(page, folder) == {("5", "City"): "=Lima", ("9", "City"): "="}


def test_decisions_survive_a_reload(page: Tab, pages: Path) -> None:
    press(page, "arw")
    page.press("e")
    page.run("document.activeElement.value = 'ä \"x\"'")
    page.press("Enter")
    before = page.run(MARKS)
    assert before.startswith("✓✗?=.")
    page.open(pages / "audit-small.html")
    assert page.run(MARKS) == before
    assert page.run(PROGRESS) == "4 of 13 decided"
    assert page.run(HEAD) == "Row 6, Weight", "on to the first undecided cell"
    assert "This browser remembers your decisions" in page.run("document.getElementById('kept').textContent")
    page.open(pages / "audit-hostile.html")
    assert page.run(PROGRESS) == "0 of 11 decided", "another table has its own"
    page.open(pages / "audit-small.html")
    click(page, "forget")
    page.open(pages / "audit-small.html")
    assert page.run(PROGRESS) == "0 of 13 decided"


@pytest.mark.parametrize("kept", ['{"0": "accept", "1": "nonsense", "99": "accept", "2": 7}', "no JSON", "[]", "null"])
def test_what_is_kept_may_be_damaged(page: Tab, pages: Path, kept: str) -> None:
    key = page.run("'carat-audit-' + JSON.parse(document.getElementById('data').textContent).key")
    page.run(f"localStorage.setItem({json.dumps(key)}, {json.dumps(kept)})")
    page.open(pages / "audit-small.html")
    assert page.run(PROGRESS) == f"{1 if 'accept' in kept else 0} of 13 decided"


def test_where_nothing_may_be_kept(page: Tab, pages: Path, folder: Path) -> None:
    forbid = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})"
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=forbid)
    page.open(pages / "audit-small.html")
    assert "download your decisions before you close it" in page.run("document.getElementById('kept').textContent")
    press(page, "a")
    assert decided(page, folder) == {("5", "City"): "accept"}
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    press(page, "u")
    page.open(pages / "audit-small.html")


def test_the_export_is_the_list_of_cells(page: Tab, folder: Path) -> None:
    press(page, "ar")
    assert len(downloaded(page, folder)) == 2
    page.run("document.querySelector('[name=which][value=all]').click()")
    rows = downloaded(page, folder)
    cells = audit_pages.small().to_file().to_pylist()
    assert len(rows) == len(cells) == 13
    for row, cell in zip(rows, cells, strict=True):
        for name in ("record", "column", "value", "kind", "proposal", "reason", "group"):
            assert row[name] == ("" if cell[name] is None else str(cell[name])), name
        for name in ("error", "confidence"):
            assert float(row[name]) == pytest.approx(cell[name], abs=1e-6)
        assert json.loads(row["alternatives"]) == cell["alternatives"]
    assert [row["decision"] for row in rows] == ["accept", "reject", *[""] * 11]
    assert rows[-1]["proposal"] == "<blank>"
    assert "<blank>" in rows[0]["alternatives"]
    assert page.run("document.getElementById('command').textContent") == (
        "carat apply ports-cells.csv ports.csv --out ports-fixed.csv"
    )


def test_an_export_can_be_loaded_again(page: Tab, folder: Path) -> None:
    press(page, "arw")
    before = decided(page, folder)
    click(page, "forget")
    assert page.run(PROGRESS) == "0 of 13 decided"
    give(page, folder / "ports-cells.csv")
    page.wait(f"{PROGRESS} === '3 of 13 decided'")
    assert page.run(SPOKEN) == "3 decisions loaded from ports-cells.csv."
    assert decided(page, folder) == before


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "not a list of cells; it needs the columns record, column and decision."),
        ("", "not a list of cells; it needs the columns record, column and decision."),
        ("record,column,decision\n5,City,\n", "no decisions for this page."),
        ("record;column;decision\r\n5;City; Accept \r\n", "1 decision loaded from list.csv."),
        (
            "record,column,value,decision\n5,City,Leeds,accept\n9,City,Lieth,perhaps\n32,City,Calla0,accept\n13,City,Lieth,wrong",
            "1 decision loaded from list.csv; 3 lines fit no cell of this page.",
        ),
    ],
)
def test_files_that_somebody_edited(page: Tab, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    give(page, tmp_path / "list.csv")
    page.wait(f"{SPOKEN}.length > 0")
    assert page.run(SPOKEN).endswith(said)


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
        "[...document.querySelectorAll('main *, footer *')].filter(e => !e.closest('.scroll, .what, .where, .examples, thead'))"
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
    page.open(pages / "audit-small.html")
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
