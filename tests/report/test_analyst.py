"""What an analyst does with the page all day: point a colleague to a record, search, choose, print, work at night."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report import results
from tests.report.acting import NAMES, choose, click, exported, reopen
from tests.report.browser import Tab

pytestmark = pytest.mark.slow
DRAWN = "document.querySelectorAll('.fold > .detail').length"
STATUS = "document.getElementById('status').textContent"
OPEN = "[...document.querySelectorAll('.item.open .toggle')].map(name => name.textContent)"
# Ratio of every text to what lies under it; what is not drawn has no box.
WEAK = """
(() => {
  const rgb = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const linear = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const ground = (e) => {
    const colour = rgb(getComputedStyle(e).backgroundColor);
    return (colour[3] ?? 1) > 0.99 ? colour : ground(e.parentElement);
  };
  const weak = new Set(), seen = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest('script') || !e.checkVisibility() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const over = light(rgb(e.closest('svg') ? style.fill : style.color)), under = light(ground(e));
    const ratio = (Math.max(over, under) + 0.05) / (Math.min(over, under) + 0.05);
    seen.add(style.color);
    if (ratio < 4.5) weak.add(`${e.tagName}.${e.className} ${node.data.slice(0, 30)} ${ratio.toFixed(2)}`);
  }
  return { weak: [...weak], colours: seen.size };
})()
"""


def test_colours_are_remembered(page: Tab, folder: Path) -> None:
    theme = "document.documentElement.dataset.theme"
    assert page.run(theme) is None
    to = "if (document.getElementById('theme').textContent === '{}') document.getElementById('theme').click()"
    reopen(page, folder / "costly.html", theme, "dark", lambda: page.run(to.format("Dark")))
    assert page.run("document.getElementById('theme').textContent") == "Light"
    reopen(page, folder / "long.html", theme, None, lambda: page.run(to.format("Light")))


def test_colours_where_nothing_may_be_remembered(page: Tab, folder: Path) -> None:
    """A browser may forbid a file its storage: the page works, and forgets."""
    forbid = "Object.defineProperty(window, 'localStorage', {get() { throw new DOMException('no', 'SecurityError') }})"
    added = page.call("Page.addScriptToEvaluateOnNewDocument", source=forbid)
    page.open(folder / "costly.html")
    click(page, "theme")
    assert page.run("document.documentElement.dataset.theme") == "dark"
    assert len(page.run(NAMES)) == 24
    page.call("Page.removeScriptToEvaluateOnNewDocument", identifier=added["identifier"])
    page.open(folder / "costly.html")


def test_address_points_to_a_record(page: Tab, folder: Path) -> None:
    last = page.run(NAMES)[-1]
    page.run("[...document.querySelectorAll('.row')].at(-1).click()")
    assert page.run("location.hash") == f"#record-{last}"
    page.open(folder / "costly.html", f"#record-{last}")
    assert page.run(OPEN) == [last]
    assert page.run("document.activeElement.textContent") == last
    assert 0 <= page.run("document.activeElement.getBoundingClientRect().top") < 900
    page.run("document.activeElement.click()")
    assert page.run("location.hash") == "#records"
    # Also into a page that is open, and past a filter that hides the record.
    choose(page, "entity", "no such entity")
    page.run(f"location.hash = '#record-{last}'")
    page.wait(f"{OPEN}.length === 1")
    assert len(page.run(NAMES)) == 24
    page.open(folder / "costly.html", "#record-4711")
    assert page.run(STATUS) == "Row 4711 is not in this report. 24 rows"
    page.open(folder / "costly.html", "#record-%E0%A4%A")
    assert page.run(STATUS) == "24 rows"


def test_address_of_any_name(tab: Tab, folder: Path) -> None:
    tab.open(folder / "hostile.html")
    link = tab.run(
        "(() => { const item = [...document.querySelectorAll('.item')].find(i => i.querySelector('.toggle').textContent"
        " === '</script>'); item.firstChild.click(); return item.querySelector('.over a').getAttribute('href') })()"
    )
    tab.open(folder / "hostile.html", link)
    assert tab.run(OPEN) == ["</script>"]
    assert tab.errors == []


def test_browser_finds_in_closed_records(page: Tab, folder: Path) -> None:
    """A link to a text goes the way of the browser's search: what is folded is found, and unfolded."""
    page.wait(f"{DRAWN} === 24")
    assert page.run(OPEN) == []
    page.open(folder / "costly.html", "#:~:text=Buyer%20Nobody%20%26%20Sons%20was%20never%20seen%20in%20training")
    page.wait(f"{OPEN}.length === 1")
    assert page.run(OPEN) == ["2"]
    assert page.run("document.querySelector('.item.open .toggle').getAttribute('aria-expanded')") == "true"


