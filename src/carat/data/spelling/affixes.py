"""Values that only differ from what their column looks like by something in front or behind: ` oz`, `%`, `$`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from carat.data.spelling.shapes import shape
from carat.data.spelling.variants import LONGEST

DOMINANT = 0.5
"""The share of the cells that must look like what a rewrite leads to, where it leads to no value of the column."""
FREQUENT = 3.0
"""How much more frequent a value must be to stand for one that has a word more."""
REACHED = 0.6
"""The share of the values with some word at an end that must lead to a value of the column, for that word to count."""

_ENDS = (
    re.compile(r"(?P<rest>.*\d)(?P<affix>\.0+)\Z", re.DOTALL),  # 12.0
    re.compile(r"(?P<rest>.*\d)(?P<affix>\s*[^\W\d_]{1,8}\.?)\Z", re.DOTALL),  # 12oz, 12 oz.
    re.compile(r"(?P<rest>.*\S)(?P<affix>\s+[^\s\d]+)\Z", re.DOTALL),  # Acme Inc
    re.compile(r"(?P<rest>.*[\w)])(?P<affix>\s*[^\w\s)]+)\Z", re.DOTALL),  # 12%, Rome*
)
_NUMBER = re.compile(r"[^\w\s]?\s*\d[\d.,\s]*\Z")
_FRONTS = (
    re.compile(r"(?P<affix>[^\W\d_]{1,8}\.?\s*)(?P<rest>\d.*)\Z", re.DOTALL),  # USD 12
    re.compile(r"(?P<affix>[^\s\d]+\s+)(?P<rest>\S.*)\Z", re.DOTALL),  # The Hague
    # $12; but -12 is another number
    re.compile(r"(?P<affix>(?![+\-−]\s*\d)[^\w\s(]+\s*)(?P<rest>[\w(].*)\Z", re.DOTALL),
)


@dataclass(frozen=True)
class Affixes:
    """What each value of a column could be without, or with, something at an end.

    Args:
        text: the rewritten value, [V]; None where nothing is proposed.
        pattern: what was done, such as `drop ' oz'` or `add '%'`, [V]; None where nothing is proposed.
    """

    text: list[str | None]
    pattern: list[str | None]


def affixes(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Rewrites of values by an affix.

    An affix of signs, or at a number, is dropped where the rest is a more frequent value of the column, or has the
    shape of at least half of its cells. A word at the end of words is dropped only where that mostly leads to other,
    more frequent values. And where most of a column has an affix, it is added to what looks like the rest without it.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].
    """
    column = _Column(values, np.asarray(counts, dtype=np.float64))
    text: list[str | None] = [None] * len(values)
    pattern: list[str | None] = [None] * len(values)
    for place, made, name in sorted((*column.dropped(), *column.added()), key=column.worth):
        if text[place] is None:
            text[place], pattern[place] = made, name
    return Affixes(text, pattern)


@dataclass(frozen=True)
class _Affix:
    """Something at an end of values, and what is left of them without it."""

    text: str
    behind: bool
    rests: list[tuple[int, str]] = field(default_factory=list)

    def added_to(self, value: str) -> str:
        return value + self.text if self.behind else self.text + value


_Rewrite = tuple[int, str, str]
"""Place of a value, what it becomes, and the name of the pattern."""


class _Column:
    """The values of a column, how often they occur, and how they look."""

    def __init__(self, values: Sequence[str], counts: np.ndarray) -> None:
        self.values, self.counts = values, counts
        self.place = {value: place for place, value in enumerate(values)}
        self.total = max(float(counts.sum()), 1.0)
        self.looks = [shape(value) for value in values]
        self.share: dict[str, float] = defaultdict(float)
        for look, count in zip(self.looks, counts.tolist(), strict=True):
            self.share[look] += count / self.total
        self.exact = {shape(value, lengths=True) for value in values}
        self.affixes = self._affixes()

    def _affixes(self) -> list[_Affix]:
        found: dict[tuple[str, bool], _Affix] = {}
        for place, value in enumerate(self.values):
            if len(value) > LONGEST:
                continue
            for pattern in (*_ENDS, *_FRONTS):
                match = pattern.match(value)
                if match:
                    behind = pattern in _ENDS
                    affix = found.setdefault((match["affix"], behind), _Affix(match["affix"], behind))
                    affix.rests.append((place, match["rest"]))
        return list(found.values())

    def worth(self, rewrite: _Rewrite) -> tuple[int, float, str]:
        """What to prefer for a value: what leads to a frequent value."""
        place, made, name = rewrite
        return place, -float(self.counts[self.place[made]]) if made in self.place else 0.0, name

    def _cells(self, affix: _Affix) -> float:
        """The share of the cells that have an affix."""
        return float(self.counts[[place for place, _ in affix.rests]].sum()) / self.total

    def _is_value(self, text: str, place: int, times: float = 1.0) -> bool:
        """Whether a text is a value of the column, so many times as frequent as another."""
        found = self.place.get(text)
        return found is not None and found != place and bool(self.counts[found] >= times * self.counts[place])

    def _looks_common(self, text: str, place: int) -> bool:
        """Whether a text looks like most of the column, and more so than the value that it would replace."""
        return self.share.get(shape(text), 0.0) >= max(DOMINANT, 2 * self.share[self.looks[place]])

    def _looks_right(self, text: str, place: int) -> bool:
        """The same, and as long, run by run, as some value: `x0005` is no zip code of four digits with an `x`."""
        return self._looks_common(text, place) and shape(text, lengths=True) in self.exact

    def dropped(self) -> Iterator[_Rewrite]:
        """Values without an affix that few cells have."""
        for affix in self.affixes:
            if self._cells(affix) >= DOMINANT:
                continue
            reached = [place for place, rest in affix.rests if self._is_value(rest, place, FREQUENT)]
            known = len(reached) >= max(2, REACHED * len(affix.rests))
            # An affix that mostly leads to what the column holds is dropped where the rest is longer than usual, too.
            # Only a number is known by its looks: a code is another code without its last sign.
            right = [
                self._is_value(rest, place) or (bool(_NUMBER.match(rest)) and self._looks_right(rest, place))
                for place, rest in affix.rests
            ]
            settled = sum(right) >= max(2, REACHED * len(right))
            for (place, rest), fine in zip(affix.rests, right, strict=True):
                if _is_word(affix.text, rest):
                    good = known and self._is_value(rest, place, FREQUENT)
                else:
                    good = fine or (settled and bool(_NUMBER.match(rest)) and self._looks_common(rest, place))
                if good:
                    yield place, rest, f"drop {affix.text!r}"

    def added(self) -> Iterator[_Rewrite]:
        """Values with an affix that most cells have."""
        for affix in self.affixes:
            if self._cells(affix) < DOMINANT:
                continue
            having = {place for place, _ in affix.rests}
            for place, value in enumerate(self.values):
                made = affix.added_to(value)
                if place in having or value.endswith(affix.text) or value.startswith(affix.text):
                    continue
                good = self._is_value(made, place)
                if good or (not _is_word(affix.text, value) and self._looks_right(made, place)):
                    yield place, made, f"add {affix.text!r}"


def _is_word(affix: str, rest: str) -> bool:
    """Whether an affix is a word beside words; a unit at a number, and signs, are not."""
    return any(char.isalpha() for char in affix) and not _NUMBER.match(rest)
