"""Dates and times that are written in another way than most of their column: `2007-12-01` beside `12/31/07`."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from carat.data.spelling.affixes import Affixes

DOMINANT = 0.7
"""Share of the cells that must be written in one way for it to be the column's."""
FEWEST = 20
"""And how many there must be."""
STRAY = 0.01
"""Share of a column's dates at either end that say nothing of its years."""
CLEAR = 10.0
"""How many times as many cells must tell the day from the month by one order as by the other."""
MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip

_MONTH = "|".join((*MONTHS, *(name[:3] for name in MONTHS)))
_TIME = r"(?P<H>\d{1,2}):(?P<M>[0-5]\d)(:(?P<S>[0-5]\d))?((?P<gap>\s?)(?P<half>[AaPp]\.?[Mm]\.?))?"
_DATES = (
    r"(?P<y>\d{4})(?P<s>[-/.])(?P<m>\d{1,2})(?P=s)(?P<d>\d{1,2})",
    r"(?P<one>\d{1,2})(?P<s>[-/.])(?P<two>\d{1,2})(?P=s)(?P<y>\d{4}|\d{2})",
    rf"(?P<d>\d{{1,2}})(?P<s>[- ])(?P<name>{_MONTH})(?P=s)(?P<y>\d{{4}}|\d{{2}})",
    rf"(?P<name>{_MONTH}) (?P<d>\d{{1,2}})(?P<s>,? )(?P<y>\d{{4}})",
)
_ZERO = r"(?P<zero>[T ]00:00(:00(\.0+)?)?Z?)?"
"""Midnight behind a date is how software writes a day."""
_DAY_AND_TIME = re.compile(r"(?P<day>\S.*?)(?:\s+|T)(?P<time>\d{1,2}:\d{2}.*)", re.DOTALL)
_PATTERNS = (*(re.compile(date + _ZERO, re.IGNORECASE) for date in _DATES), re.compile(_TIME))


@dataclass(frozen=True)
class _Way:
    """How a date or a time is written.

    Args:
        form: number of its pattern.
        order: `dm` or `md` where two numbers could be either; else empty.
        sign: what stands between the parts.
        style: digits of the year, how a month is spelt, whether seconds and halves of the day are there.
    """

    form: int
    order: str
    sign: str
    style: str

    @property
    def is_time(self) -> bool:
        return self.form == len(_DATES)


_Moment = tuple[int, int, int]
"""Year, month and day; or hour, minute and second."""


def moments(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Dates and times in the way in which most of their column is written.

    A value is rewritten only where there is no doubt what it says: not where its day could be its month, nor where its
    century would be a guess. In a column of times, a time with a date before it is written without. Names of months
    are English.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].

    >>> moments(["12/31/07", "4/17/08", "2009-02-03"], np.array([90, 8, 2])).text
    [None, None, '2/3/09']
    """
    text: list[str | None] = [None] * len(values)
    pattern: list[str | None] = [None] * len(values)
    read = [list(_read(value)) for value in values]
    if sum(map(bool, read)) < 2:
        return Affixes(text, pattern)
    cells: dict[_Way, float] = defaultdict(float)
    plain = _orders(read, counts)
    for ways, count in zip(plain, counts.tolist(), strict=True):
        for way in ways:
            cells[way] += count
    usual = max(cells, key=lambda way: (cells[way], way.style), default=None)
    if usual is None or cells[usual] < max(FEWEST, DOMINANT * float(counts.sum())):
        return Affixes(text, pattern)
    own = [place for place, ways in enumerate(plain) if usual in ways]
    if usual.order and any(_twin(usual) in ways for place in own for ways in [plain[place]]):
        return Affixes(text, pattern)  # nothing tells its days from its months
    for place in range(len(values)) if usual.is_time else ():
        if not plain[place]:
            plain[place] = dict(_time_of_day(values[place]))
    writer = _Writer(usual, [values[place] for place in own], [plain[place][usual] for place in own])
    for place, ways in enumerate(plain):
        said = {moment for way, moment in ways.items() if way.is_time == usual.is_time}
        if usual in ways or len(said) != 1:
            continue
        made = writer.write(*said.pop())
        if made is not None and made != values[place]:
            text[place], pattern[place] = made, f"write {'times' if usual.is_time else 'dates'} like {writer.example!r}"
    return Affixes(text, pattern)


def may_be_moment(value: str) -> bool:
    """Whether a value may be a date or a time.

    >>> may_be_moment("03/13/25"), may_be_moment("2337-0866")
    (True, False)
    """
    return any(True for _ in _read(value))


def _read(value: str) -> Iterator[tuple[_Way, _Moment]]:
    """All that a value may say, and how."""
    if len(value) > 40 or not any(char.isdigit() for char in value):
        return
    for form, pattern in enumerate(_PATTERNS):
        found = pattern.fullmatch(value)
        if found is None:
            continue
        part = found.groupdict()
        if form == len(_DATES):
            yield from _time(form, part)
            continue
        year, style = int(part["y"]), f"{len(part['y'])}{'+' if part['zero'] else ''}"
        if "one" in part:
            one, two = int(part["one"]), int(part["two"])
            options = [("dm", two, one), ("md", one, two)]
        elif "name" in part:
            name = part["name"]
            style += "short" if len(name) == 3 else "long"
            style += "upper" if name.isupper() else "lower" if name.islower() else ""
            options = [("", [each[:3] for each in MONTHS].index(name[:3].lower()) + 1, int(part["d"]))]
        else:
            options = [("", int(part["m"]), int(part["d"]))]
        for order, month, day in options:
            if 1 <= month <= 12 and 1 <= day <= _days(year, month):
                yield _Way(form, order, part["s"], style), (year, month, day)


def _time_of_day(value: str) -> Iterator[tuple[_Way, _Moment]]:
    """What a date and a time say of the time, whose way is not the column's."""
    found = _DAY_AND_TIME.fullmatch(value)
    if found and any(not way.is_time for way, _ in _read(found["day"])):
        for way, moment in _read(found["time"]):
            yield replace(way, style=f"{way.style} of a day"), moment


