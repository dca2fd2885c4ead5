"""Codes with other signs between their digits than most of their column has: `23370866` beside `2337-0866`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from carat.data.spelling.affixes import Affixes
from carat.data.spelling.moments import may_be_moment

DOMINANT = 0.7
"""Share of the cells that must be written in one way for it to be the column's."""
FEWEST = 20
"""And how many there must be."""
SHORTEST, DIGITS = 6, 4
"""Letters and digits, and digits alone, that a code has at least: what is shorter is as often a number."""
_CODE = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9]|[-–—./_() +])*\Z|[(+](?:[A-Za-z0-9]|[-–—./_() +])*\Z")
_SIGN = re.compile(r"[^A-Za-z0-9]")
_PLAIN = re.compile(r"\d+(?:[.,' ]\d+)*\Z")
"""Digits that may be a number, whatever stands between them."""


def codes(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Codes of letters and digits with the signs, and the capitals, that most of their column has.

    A code is rewritten only if it has just as many letters and digits, in the same places. Dates, times and numbers are
    none.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].

    >>> codes(["2337-0866", "1432-0428", "23370866", "233-708"], np.array([60, 38, 1, 1])).text
    [None, None, '2337-0866', None]
    """
    text: list[str | None] = [None] * len(values)
    pattern: list[str | None] = [None] * len(values)
    looks = [_template(value) for value in values]
    cells: dict[str, float] = defaultdict(float)
    for look, count in zip(looks, counts.tolist(), strict=True):
        if look:
            cells[look] += count
    usual = max(cells, key=lambda look: (cells[look], look), default="")
    if not usual or cells[usual] < max(FEWEST, DOMINANT * float(counts.sum())):
        return Affixes(text, pattern)
    example = values[looks.index(usual)]
    if may_be_moment(example) or (_PLAIN.match(example) and _SIGN.search(example)):
        return Affixes(text, pattern)
    core, signed = _SIGN.sub("", usual).upper(), bool(_SIGN.search(usual))
    for place, (value, look) in enumerate(zip(values, looks, strict=True)):
        if not look or look == usual or _SIGN.sub("", look).upper() != core:
            continue
        if not signed and re.search(r"[.,]", value):
            continue  # a number with a fraction
        text[place], pattern[place] = _filled(usual, _SIGN.sub("", value)), f"write codes like {example!r}"
    return Affixes(text, pattern)


def _template(value: str) -> str:
    """What a code looks like, sign by sign; empty for what is none."""
    if not SHORTEST <= len(value) <= 40 or not _CODE.match(value):
        return ""
    look = re.sub(r"[a-z]", "a", re.sub(r"[A-Z]", "A", re.sub(r"[0-9]", "9", value)))
    return look if look.count("9") >= DIGITS and len(_SIGN.sub("", look)) >= SHORTEST else ""


def _filled(usual: str, signs: str) -> str:
    """A template with letters and digits put in."""
    left = iter(signs)
    made = []
    for sign in usual:
        if sign == "9":
            made.append(next(left))
        elif sign in "Aa":
            char = next(left)
            made.append(char.upper() if sign == "A" else char.lower())
        else:
            made.append(sign)
    return "".join(made)
