"""What the made-up tables share: the ways a hand slips, and names that nobody bears."""

from __future__ import annotations

import string
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from made_up.twin import Spoil

T = TypeVar("T")


def listed(text: str) -> list[str]:
    """The words of a text: a list of names that is easy to read."""
    return text.split()


def phrases(text: str, mark: str = ",") -> list[str]:
    """The parts of a text between marks, without the blanks around them."""
    return [part.strip() for part in text.split(mark)]


def records(text: str) -> list[tuple[str, ...]]:
    """The rows of a small table: cells between bars, rows between semicolons."""
    return [tuple(phrases(row, "|")) for row in text.split(";")]


def often_first(draw: Random, items: Sequence[T], steepness: float) -> T:
    """One of them by Zipf's law: the first is the commonest, and most are rare."""
    return draw.choices(items, [1 / rank**steepness for rank in range(1, len(items) + 1)])[0]


def always(value: str) -> Spoil:
    """The same value whatever is right, as a placeholder is."""
    return lambda _, __: value


BLANK = always("")


def evenly(share: float, what: str, **ways: Spoil) -> list[tuple[float, str, Spoil]]:
    """Slips that are equally frequent: `case=lower` of a "city" is of the kind "city case"."""
    return [(share / len(ways), f"{what} {name.replace('_', ' ')}", spoil) for name, spoil in ways.items()]


def lower(_: Random, value: str) -> str:
    """In small letters."""
    return value.lower()


def upper(_: Random, value: str) -> str:
    """In capitals."""
    return value.upper()


def swapped_for(old: str, new: str) -> Spoil:
    """A text replaced by another wherever it stands in the value."""
    return lambda _, value: value.replace(old, new)


def typo(draw: Random, value: str, letters: str = string.ascii_lowercase) -> str | None:
    """A letter or digit left out, replaced, doubled, swapped with the next, or one more: digits for digits."""
    places = [place for place, mark in enumerate(value) if mark.isalnum()]
    while places and len(value) > 1:
        place = draw.choice(places)
        before, mark, after = value[:place], value[place], value[place + 1 :]
        new = draw.choice(string.digits if mark.isdigit() else letters)
        new = new.upper() if mark.isupper() else new
        here = draw.choice([after, new + after, new + mark + after, mark * 2 + after, after[:1] + mark + after[1:]])
        made = before + here
        if made not in (value, "") and made == made.strip():
            return made
    return None


def digit(draw: Random, value: str) -> str | None:
    """One digit replaced, or now and then two neighbours swapped; as long as before."""
    places = [place for place, mark in enumerate(value) if mark.isdigit()]
    pairs = [place for place in places if place + 1 in places and value[place] != value[place + 1]]
    if pairs and draw.random() < 0.3:
        place = draw.choice(pairs)
        return value[:place] + value[place + 1] + value[place] + value[place + 2 :]
    if not places:
        return None
    place = draw.choice(places)
    return value[:place] + draw.choice(string.digits.replace(value[place], "")) + value[place + 1 :]


STARTS = listed("B Br C Ch Cl D F G Gl H J K L M N P R S Sh St T Th V W Wh")
VOWELS = listed("a e i o u ai ea oo ou")
ENDS = phrases(",n,r,l,s,ck,rd,nd,st,m,ll,rn,x,tt")
STATES = listed(
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM NY NC ND OH OK OR PA "
    "RI SC SD TN TX UT VT VA WA WV WI WY"
)


def word(draw: Random, syllables: int | None = None) -> str:
    """A name that sounds English, of one to three syllables."""
    count = syllables or draw.choice([1, 2, 2, 2, 3])
    inner = ["", "", "n", "r", "l"]
    parts = [draw.choice(STARTS) + draw.choice(VOWELS) + draw.choice(inner) for _ in range(count - 1)]
    return "".join([*parts, draw.choice(STARTS) + draw.choice(VOWELS) + draw.choice(ENDS)]).capitalize()