def _time(form: int, part: dict[str, str | None]) -> Iterator[tuple[_Way, _Moment]]:
    half = part["half"]
    hour, minute = int(part["H"] or 0), int(part["M"] or 0)
    if hour > 23 or (half and not 1 <= hour <= 12):
        return
    if half:
        hour = hour % 12 + 12 * (half[0] in "pP")
    seconds = part["S"] is not None
    style = f"{'s' if seconds else ''}{half[1:] if half else ''}{'upper' if half and half.isupper() else ''}"
    yield _Way(form, "", part["gap"] or "" if half else "", style), (hour, minute, int(part["S"] or 0))


def _days(year: int, month: int) -> int:
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


def _twin(way: _Way) -> _Way:
    return _Way(way.form, way.order[::-1], way.sign, way.style)


def _orders(read: Sequence[Sequence[tuple[_Way, _Moment]]], counts: np.ndarray) -> list[dict[_Way, _Moment]]:
    """What each value says, with the day told from the month wherever other values of the column do tell."""
    certain: dict[_Way, float] = defaultdict(float)
    for ways, count in zip(read, counts.tolist(), strict=True):
        if len(ways) == 1 or (len(ways) == 2 and ways[0][1] == ways[1][1]):
            for way, _ in ways:
                certain[way] += count if len(ways) == 1 else 0.0
    found = []
    for ways in read:
        kept = [
            (way, moment)
            for way, moment in ways
            if not way.order or len(ways) == 1 or not 0 <= CLEAR * certain[way] < certain[_twin(way)]
        ]
        found.append(dict(kept))
    return found


class _Writer:
    """Writes dates or times in one way.

    Args:
        way: which.
        texts: written in it.
        moments: what they say.
    """

    def __init__(self, way: _Way, texts: Sequence[str], moments: Sequence[_Moment]) -> None:
        self.way = way
        self.example = max(texts, key=len)
        # A number below ten has a zero in front of it unless it is ever seen without.
        self.padded = not any(re.search(r"(?<!\d)\d(?!\d)", text) for text in texts)
        years = np.sort([moment[0] for moment in moments])
        # A few years that cannot be, such as 0023 and 1900, must not decide about centuries.
        stray = int(STRAY * len(years))
        self.years = (int(years[stray]), int(years[-1 - stray]))

    def write(self, first: int, second: int, third: int) -> str | None:
        """Of year, month and day, or of hour, minute and second; None where it can't be told what to write."""
        return self._time(first, second, third) if self.way.is_time else self._date(first, second, third)

    def _number(self, number: int) -> str:
        return f"{number:02d}" if self.padded else str(number)

    def _date(self, year: int, month: int, day: int) -> str | None:
        way = self.way
        if way.style[0] == "2":
            made = f"{year % 100:02d}"
        else:
            full = year if year >= 100 else self._century(year)
            if full is None:
                return None
            made = f"{full:04d}"
        tail = ""
        if "+" in way.style:
            found = re.search(r"[T ]00:00.*\Z", self.example)
            tail = found[0] if found else ""
        if way.form in (2, 3):
            name = MONTHS[month - 1][: 3 if "short" in way.style else None]
            name = name.upper() if "upper" in way.style else name if "lower" in way.style else name.capitalize()
            head = f"{self._number(day)}{way.sign}{name}{way.sign}" if way.form == 2 else f"{name} {self._number(day)}"
            return f"{head}{made}{tail}" if way.form == 2 else f"{head}{way.sign}{made}{tail}"
        parts = [self._number(month), self._number(day)]
        if way.order == "dm":
            parts.reverse()
        return way.sign.join([made, *parts] if way.form == 0 else [*parts, made]) + tail

    def _century(self, year: int) -> int | None:
        """The only year of the column's that ends so."""
        fits = [full for full in range(self.years[0], self.years[1] + 1) if full % 100 == year]
        return fits[0] if len(fits) == 1 else None

    def _time(self, hour: int, minute: int, second: int) -> str | None:
        style = self.way.style
        half = style.removeprefix("s").removesuffix("upper")
        made = f"{self._number((hour - 1) % 12 + 1 if half else hour)}:{minute:02d}"
        if style.startswith("s"):
            made += f":{second:02d}"
        elif second:
            return None  # nothing that was written is dropped
        if half:
            letter = "p" if hour >= 12 else "a"
            made += self.way.sign + (letter.upper() if "upper" in style else letter) + half
        return made