def test_headings_sort(page: Tab) -> None:
    state = "[...document.querySelectorAll('[role=columnheader]')].map(head => head.getAttribute('aria-sort'))"
    assert page.run(state) == ["none", "ascending", "none", "none", "none"]
    page.run("document.querySelector('.sort[data-sort=name]').click()")
    assert page.run(NAMES) == [str(number) for number in range(24)]
    page.run("document.querySelector('.sort[data-sort=name]').click()")
    assert page.run(NAMES) == [str(number) for number in range(23, -1, -1)]
    assert page.run(state) == ["descending", "none", "none", "none", "none"]
    page.run("document.querySelector('.sort[data-sort=found]').click()")
    found = {str(row["record"]): row["count"] for row in results.costly().records}
    counts = [found[name] for name in page.run(NAMES)]
    assert counts == sorted(counts, reverse=True)
    page.run("document.querySelector('.sort[data-sort=best]').click()")
    rows = [row for row in results.costly().to_arrow().to_pylist() if row["rank"] == 1]
    best = {str(row["record"]): row["percentile"] for row in rows}
    shares = [best.get(name, -1) for name in page.run(NAMES)]
    assert shares == pytest.approx(sorted(shares, reverse=True))


def test_filters_say_what_they_leave(page: Tab) -> None:
    choose(page, "entity", "no such entity")
    assert page.run(STATUS) == "0 of 24 rows"
    assert page.run("document.getElementById('none').innerText").startswith("No row matches the filters.")
    assert page.run("document.querySelector('[role=table]').checkVisibility()") is False
    click(page, "again")
    assert len(page.run(NAMES)) == 24
    assert page.run("document.activeElement.id") == "entity"
    # A score as it reads on the page, with its minus sign, and rounded.
    shown = page.run("document.querySelectorAll('.row .score')[5].lastChild.data")
    assert shown.startswith("−")
    choose(page, "highest", shown)
    assert page.run(NAMES)[5:] != []
    choose(page, "highest", "−x")
    assert page.run("document.getElementById('highest').getAttribute('aria-invalid')") == "true"
    assert len(page.run(NAMES)) == 24


def test_bars_lead_to_as_many_records_as_they_say(page: Tab) -> None:
    """Not to every entity that has the same letters in it."""
    bars = "[...document.querySelectorAll('button.bar')]"
    for number, said in enumerate(page.run(f"{bars}.map(bar => +bar.querySelector('b').textContent)")):
        page.run(f"{bars}[{number}].click()")
        assert len(page.run(NAMES)) == said


def test_chooses_the_best_of_each(page: Tab, folder: Path) -> None:
    choose(page, "domain", "Good")
    shown = page.run(NAMES)
    click(page, "best")
    page.run("document.querySelector('.item:not([hidden]) .row').click()")
    assert page.run("document.querySelector('.open [data-key]').checked")
    head, *rows = exported(page, folder)
    assert {row[0] for row in rows} == set(shown)
    assert {row[head.index("rank")] for row in rows} == {"1"}
    click(page, "clear")
    assert page.run("document.querySelectorAll('[data-key]:checked').length") == 0


