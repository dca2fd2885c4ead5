"""A small drawing board: a light card of fixed width on which text, bars and lines are put, and its SVG.

The card has its own background, so it reads the same on a light and on a dark page. On a phone 640 units become about
328 pixels, so the smallest text is 22 units: 11 pixels.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree

from carat.report.palette import LIGHT

WIDTH = 640
SHOWN_WIDTH = 480
"""Natural width in pixels: on a desk the text is then as large as the page's own."""
SMALL, PLAIN, LARGE = 22, 24, 28
MARGIN = 28
FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"

Anchor = Literal["start", "middle", "end"]


@dataclass
class Card:
    """One picture.

    Args:
        title: shown at the top, and the picture's name to a screen reader.
        about: what it shows, for those who can't see it.
        height: grows as things are put on it.
    """

    title: str
    about: str
    height: float = 74
    parts: list[ElementTree.Element] = field(default_factory=list)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        size: int = SMALL,
        colour: str = "ink",
        anchor: Anchor = "start",
        bold: bool = False,
    ) -> None:
        """Words with their baseline at y."""
        assert size >= SMALL, "too small for a phone"
        extra = {"font-weight": "600"} if bold else {}
        extra |= {"text-anchor": anchor} if anchor != "start" else {}
        element = self._put("text", {"font-size": str(size), **extra}, x=x, y=y, fill=LIGHT[colour])
        element.text = words.replace("-", "−") if _is_number(words) else words

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        fill: str,
        edge: str | None = None,
        corner: float = 4,
        thick: float = 2,
    ) -> None:
        """A rectangle, with a border where one is named."""
        extra = {"stroke": LIGHT[edge], "stroke-width": _number(thick)} if edge else {}
        self._put("rect", extra, x=x, y=y, width=width, height=height, rx=corner, fill=LIGHT[fill])

    def line(
        self, x1: float, y1: float, x2: float, y2: float, *, colour: str = "line", thick: float = 2, dashes: str = ""
    ) -> None:
        """A straight line."""
        extra = {"stroke": LIGHT[colour], "stroke-width": _number(thick)}
        extra |= {"stroke-dasharray": dashes} if dashes else {}
        self._put("line", extra, x1=x1, y1=y1, x2=x2, y2=y2)

    def dot(self, x: float, y: float, radius: float, *, fill: str) -> None:
        """A filled circle."""
        self._put("circle", {}, cx=x, cy=y, r=radius, fill=LIGHT[fill])

    def bar(self, x: float, y: float, room: float, share: float, *, height: float = 20, fill: str = "bar") -> None:
        """A share from 0 to 1 of the room, on a track, so that a tiny one is seen to be tiny."""
        self.box(x, y, room, height, fill="sunken")
        self.box(x, y, max(room * share, 3), height, fill=fill)

    def rows(self, count: int, step: float) -> list[float]:
        """Baselines of so many rows; the card grows by them."""
        baselines = [self.height + step * (row + 0.68) for row in range(count)]
        self.height += step * count
        return baselines

    def heading(self, words: str) -> None:
        """A line of muted text that heads what follows."""
        (baseline,) = self.rows(1, 42)
        self.text(MARGIN, baseline, words, colour="muted")

    def rule(self) -> None:
        """A thin line across."""
        self.height += 10
        self.line(MARGIN, self.height, WIDTH - MARGIN, self.height)
        self.height += 8

    def svg(self) -> str:
        """The picture as a file of its own."""
        height = self.height + 22
        root = ElementTree.Element(
            "svg",
            {
                "xmlns": "http://www.w3.org/2000/svg",
                "viewBox": f"0 0 {WIDTH} {_number(height)}",
                "width": str(SHOWN_WIDTH),
                "height": _number(round(height * SHOWN_WIDTH / WIDTH)),
                "role": "img",
                "aria-labelledby": "title about",
                "font-family": FONT,
            },
        )
        ElementTree.SubElement(root, "title", {"id": "title"}).text = self.title
        ElementTree.SubElement(root, "desc", {"id": "about"}).text = self.about
        card = Card("", "")
        card.box(1, 1, WIDTH - 2, height - 2, fill="paper", edge="line", corner=14)
        card.text(MARGIN, 50, self.title, size=LARGE, bold=True)
        root.extend([*card.parts, *self.parts])
        ElementTree.indent(root, " ")
        return ElementTree.tostring(root, encoding="unicode") + "\n"

    def _put(
        self, kind: str, extra: dict[str, str], *, fill: str | None = None, **places: float
    ) -> ElementTree.Element:
        given = {name: _number(value) for name, value in places.items()} | extra
        element = ElementTree.Element(kind, given | ({"fill": fill} if fill else {}))
        self.parts.append(element)
        return element


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def _is_number(words: str) -> bool:
    return words.startswith("-") and words[1:2].isdigit()
