"""The page in a real browser: it sorts, filters, opens, moves by keyboard, exports and turns dark, without an error."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from carat.report import page as module
from carat.report.palette import DARK, LIGHT
from tests.report import results
from tests.report.acting import NAMES, choose, click, downloaded, exported, reopen
from tests.report.browser import Tab
from tests.report.reading import documented
from tests.report.results import CLOSING, EVIL, mixed

pytestmark = pytest.mark.slow
FOCUSED = "document.activeElement.matches('.toggle') && document.activeElement.textContent"


def records() -> list[dict[str, Any]]:
    return results.costly().records


def test_shows_every_record(page: Tab) -> None:
    expected = [str(row["record"]) for row in sorted(records(), key=lambda row: row["score"])]
    assert page.run(NAMES) == expected
    assert page.run("document.getElementById('status').textContent") == "24 rows"
    assert set(page.requests) == {page.run("location.href")}


@pytest.mark.parametrize("name", ["costly", "hostile", "barren", "long", "blameless", "hasty"])
def test_reads_the_documented_json(tab: Tab, folder: Path, name: str) -> None:
    """What the page leaves out is put back before anything else reads it."""
    tab.open(folder / f"{name}.html")
    reading = (Path(module.__file__).parent / "templates" / "data.js").read_text(encoding="utf-8")
    found = getattr(results, name)()
    assert tab.run(f"(() => {{ {reading}; return data.records; }})()") == documented(found)


def test_a_record_without_a_score(tab: Tab, folder: Path) -> None:
    tab.open(folder / "unscored.html")
    assert tab.run(NAMES)[0] == "0"
    click(tab, "all")
    assert tab.run("document.querySelector('.row .score').lastChild.data") == "none"
    assert tab.errors == []


def test_a_record_with_a_blank(tab: Tab, folder: Path) -> None:
    """Where nothing is flagged, a blank that training records do not have is named in the list."""
    tab.errors.clear()
    tab.open(folder / "blank.html")
    assert sorted(tab.run(NAMES)) == ["0", "1"]
    out = (
        "[...document.querySelectorAll('.item')]"
        ".map(item => ['.toggle', '.out'].map(part => item.querySelector(part).textContent))"
    )
    assert dict(tab.run(out))["1"] == "missing: Buyer"
    assert tab.errors == []


def test_sentences_and_counts_come_in_the_same_order(page: Tab) -> None:
    """The least likely entity first, in both."""
    click(page, "all")
    said = page.run(
        "[...document.querySelectorAll('.item')].map(item => [item.querySelector('.toggle').textContent,"
        " [...item.querySelectorAll('.witnesses h3')].map(head => head.textContent.split(',')[0])])"
    )
    for name, heads in said:
        blamed = results.costly().explain(int(name)).blamed
        assert heads == [f"{view.domain} {view.entity}" for view in blamed]
    assert max(len(heads) for _, heads in said) > 1


def test_sorts(page: Tab) -> None:
    choose(page, "sort", "name")
    assert page.run(NAMES) == [str(number) for number in range(24)]
    click(page, "direction")
    assert page.run(NAMES) == [str(number) for number in range(23, -1, -1)]
    choose(page, "sort", "flagged")
    flagged = {str(row["record"]): len(row["flagged"]) for row in records()}
    counts = [flagged[name] for name in page.run(NAMES)]
    assert counts == sorted(counts, reverse=True)


def test_filters(page: Tab) -> None:
    choose(page, "domain", "Good")
    expected = {str(row["record"]) for row in records() if "Good" in row["flagged"]}
    assert set(page.run(NAMES)) == expected
    assert page.run("document.getElementById('status').textContent") == f"{len(expected)} of 24 rows"
    click(page, "reset")
    assert len(page.run(NAMES)) == 24
    choose(page, "entity", "nobody & SONS")
    assert page.run(NAMES) == ["2"]
    click(page, "reset")
    scores = sorted(row["score"] for row in records())
    choose(page, "lowest", str(scores[3]))
    choose(page, "highest", str(scores[12]))
    assert set(page.run(NAMES)) == {str(row["record"]) for row in records() if scores[3] <= row["score"] <= scores[12]}
    choose(page, "entity", "no such entity")
    assert page.run(NAMES) == []
    page.run("document.querySelector('button.bar[data-entity]').click()")
    assert page.run("document.getElementById('entity').value") != ""
    assert len(page.run(NAMES)) >= 1


def test_opens_and_closes(page: Tab) -> None:
    page.run("document.querySelector('.row').click()")
    first = page.run(NAMES)[0]
    detail = page.run("document.querySelector('.detail').innerText")
    explained = results.costly().explain(int(first), show=20)
    for view in explained.entities:
        if view.flagged:
            assert view.in_words() in detail
    assert page.run("document.querySelectorAll('.open .cell').length") == 4
    flagged = [view for view in explained.entities if view.flagged]
    assert page.run("document.querySelectorAll('.open .cell.flagged').length") == len(flagged)
    assert page.run("document.querySelectorAll('.open .changes tbody tr').length") == len(explained.counterfactuals)
    assert page.run("[...document.querySelectorAll('.open .changes th')].at(-1).textContent") == "cost"
    page.run("document.querySelector('.row').click()")
    assert page.run("document.querySelector('.detail').checkVisibility({contentVisibilityAuto: true})") is False
    assert page.run("document.querySelector('.fold').getBoundingClientRect().height") == 0
    click(page, "all")
    assert page.run("document.querySelectorAll('.fold:not([hidden]) > .detail').length") == 24
    assert page.run("document.getElementById('all').textContent") == "Close all"
    assert "missing" in page.run("document.getElementById('list').innerText")


def test_keyboard(page: Tab) -> None:
    names = page.run(NAMES)
    page.press("j")
    page.press("j")
    page.press("ArrowDown")
    assert page.run(FOCUSED) == names[2]
    page.press("k")
    page.press("ArrowUp")
    page.press("ArrowUp")
    assert page.run(FOCUSED) == names[0]
    page.press("Enter")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.press("Escape")
    assert page.run("document.activeElement.getAttribute('aria-expanded')") == "false"
    page.press("j")
    assert page.run(FOCUSED) == names[1]
    page.press("/")
    assert page.run("document.activeElement.id") == "entity"
    page.press("j")
    assert page.run("document.getElementById('entity').value") == "j"
    page.press("Escape")
    assert page.run("document.activeElement.id") == ""


def test_exports_old_values_beside_new(page: Tab, folder: Path) -> None:
    """One line per changed value; a rejected row has one line and no change."""
    page.run("for (const row of [...document.querySelectorAll('.row')].slice(0, 3)) row.click()")
    names = page.run(NAMES)[:3]
    page.run("document.querySelectorAll('.item')[0].querySelectorAll('[data-key]')[1].click()")
    page.run("document.querySelectorAll('.item')[1].querySelectorAll('[data-key]')[0].click()")
    page.run("document.querySelectorAll('.item')[2].querySelector('[data-verdict$=reject]').click()")
    said = page.run("document.getElementById('chosen-count').textContent")
    assert said == "2 fixes accepted, 1 row rejected · 3 of 24 decided"
    head, *lines = exported(page, folder)
    assert head[:5] == ["record", "decision", "column", "before", "after"]
    assert head[5:] == ["rank", "score_before", "score", "percentile_before", "percentile", "valid", "cost"]
    rows = [dict(zip(head, line, strict=True)) for line in lines]
    whole = {(str(row["record"]), row["rank"]): row for row in results.costly().to_arrow().to_pylist()}
    for name, rank in zip(names, (2, 1), strict=False):
        mine, true = [row for row in rows if row["record"] == name], whole[name, rank]
        assert {row["column"]: row["after"] for row in mine} == {column: true[column] for column in true["changed"]}
        before = mixed()[int(name)]
        assert {row["column"]: row["before"] for row in mine} == {column: before[column] for column in true["changed"]}
        for row in mine:
            assert (row["decision"], row["rank"], row["valid"]) == ("accept", str(rank), str(true["valid"]).lower())
            assert float(row["score"]) == pytest.approx(true["score"], rel=1e-5)
            assert float(row["cost"]) == true["cost"]
    (rejected,) = [row for row in rows if row["record"] == names[2]]
    assert (rejected["decision"], rejected["column"], rejected["after"]) == ("reject", "", "")
    found = json.loads(downloaded(page, folder, "export-json", "decisions.json"))
    assert [(str(one["record"]), one["decision"], one["rank"]) for one in found] == [
        (names[0], "accept", 2),
        (names[1], "accept", 1),
        (names[2], "reject", None),
    ]
    assert found[0]["values"] == mixed()[int(names[0])]
    assert [{**change} for change in found[0]["changes"]] == [
        {name: row[name] for name in ("column", "before", "after")} for row in rows if row["record"] == names[0]
    ]


def test_decisions_survive_a_reload(page: Tab, folder: Path) -> None:
    def act() -> None:
        page.run("for (const row of [...document.querySelectorAll('.row')].slice(0, 2)) row.click()")
        page.run("document.querySelectorAll('.item')[0].querySelectorAll('[data-key]')[1].click()")
        page.run("document.querySelectorAll('.item')[1].querySelector('[data-verdict$=reject]').click()")

    marks = "[...document.querySelectorAll('.mark')].map(mark => mark.textContent).filter(text => text)"
    reopen(page, folder / "costly.html", marks, ["✓ fix 2 accepted", "✗ rejected"], act)
    page.run("for (const row of [...document.querySelectorAll('.row')].slice(0, 2)) row.click()")
    checked = "[...document.querySelectorAll('.item')[0].querySelectorAll('[data-key]')].map(box => box.checked)"
    assert page.run(checked)[:3] == [False, True, False]
    pressed = "document.querySelectorAll('.item')[1].querySelector('[data-verdict$=reject]').ariaPressed"
    assert page.run(pressed) == "true"
    page.run("document.querySelectorAll('.item')[1].querySelector('[data-verdict$=undecided]').click()")
    assert page.run(marks) == ["✓ fix 2 accepted"]

    def clear() -> None:
        click(page, "clear")
        assert page.run("document.getElementById('chosen').hidden")
        assert page.run("document.querySelectorAll('[data-key]:checked').length") == 0

    reopen(page, folder / "costly.html", marks, [], clear)


def test_hostile_texts(tab: Tab, folder: Path) -> None:
    """They are shown as they are, run nowhere, and a spreadsheet will not run them either."""
    tab.open(folder / "hostile.html")
    click(tab, "all")
    shown = tab.run("document.getElementById('list').textContent")
    assert EVIL in shown
    assert CLOSING in shown
    assert tab.run("document.querySelectorAll('img, #list script').length") == 0
    cells: set[str] = set()
    # A row takes one fix; several of them come out in turn.
    for rank in range(4):
        tab.run(f"for (const box of document.querySelectorAll('.changes tr:nth-child({rank + 1}) input')) box.click()")
        _, *rows = exported(tab, folder)
        texts = {cell for row in rows for at, cell in enumerate(row) if at not in {6, 7, 8, 9}}
        assert not [cell for cell in texts if cell[:1] in tuple("=+-@")]
        cells |= texts
    assert {EVIL, CLOSING, '\'=HYPERLINK("x")', "'=1+1", "</script>"} <= cells
    assert tab.errors == []


def test_dark_and_light(page: Tab) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"

    def rgb(colour: str) -> str:
        return f"rgb({', '.join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))})"

    assert page.run(ground) == rgb(LIGHT["paper"])
    click(page, "theme")
    assert page.run(ground) == rgb(DARK["paper"])
    bar = "getComputedStyle(document.querySelector('.glance .wide .mark-rect path')).fill"
    assert page.run(bar) in {rgb(DARK["bar"]), rgb(DARK["flag"])}
    click(page, "theme")
    assert page.run(ground) == rgb(LIGHT["paper"])
    page.screen(1280, dark=True)
    page.open(Path(page.run("decodeURIComponent(location.pathname)")))
    assert page.run(ground) == rgb(DARK["paper"])
    click(page, "theme")
    assert page.run(ground) == rgb(LIGHT["paper"])
    page.call("Emulation.setEmulatedMedia", media="print")
    assert page.run(ground) == rgb(LIGHT["paper"])
    assert page.run("getComputedStyle(document.getElementById('controls')).display") == "none"


@pytest.mark.parametrize("name", ["costly", "hostile", "barren", "long"])
@pytest.mark.parametrize("width", [360, 1280])
def test_fits_the_screen(tab: Tab, folder: Path, name: str, width: int) -> None:
    """Nothing is wider than the screen, also with every record open."""
    tab.screen(width)
    tab.open(folder / f"{name}.html")
    click(tab, "all")
    assert tab.run("document.documentElement.scrollWidth") <= width
    # What an ellipsis cuts off is not seen; the cut element itself is looked at.
    elements = "[...document.querySelectorAll('main *, footer *')].filter(e => !e.matches('button.bar small'))"
    places = elements + ".map(e => [e.outerHTML.slice(0, 80), e.getBoundingClientRect()])"
    assert tab.run(places + f".filter(([, r]) => r.left >= 0 && r.right > {width} + 1).map(([html]) => html)") == []
    assert tab.errors == []