def test_a_repair_that_does_not_help_says_so_in_the_list(tab: Tab, tmp_path: Path) -> None:
    """Before the record is opened. The threshold is put between the best repairs, so that both kinds are there."""
    found = results.costly()
    best = {str(row["record"]): row["score"] for row in found.to_arrow().to_pylist() if row["rank"] == 1}
    scores = sorted(set(best.values()))
    threshold = scores[len(scores) // 2]
    assert scores[0] < threshold
    scale = replace(found.scale, threshold=threshold)
    batches = tuple(replace(batch, scale=scale) for batch in found.batches)
    replace(found, scale=scale, batches=batches).report(tmp_path / "page.html")
    tab.open(tmp_path / "page.html")
    said = tab.run("[...document.querySelectorAll('.item .row .best')].map(cell => cell.textContent)")
    for name, text in zip(tab.run(NAMES), said, strict=True):
        assert ("still anomalous" in text) == (best.get(name, threshold) < threshold), f"record {name}: {text}"


def test_numbers_of_a_text_domain_stay_numbers(page: Tab, folder: Path) -> None:
    """Only what a spreadsheet would run is marked."""
    name = "JSON.parse(document.getElementById('data').textContent)"
    assert page.run(f"{name}.records.length") == 24
    source = (folder / "costly.html").read_text(encoding="utf-8")
    spoilt = {"Port-0a": "-5", "Port-1a": "+1e3", "Port-2a": "+49 30 1", "Port-3a": "＝1+1", "Port-4a": "a;b"}
    for old, new in spoilt.items():
        source = source.replace(f'"{old}"', f'"{new}"')
    (folder / "numbers.html").write_text(source, encoding="utf-8")
    page.open(folder / "numbers.html")
    click(page, "best")
    _, *rows = exported(page, folder)
    texts = {cell for row in rows for cell in row[3:5]}
    assert {"-5", "+1e3", "'+49 30 1", "'＝1+1", "a;b"} <= texts


def test_no_entity_to_blame(tab: Tab, folder: Path) -> None:
    tab.open(folder / "blameless.html")
    rows = tab.run("[...document.querySelectorAll('.row .out')].map(out => out.textContent)")
    assert "none flagged; rarest pair: Port P1 with Good G1" in rows
    click(tab, "all")
    assert "The rarest pair is Port P1 and Good G1" in tab.run("document.getElementById('list').innerText")
    assert tab.run("document.querySelector('.pairs tbody tr').innerText").split("\t")[:2] == ["Port P1", "Good G1"]
    assert tab.errors == []


def test_paper_has_everything_unfolded(page: Tab) -> None:
    click(page, "all")
    closed = "document.querySelectorAll('details.witnesses:not([open])').length"
    page.run("document.querySelectorAll('.witnesses')[0].open = false")
    before = page.run(closed)
    assert before > 0
    page.run("dispatchEvent(new Event('beforeprint'))")
    assert page.run(closed) == 0
    page.run("dispatchEvent(new Event('afterprint'))")
    assert page.run(closed) == before


@pytest.mark.parametrize("name", ["costly", "hostile", "barren", "blameless"])
@pytest.mark.parametrize("dark", [False, True])
def test_every_text_is_readable(tab: Tab, folder: Path, name: str, dark: bool) -> None:
    """WCAG AA of what the browser really drew."""
    tab.screen(1280, dark=dark)
    tab.open(folder / f"{name}.html")
    click(tab, "all")
    click(tab, "best")
    tab.run("document.querySelector('.reading').open = true")
    found = tab.run(WEAK)
    assert found["weak"] == []
    # Where no value is to blame, there may be nothing to accept, and no mark of it.
    assert found["colours"] >= (3 if name == "blameless" else 4)


def test_focus_is_seen(page: Tab) -> None:
    """By Tab alone through everything there is before, in and after the first record."""
    page.run("document.querySelector('.row').click(); document.querySelector('[data-key]').click()")
    page.run("document.activeElement.blur(); getSelection().removeAllRanges(); scrollTo(0, 0)")
    outlined = (
        "(() => { const e = document.activeElement, held = e.matches('.toggle') ? e.closest('.row') : e;"
        " const box = e.getBoundingClientRect(), bar = document.getElementById('chosen').getBoundingClientRect();"
        " return [e.id || e.className || e.tagName, getComputedStyle(held).outlineStyle !== 'none',"
        " e.closest('#chosen') !== null || box.top < bar.top && box.bottom > 0] })()"
    )
    reached = []
    for _ in range(60):
        page.press("Tab")
        reached.append(page.run(outlined))
    assert [step for step in reached if not (step[1] and step[2])] == []
    names = [name for name, _, _ in reached]
    assert {"skip", "theme", "bar", "domain", "entity", "lowest", "reset", "all", "sort", "toggle"} <= set(names)
