"""The audit's page in a real browser: keys, undo, filters, bulk, reload, export and import, without an error."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.acting import choose, click, reopen
from tests.report.browser import Tab
from tests.report.deciding import HEAD, LINES, MARKS, PROGRESS, SPOKEN, STATUS, decided, downloaded, give, press
from tests.support import audit_pages

pytestmark = pytest.mark.slow


@pytest.fixture
def page(audit: Tab) -> Tab:
    """The page of a small audit, fresh."""
    return audit


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
    assert page.run("document.getElementById('accept-shown').textContent") == "Accept the 4 likely fixes"
    click(page, "accept-shown")
    found = decided(page, folder)
    assert ("32", "City") not in found, "it has no fix"
    assert ("31", "City") not in found, "its fix is more likely wrong than right"
    assert found["20", "Country"] == "accept", "a swap is not halved"
    assert len(found) == 5


def test_one_click_takes_an_alternative(page: Tab, folder: Path) -> None:
    page.run("document.querySelectorAll('.other')[0].click()")
    page.run("document.querySelectorAll('.other')[1].click()")
    assert decided(page, folder) == {("5", "City"): "=Lima", ("9", "City"): "="}


def test_decisions_survive_a_reload(page: Tab, pages: Path) -> None:
    def act() -> None:
        press(page, "arw")
        page.press("e")
        page.run("document.activeElement.value = 'ä \"x\"'")
        page.press("Enter")
        assert page.run(MARKS) == marks

    marks = "✓✗?=" + "." * 9
    reopen(page, pages / "audit-small.html", MARKS, marks, act)
    assert page.run(PROGRESS) == "4 of 13 decided"
    assert page.run(HEAD) == "Row 6, Weight", "on to the first undecided cell"
    assert "This browser remembers your decisions" in page.run("document.getElementById('kept').textContent")
    page.open(pages / "audit-hostile.html")
    assert page.run(PROGRESS) == "0 of 11 decided", "another table has its own"
    page.open(pages / "audit-small.html")
    reopen(page, pages / "audit-small.html", PROGRESS, "0 of 13 decided", lambda: click(page, "forget"))


@pytest.mark.parametrize("kept", ['{"0": "accept", "1": "nonsense", "99": "accept", "2": 7}', "no JSON", "[]", "null"])
def test_what_is_kept_may_be_damaged(page: Tab, pages: Path, kept: str) -> None:
    key = page.run("'carat-audit-' + JSON.parse(document.getElementById('data').textContent).key")
    keep = f"localStorage.setItem({json.dumps(key)}, {json.dumps(kept)})"
    expected = f"{1 if 'accept' in kept else 0} of 13 decided"
    reopen(page, pages / "audit-small.html", PROGRESS, expected, lambda: page.run(keep))


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
