"""Numbers with a currency sign, with nothing but zeros behind the point, or with the noise of arithmetic: `$25`,
`25.00` and `25.000000000000004` beside `25`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from carat.data.spelling.affixes import Affixes

DOMINANT = 0.7
"""Share of the cells that must hold plain numbers."""
FEWEST = 20
"""And how many there must be."""
_PLAIN = re.compile(r"[+\-−]?\d[\d.,']*\Z")
_WHOLE = re.compile(r"[+\-−]?\d+\Z")
_ZEROS = re.compile(r"(?P<rest>[+\-−]?\d+)\.0+\Z")
_NOISY = re.compile(r"\d+\.\d{12,}")
"""Digits that only come of calculating in binary fractions."""
EXACT = 10
"""Decimal places that a calculation gets right."""
LONG = 0.5
"""If more of the cells have so many digits, they are measured, and no noise."""
_SIGNED = re.compile(
    r"(?P<before>[$€£¥₹]|US\$|USD|EUR|GBP)?\s?(?P<rest>[+\-−]?\d[\d.,']*)\s?(?P<after>[$€£¥₹]|US\$|USD|EUR|GBP)?\Z"
)


def amounts(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Numbers as most of their column has them: without a currency sign, and whole where all are whole.

    A sign is dropped only if the column knows no other one: dollars beside euros would be another amount.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].

    >>> amounts(["25", "$30", "31.0", "EUR"], np.array([97, 1, 1, 1])).text
    [None, '30', '31', None]
    """
    size = len(values)
    text: list[str | None] = [None] * size
    pattern: list[str | None] = [None] * size
    plain = np.array([bool(_PLAIN.match(value)) for value in values], dtype=bool)
    cells = float(counts[plain].sum())
    _without_noise(values, counts, text, pattern)
    if cells < max(FEWEST, DOMINANT * float(counts.sum())):
        return Affixes(text, pattern)
    whole = np.array([bool(_WHOLE.match(value)) for value in values], dtype=bool)
    all_whole = float(counts[whole].sum()) >= DOMINANT * float(counts.sum())
    signed = [None if plain[place] else _SIGNED.match(value) for place, value in enumerate(values)]
    signs = {(found["before"] or found["after"]) for found in signed if found is not None}
    fractions = all_whole and any(re.fullmatch(r"\d+\.\d*[1-9]\d*", value) for value in values)
    for place, (value, found) in enumerate(zip(values, signed, strict=True)):
        made, done = value, ""
        if found is not None and len(signs) == 1 and not (found["before"] and found["after"]):
            made, done = found["rest"], f"drop {found['before'] or found['after']!r}"
        zeros = _ZEROS.match(made) if all_whole and not fractions else None
        if zeros is not None:
            made, done = zeros["rest"], done or f"drop {made[len(zeros['rest']) :]!r}"
        if made != value:
            text[place], pattern[place] = made, done
    return Affixes(text, pattern)


def _without_noise(
    values: Sequence[str], counts: np.ndarray, text: list[str | None], pattern: list[str | None]
) -> None:
    """Write numbers as they were before a computer calculated with them.

    >>> found, why = [None], [None]
    >>> _without_noise(["0.10400000000000001%"], np.array([1]), found, why)
    >>> found, why
    (['0.104%'], ['round 0.10400000000000001 to 0.104'])
    """
    noisy = [place for place, value in enumerate(values) if len(value) <= 40 and _NOISY.search(value)]
    if sum(int(counts[place]) for place in noisy) > LONG * float(counts.sum()) and len(values) > 1:
        return
    for place in noisy:
        found = _NOISY.search(values[place])
        assert found is not None
        made = f"{float(found[0]):.{EXACT}f}".rstrip("0").rstrip(".")
        if len(made) + 6 <= len(found[0]) and abs(float(made) - float(found[0])) <= 1e-12 * max(float(made), 1e-3):
            text[place] = values[place][: found.start()] + made + values[place][found.end() :]
            pattern[place] = f"round {found[0]} to {made}"
