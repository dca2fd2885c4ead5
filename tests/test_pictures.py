"""The page `docs/how.md` and its pictures: what is drawn was measured, and what is said is what is drawn."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from carat.report.palette import contrast
from tests.report.browser import Tab, browser

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/how.md"
FOLDER = ROOT / "docs/how"
PICTURES = sorted(FOLDER.glob("*.svg"))
NUMBER = re.compile(r"−?\d+(?:,\d{3})*(?:\.\d+)?")
PHONE = 328
"""Pixels that a page of 360 leaves for a picture."""
SVG = "{http://www.w3.org/2000/svg}"


def page() -> str:
    return PAGE.read_text(encoding="utf-8")


def prose() -> str:
    """The page without what is no claim: headings, code, the targets of links, and the numbers of steps."""
    text = re.sub(r"^#.*$|^\| \d\. ", "", page(), flags=re.MULTILINE)
    text = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)", " ", text, flags=re.DOTALL)
    text = re.sub(r"^\d\. ", "", text, flags=re.MULTILINE)
    return re.sub(r"\bsteps? \d( and \d)?", "", text)


def spoken(value: Any) -> set[str]:
    """How numbers of the run may be written."""
    if isinstance(value, dict):
        return set().union(*(spoken(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(spoken(part) for part in value))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return set(NUMBER.findall(str(value)))
    ways = (
        {f"{value:,}", f"{value:,.0f}"} if float(value).is_integer() else {f"{value}", f"{value:.2f}", f"{value:.3f}"}
    )
    return {way.replace("-", "−") for way in ways}


def texts(picture: Path) -> list[str]:
    return [element.text or "" for element in ElementTree.parse(picture).iter(f"{SVG}text")]


def numbers() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "numbers.json").read_text(encoding="utf-8"))
    return found


def test_every_number_of_the_page_was_measured() -> None:
    """In this run, or where another document says so."""
    measured = spoken(numbers())
    drawn = {number for picture in PICTURES for text in texts(picture) for number in NUMBER.findall(text)}
    elsewhere = {
        number
        for name in ("results.md", "paper.md")
        for number in NUMBER.findall((ROOT / "docs" / name).read_text(encoding="utf-8"))
        if "." in number
    }
    assert set(NUMBER.findall(prose())) - measured - drawn - elsewhere == set()


def test_entities_of_the_page_are_those_of_the_record() -> None:
    for entry in numbers()["record"]["entities"]:
        if entry["domain"] in {"Flight", "Origin", "Dest", "Model"}:
            assert f"`{entry['entity']}`" in page()


@pytest.mark.parametrize("picture", PICTURES, ids=lambda path: path.stem)
def test_picture(picture: Path) -> None:
    root = ElementTree.parse(picture).getroot()
    assert root.tag == f"{SVG}svg"
    for part in ("title", "desc"):
        element = root.find(f"{SVG}{part}")
        assert element is not None
        assert element.text
        assert str(element.get("id")) in str(root.get("aria-labelledby"))
    written = picture.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"href|url\(|://|<script|<style|<image|foreignObject|@import|<!", written)
    (alt,) = re.findall(rf"!\[([^\]]*)\]\(how/{picture.name}\)", page())
    assert len(alt) > 40, "a picture says to those who can't see it what it shows"
    for element, under in _laid_over(root):
        size = float(str(element.get("font-size")))
        assert size * PHONE / float(str(root.get("viewBox")).split()[2]) >= 11, (
            f"{element.text} is too small on a phone"
        )
        assert contrast(str(element.get("fill")), under) >= 4.5, f"{element.text} is too pale"


def _laid_over(root: ElementTree.Element) -> Iterator[tuple[ElementTree.Element, str]]:
    """Every text, and the colour of the topmost box beneath it."""
    boxes: list[tuple[float, float, float, float, str]] = []
    for element in root:
        place = {name: float(value) for name, value in element.items() if name in {"x", "y", "width", "height"}}
        if element.tag == f"{SVG}rect":
            boxes.append((place["x"], place["y"], place["width"], place["height"], str(element.get("fill"))))
        elif element.tag == f"{SVG}text":
            x, y = place["x"], place["y"] - 6
            yield element, [box[4] for box in boxes if 0 <= x - box[0] <= box[2] and 0 <= y - box[1] <= box[3]][-1]


def test_page_shows_every_picture() -> None:
    shown = re.findall(r"\]\(how/([^)]+\.svg)\)", page())
    assert sorted(shown) == [picture.name for picture in PICTURES]
    assert len(shown) >= 6


@pytest.mark.slow
def test_pictures_are_those_of_the_numbers(tmp_path: Path) -> None:
    """Drawing again from `numbers.json` gives the same files."""
    command = [sys.executable, "tools/draw_steps.py", "--numbers", "docs/how/numbers.json", "--out", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == [picture.name for picture in PICTURES]
    for picture in PICTURES:
        assert (tmp_path / picture.name).read_text(encoding="utf-8") == picture.read_text(encoding="utf-8")


@pytest.mark.slow
def test_nothing_overlaps_or_is_cut_off(tmp_path: Path) -> None:
    """In a real browser, with whatever font it has."""
    with browser(tmp_path) as tab:
        for picture in PICTURES:
            width, height, boxes = _boxes(tab, picture)
            for place, (text, left, top, right, bottom) in enumerate(boxes):
                assert left >= 0, f"{picture.stem}: {text} is cut off"
                assert max(right - width, bottom - height) <= 0, f"{picture.stem}: {text} is cut off"
                for other, *box in boxes[place + 1 :]:
                    apart = left >= box[2] or box[0] >= right or top >= box[3] - 6 or box[1] + 6 >= bottom
                    assert apart, f"{picture.stem}: {text} and {other} overlap"


def _boxes(tab: Tab, picture: Path) -> tuple[float, float, list[tuple[str, float, float, float, float]]]:
    """Size of a picture, and every text with left, top, right and bottom, in units of the picture."""
    tab.open(picture)
    found = tab.run(
        "(() => { const root = document.documentElement, view = root.viewBox.baseVal;"
        " return [view.width, view.height, [...root.querySelectorAll('text')].map(text => { const box = text.getBBox();"
        " return [text.textContent, box.x, box.y, box.x + box.width, box.y + box.height]; })]; })()"
    )
    return found[0], found[1], [tuple(box) for box in found[2]]
