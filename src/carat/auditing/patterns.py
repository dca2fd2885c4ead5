"""Patterns: what a fix does to the text of a value, by a name that equal rewrites of other values share."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 40
"""Signs that a pattern may drop, add or replace: more is no unit and no habit."""


def pattern_of(value: str | None, proposal: str | None) -> str | None:
    """The rewrite that leads from a value to its fix, in words; None where it is particular to this value.

    >>> pattern_of("12 oz", "12"), pattern_of("$5", "5"), pattern_of("LEITH", "Leith")
    ("drop ' oz' at the end", "drop '$' at the start", 'change upper to lower case')
    >>> pattern_of("1,200", "1200"), pattern_of("2024/05", "2024-05"), pattern_of("N/A", "")
    ("drop ','", "write '-' for '/'", "leave 'N/A' blank")
    >>> pattern_of("Lieth", "Leith") is None
    True
    """
    if not value or proposal is None or value == proposal:
        return None
    if proposal == "":
        return f"leave '{value}' blank" if len(value) <= LONGEST else None
    named = (_spacing, _case, _accents, _zeros, _ends, _signs, _word, _order)
    return next((found for name in named if (found := name(value, proposal)) is not None), None)


def _spacing(value: str, proposal: str) -> str | None:
    """Only white space differs."""
    if "".join(value.split()) != "".join(proposal.split()):
        return None
    if value.strip() == proposal:
        return "drop spaces at the ends"
    if " ".join(value.split()) == proposal:
        return "drop spaces too many"
    if len(proposal.split()) > len(value.split()):
        return "put spaces between"
    return "drop spaces between"


def _case(value: str, proposal: str) -> str | None:
    """Only capitals differ."""
    if value.casefold() != proposal.casefold():
        return None
    if proposal.isupper():
        return "change to upper case"
    if proposal.islower():
        return "change to lower case"
    return "change upper to lower case" if value.isupper() else "change capitals"


def _accents(value: str, proposal: str) -> str | None:
    """Only accents differ."""
    if _bare(value) != _bare(proposal):
        return None
    return "add accents" if _bare(value) == value else "drop accents" if _bare(proposal) == proposal else None


def _bare(text: str) -> str:
    return "".join(sign for sign in unicodedata.normalize("NFD", text) if not unicodedata.combining(sign))


def _zeros(value: str, proposal: str) -> str | None:
    """Only zeros in front differ, in a number."""
    if not (value.isascii() and value.isdigit() and proposal.isascii() and proposal.isdigit()):
        return None
    if value.lstrip("0") != proposal.lstrip("0"):
        return None
    return "drop zeros in front" if len(value) > len(proposal) else "add zeros in front"


def _ends(value: str, proposal: str) -> str | None:
    """Something is put before or after the text, or taken away there."""
    long, short, verb = (value, proposal, "drop") if len(value) > len(proposal) else (proposal, value, "add")
    if len(long) - len(short) > LONGEST:
        return None
    if long.startswith(short) and _edge(long, len(short)):
        return f"{verb} '{long[len(short) :]}' at the end"
    if long.endswith(short) and _edge(long, len(long) - len(short)):
        return f"{verb} '{long[: len(long) - len(short)]}' at the start"
    return None


def _edge(text: str, place: int) -> bool:
    """Whether one sort of signs ends and another begins there: within a word or a number, a sign is a slip."""
    return _sort(text[place - 1]) != _sort(text[place])


def _sort(sign: str) -> str:
    return "digit" if sign.isdigit() else "letter" if sign.isalpha() else "other"


def _signs(value: str, proposal: str) -> str | None:
    """One sign of punctuation is dropped, added or replaced wherever it stands."""
    gone = {sign for sign in value if value.count(sign) > proposal.count(sign)}
    come = {sign for sign in proposal if proposal.count(sign) > value.count(sign)}
    if any(sign.isalnum() for sign in gone | come) or len(gone) > 1 or len(come) > 1:
        return None
    old, new = "".join(gone), "".join(come)
    if old and value.replace(old, new) == proposal:
        return f"write '{new}' for '{old}'" if new else f"drop '{old}'"
    if new and not old and proposal.replace(new, "") == value:
        return f"add '{new}'"
    return None


def _word(value: str, proposal: str) -> str | None:
    """One word of several is written in another way: shorter, longer, or by another one that begins alike."""
    mine, theirs = value.split(" "), proposal.split(" ")
    if len(mine) != len(theirs) or len(mine) < 2:
        return None
    changed = [(old, new) for old, new in zip(mine, theirs, strict=True) if old != new]
    if len(set(changed)) != 1:
        return None
    old, new = changed[0]
    short, long = sorted((old.rstrip("."), new.rstrip(".")), key=len)
    # A slip of a letter or two is no habit; St for Street is.
    short_form = len(long) - len(short) > 1 and short[:1].casefold() == long[:1].casefold() and _within(short, long)
    return f"write '{new}' for '{old}'" if short and short_form and len(long) <= LONGEST else None


def _within(short: str, long: str) -> bool:
    """Whether all signs of one text stand in the other, in that order."""
    rest = iter(long.casefold())
    return all(sign in rest for sign in short.casefold())


def _order(value: str, proposal: str) -> str | None:
    """The same words or numbers in another order."""
    mine, theirs = re.findall(r"\w+", value), re.findall(r"\w+", proposal)
    if len(mine) < 2 or mine == theirs or sorted(mine) != sorted(theirs):
        return None
    return "change the order of the parts"
