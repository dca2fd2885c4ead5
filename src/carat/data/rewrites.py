"""How one text turns into a wrong one: each kind of slip in text as one function.

Every function takes the text, `dice` (uniform numbers in 0..1) and what is known about the column. It returns the new
text, or the text as it was where it finds nothing to change.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from string import ascii_lowercase, ascii_uppercase, digits

from carat.data.keyboards import neighbours

Dice = Callable[[], float]

ARBITRARY = 0.3
"""The share of wrong characters that do not come from a neighbouring key. Errors of scanning, of another keyboard and
of software do not follow keys, and a judge taught by neighbours alone would not know them."""
SMUDGED = 0.25
"""The share of typos that leave the length alone and make up to three characters others of their class: a misread
scan, a misheard number, an overwritten letter."""
SECOND = 0.2
"""How often a text of six characters and more gets a second typo."""
TRIES = 8
"""Tries before a rewrite settles for what always changes the text."""

AFFIXES = (
    " oz",
    "oz",
    "%",
    " %",
    " kg",
    "kg",
    " lb",
    " lbs",
    " g",
    " ml",
    " USD",
    " EUR",
    "€",
    " km",
    " mi",
    " min",
    " h",
)
"""Units written behind a number."""
PREFIXES = ("$", "USD ", "€", "EUR ", "£", "#", "~", "+")
"""Units and signs written before a number."""
PLACEHOLDERS = (
    "N/A",
    "n/a",
    "NA",
    "-",
    "--",
    "unknown",
    "Unknown",
    "NULL",
    "null",
    "?",
    "none",
    "None",
    "TBD",
    "missing",
)
"""What is written where nothing is known."""
INKS = f"{ascii_lowercase}{digits}?*#_\N{REPLACEMENT CHARACTER}"
"""What covers characters where software, a scan or a form went wrong in the same way every time."""
NUMBERS = ("9999", "99999", "999", "-1", "-999", "0")
"""What stands for nothing in a column of numbers, besides `PLACEHOLDERS`."""

_WORD = re.compile(r"[^\W\d_]{4,}")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_MARKS = ("\u0300", "\u0301", "\u0302", "\u0308")
_ACCENTED = "aeiounc"
_NUMBER = re.compile(
    r"(?P<before>[$€£¥#~+]|[A-Z]{3} )?(?P<number>[+-]?\d[\d.,]*)(?P<after>\s?(?:%|[^\W\d_]{1,6}\.?|[$€£¥°]))?\Z"
)


@dataclass(frozen=True)
class ColumnFacts:
    """What a rewrite may know about the column of a text.

    Args:
        alphabet: the characters of the column, by script and class.
        numeric: whether nearly all of its values are numbers.
        accented: whether accents occur in it.
        affix: the unit that this column's typists like best, before or behind.
        placeholder: what they like best to write for nothing.
        ink: the character that covers others where something went wrong in the same way all over the table.
    """

    alphabet: Mapping[str, str] = field(default_factory=dict)
    numeric: bool = False
    accented: bool = False
    affix: tuple[str, str] = ("", " kg")
    placeholder: str = "N/A"
    ink: str = "?"


def pick(options: Sequence[str], dice: Dice) -> str:
    """One of several, uniformly; a string is its characters."""
    return options[int(dice() * len(options))]


@cache
def char_class(char: str) -> str:
    """Script and category, such as `CYRILLIC Ll`: what one character may be mistaken for another of."""
    return f"{unicodedata.name(char, '?').split(' ')[0]} {unicodedata.category(char)}"


def typo(text: str, dice: Dice, column: ColumnFacts) -> str:
    """Replace, drop, insert or swap one character, sometimes two."""
    made = text
    for _ in range(TRIES):
        if dice() < SMUDGED:
            made = _smudge(text, dice, column)
        else:
            made = _typo(text, dice, column)
            if len(text) >= 6 and dice() < SECOND:
                made = _typo(made, dice, column)
        if made != text and made.strip():
            return made
    return text + text[-1:]  # a key that was held too long


def _typo(text: str, dice: Dice, column: ColumnFacts) -> str:
    place = int(dice() * len(text))
    char = text[place]
    way = dice()
    if way < 0.4 or (len(text) == 1 and way < 0.7):
        return text[:place] + _wrong(char, dice, column) + text[place + 1 :]
    if way < 0.6:
        return text[:place] + text[place + 1 :]
    if way < 0.8:
        extra = char if dice() < 0.5 else _wrong(char, dice, column)
        return text[: place + 1] + extra + text[place + 1 :]
    return text[:place] + text[place + 1 : place + 2] + char + text[place + 2 :]


def _smudge(text: str, dice: Dice, column: ColumnFacts) -> str:
    """Replace up to three characters, in a short text fewer, by others of their class, or all by the table's ink."""
    made = list(text)
    covered = dice() < 0.5
    for _ in range(1 + int(dice() * min(3, 1 + len(text) // 4))):
        place = int(dice() * len(made))
        if covered and made[place].isascii():
            made[place] = column.ink
        elif not made[place].isspace() and (others := _others(made[place], dice, column).replace(made[place], "")):
            made[place] = pick(others, dice)
    return "".join(made)


def _wrong(char: str, dice: Dice, column: ColumnFacts) -> str:
    """What is typed for a character: a neighbouring key, or another character of its class."""
    if char.isspace():
        return char
    if char.isdigit() and char.isascii():
        layout = "pad" if dice() < 0.5 else "qwerty"
    else:
        way = dice()
        layout = "qwerty" if way < 0.6 else "qwertz" if way < 0.8 else "azerty"
    near = neighbours(char, layout) or neighbours(unicodedata.normalize("NFD", char)[0], layout)
    if near and dice() >= ARBITRARY:
        return pick(near, dice)
    others = _others(char, dice, column).replace(char, "") or near
    return pick(others, dice) if others else char


def _others(char: str, dice: Dice, column: ColumnFacts) -> str:
    """What a character may be mistaken for without a keyboard: its class, within ASCII sometimes any."""
    if not (char.isascii() and char.isalnum()):
        return column.alphabet.get(char_class(char), "")
    if dice() < 0.3:
        return ascii_lowercase + digits
    return digits if char.isdigit() else ascii_lowercase if char.islower() else ascii_uppercase


def case(text: str, dice: Dice, column: ColumnFacts) -> str:
    """Capitals lost, held, or in the wrong places."""
    letters = [place for place, char in enumerate(text) if char.upper() != char.lower()]
    if not letters:
        return text
    one = letters[int(dice() * len(letters))]
    ways = [
        text.upper(),
        text.lower(),
        text.title(),
        text.swapcase(),
        text[:one] + text[one].swapcase() + text[one + 1 :],
    ]
    return _first_other(text, ways, dice)


def _first_other(text: str, ways: Sequence[str], dice: Dice) -> str:
    """One of several ways that really changes the text, starting anywhere among them."""
    start = int(dice() * len(ways))
    for way in (*ways[start:], *ways[:start]):
        if way != text and way.strip():
            return way
    return text


def spacing(text: str, dice: Dice, column: ColumnFacts) -> str:
    """A space too many, too few, or of another sort."""
    inner = [place for place, char in enumerate(text) if char == " "]
    ways = [" " + text, text + " "]
    if len(text) > 1:
        cut = 1 + int(dice() * (len(text) - 1))
        ways.append(text[:cut] + " " + text[cut:])
    if inner:
        place = inner[int(dice() * len(inner))]
        ways += [text[:place] + instead + text[place + 1 :] for instead in ("", "  ", "\u00a0")]
    return _first_other(text, ways, dice)


def punctuation(text: str, dice: Dice, column: ColumnFacts) -> str:
    """A sign dropped, added, or changed."""
    signs = [match.start() for match in _PUNCTUATION.finditer(text)]
    spaces = [match.start() for match in re.finditer(r"(?<=\S) (?=\S)", text)]
    ways = [text + pick(".,;", dice), f'"{text}"']
    if len(text) > 1:
        cut = 1 + int(dice() * (len(text) - 1))
        ways.append(text[:cut] + pick(".,-'/", dice) + text[cut:])
    if spaces:
        place = spaces[int(dice() * len(spaces))]
        ways.append(text[:place] + pick("-_/", dice) + text[place + 1 :])
        ways.append(text[:place] + "," + text[place:])
    if signs:
        place = signs[int(dice() * len(signs))]
        # A real sign is lost or mistaken more often than one is invented.
        ways = [text[:place] + text[place + 1 :]] * 2 + [
            text[:place] + pick(".,-/;:' ", dice) + text[place + 1 :],
            text.replace(text[place], ""),
            *ways[:2],
        ]
    return _first_other(text, ways, dice)


def abbreviation(text: str, dice: Dice, column: ColumnFacts) -> str:
    """A word cut short, its vowels left out, or initials instead of words."""
    words = list(_WORD.finditer(text))
    ways = []
    if words:
        match = words[int(dice() * len(words))]
        word, rest = match.group(), text[match.end() :]
        short = word[: 1 + int(dice() * min(4, len(word) - 1))]
        bare = word[0] + re.sub("[aeiouAEIOU]", "", word[1:])
        ways = [text[: match.start()] + made + rest for made in (short, short + ".", bare)]
    initials = [part[0] for part in re.findall(r"[^\W\d_]+", text)]
    if len(initials) > 1:
        ways += ["".join(initials), ".".join(initials) + "."]
    return _first_other(text, ways, dice) if ways else text


def accent(text: str, dice: Dice, column: ColumnFacts) -> str:
    """Accents lost, another accent, or, in a column that has them, one too many."""
    parts = unicodedata.normalize("NFD", text)
    marks = [place for place, char in enumerate(parts) if unicodedata.category(char) == "Mn"]
    if marks:
        place = marks[int(dice() * len(marks))]
        bare = "".join(char for char in parts if unicodedata.category(char) != "Mn")
        ways = [bare, bare, parts[:place] + parts[place + 1 :]]
        if parts[place] in _MARKS:
            ways.append(parts[:place] + pick(_MARKS, dice) + parts[place + 1 :])
        return _first_other(text, [unicodedata.normalize("NFC", way) for way in ways], dice)
    places = [place for place, char in enumerate(text) if char.lower() in _ACCENTED]
    if not column.accented or not places:
        return text
    place = places[int(dice() * len(places))]
    mark = {"n": "\u0303", "c": "\u0327"}.get(text[place].lower()) or pick(_MARKS, dice)
    return unicodedata.normalize("NFC", text[: place + 1] + mark + text[place + 1 :])


def order(text: str, dice: Dice, column: ColumnFacts) -> str:
    """Words in another order: `A B` as `B, A` or `B A`, and `B, A` as `A B`."""
    words = text.replace(",", " ").split()
    if len(words) < 2 or not any(char.isalpha() for char in text) or len(text.split()) < 2:
        return text
    *first, last = words
    ways = [f"{last}, {' '.join(first)}", f"{last} {' '.join(first)}", " ".join([*words[1:], words[0]])]
    if "," in text:
        head, _, tail = text.partition(",")
        ways = [f"{tail.strip()} {head.strip()}", f"{tail.strip()}, {head.strip()}"]
    return _first_other(text, ways, dice)


def unit(text: str, dice: Dice, column: ColumnFacts) -> str:
    """A unit added to a number, lost or changed; `12` as `12.0`, `0721` as `721`."""
    match = _NUMBER.match(text)
    if match is None:
        return text
    number = match["number"]
    before, after = column.affix
    if dice() < 0.4:
        before, after = (pick(PREFIXES, dice), "") if dice() < 0.3 else ("", pick(AFFIXES, dice))
    ways = [before + number + after]
    if match["before"] or match["after"]:
        ways = [number, number, *ways]
    elif number.isdigit():
        ways = [*ways * 4, number + ".0", number.lstrip("0") or text]
    return _first_other(text, ways, dice)


def placeholder(text: str, dice: Dice, column: ColumnFacts) -> str:
    """What people write where they have nothing to write."""
    known = (*PLACEHOLDERS, *NUMBERS) if column.numeric else PLACEHOLDERS
    made = column.placeholder if dice() < 0.6 else pick(known, dice)
    return made if made != text else PLACEHOLDERS[PLACEHOLDERS[0] == text]


REWRITES: dict[str, Callable[[str, Dice, ColumnFacts], str]] = {
    "typo": typo,
    "case": case,
    "spacing": spacing,
    "punctuation": punctuation,
    "abbreviation": abbreviation,
    "accent": accent,
    "order": order,
    "unit": unit,
    "placeholder": placeholder,
}
"""The kinds that need no more than the text and its column."""
