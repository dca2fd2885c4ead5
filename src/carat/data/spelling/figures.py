"""Numbers that are written in another way than most of their column: `875,21` and `1,200.00` beside `1200.00`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from carat.data.spelling.affixes import Affixes

DOMINANT = 0.7
"""Share of the cells that must be written in one way for it to be the column's."""
FEWEST = 20
"""And how many there must be."""
PLACES = 0.01
"""A number of decimal places is usual where it has this share of those cells."""


def _form(mark: str, by: str) -> re.Pattern[str]:
    whole = rf"\d{{1,3}}(?:{re.escape(by)}\d{{3}})+" if by else r"\d+"
    return re.compile(rf"(?P<sign>[+\-−]?)(?P<whole>{whole}){re.escape(mark)}(?P<part>\d+)")


_WAYS = {
    (mark, by): _form(mark, by)
    for mark, by in ((".", ""), (".", ","), (".", " "), (".", "'"), (",", ""), (",", "."), (",", " "))
}
"""By decimal sign and by what stands between thousands; only numbers with decimals say which sign is which."""


def figures(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Numbers with decimals in the way in which most of their column is written.

    A number is rewritten only if it has as many decimal places as the column usually has, so that a thousand is not
    taken for a fraction. Nothing is rounded.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].

    >>> figures(["1200.00", "875,21", "1,300.00", "1,300"], np.array([95, 2, 2, 1])).text
    [None, '875.21', '1300.00', None]
    """
    text: list[str | None] = [None] * len(values)
    pattern: list[str | None] = [None] * len(values)
    read = [_read(value) for value in values]
    cells: dict[tuple[str, str], float] = defaultdict(float)
    for found, count in zip(read, counts.tolist(), strict=True):
        for way in found:
            cells[way] += count
    # Written without a sign between thousands, a column may still hold numbers that have none: those are of both ways.
    usual = max(cells, key=lambda way: (cells[way], not way[1]), default=None)
    if usual is None or cells[usual] < max(FEWEST, DOMINANT * float(counts.sum())):
        return Affixes(text, pattern)
    places: dict[int, float] = defaultdict(float)
    for found, count in zip(read, counts.tolist(), strict=True):
        if usual in found:
            places[len(found[usual]["part"])] += count
    mark, by = usual
    for place, found in enumerate(read):
        said = {(each["sign"], re.sub(r"\D", "", each["whole"]), each["part"]) for each in found.values()}
        if usual in found or len(said) != 1:
            continue
        sign, whole, part = said.pop()
        if places[len(part)] < PLACES * cells[usual]:
            continue
        made = f"{sign}{_grouped(whole, by)}{mark}{part}"
        if made != values[place]:
            text[place], pattern[place] = made, f"write numbers like '{_grouped('1200', by)}{mark}{'0' * len(part)}'"
    return Affixes(text, pattern)


def _read(value: str) -> dict[tuple[str, str], dict[str, str]]:
    """All that a value may say, by how it would be written."""
    if len(value) > 40 or not value[-1:].isdigit():
        return {}
    return {way: found.groupdict() for way, form in _WAYS.items() if (found := form.fullmatch(value))}


def _grouped(whole: str, by: str) -> str:
    return f"{int(whole):,}".replace(",", by) if by else whole
