"""Rewrites learned from decided cells: what a person did to a few values of a column, done to the others like them.

A rewrite counts where at least two decided cells ask for it and no cell that was decided to be right speaks against it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from carat.auditing.patterns import pattern_of
from carat.auditing.splitting import Split
from carat.errors import InputError, nearest

Rewrite = Callable[[str], str | None]
"""From a value to what should be there; None where it does not apply."""
FEWEST = 2
"""Decided cells that must ask for a rewrite."""
_NUMBER = re.compile(r"[^\d+-]*([+-]?\d+(?:\.\d+)?)(?!\d|[.,]\d)")
_AT_END = re.compile(r"(drop|add) '(.*)' at the (end|start)\Z", re.DOTALL)
_FOR = re.compile(r"write '(.)' for '(.)'\Z", re.DOTALL)
_SIGN = re.compile(r"drop '(.)'\Z", re.DOTALL)


@dataclass(frozen=True)
class Program:
    """A rewrite of the values of one column.

    Args:
        name: what it does, in words.
        rewrite: does it.
        rank: what is preferred where several would do: the more general the lower.
    """

    name: str
    rewrite: Rewrite
    rank: int = 0


@dataclass(frozen=True)
class Pattern:
    """A rewrite that decided cells of a column ask for.

    Args:
        column: place of the column.
        program: the rewrite.
        asked: how many decided cells ask for it.
        number: by which it can be named, from 1, among all that the decisions ask for.
        split: where the end of a value is cut off because it belongs into another column, how; None for the rest.
    """

    column: int
    program: Program
    asked: int
    number: int = 0
    split: Split | None = None

    @property
    def sure(self) -> float:
        """How probably it is right for another cell, by the rule of succession."""
        return (self.asked + 1) / (self.asked + 2)


def learned(column: int, changed: Sequence[tuple[str, str]], right: Sequence[str]) -> list[Pattern]:
    """Rewrites of a column, those that more decided cells ask for first.

    Args:
        column: its place.
        changed: values that were decided to be wrong, each with what should be there ("" for nothing).
        right: values that were decided to be right.
    """
    programs = {program.name: program for before, after in changed for program in programs_of(before, after)}
    found = []
    for program in programs.values():
        made = [(program.rewrite(before), after) for before, after in changed]
        asked = sum(text == after for text, after in made)
        against = sum(text is not None and text != after for text, after in made)
        against += sum(program.rewrite(value) not in (None, value) for value in right)
        if asked >= FEWEST and not against:
            found.append(Pattern(column, program, asked))
    return sorted(found, key=lambda pattern: (-pattern.asked, pattern.program.rank, pattern.program.name))


def check_without(names: Sequence[str | int]) -> tuple[str, ...]:
    """Names of patterns as a tuple of texts; one text alone is refused, as its letters would count as names."""
    if isinstance(names, str):
        raise InputError(f"`without_patterns` must be a list of names, got '{names}'; write [\"{names}\"]")
    if not isinstance(names, Iterable):
        raise InputError(f"`without_patterns` must be a list of names, got {names!r}")
    return tuple(map(str, names))


def chosen(patterns: Sequence[Pattern], columns: Sequence[str], without: Sequence[str]) -> list[Pattern]:
    """Patterns without those that somebody named.

    Args:
        patterns: all of them.
        columns: the names of the table's columns.
        without: names such as `City: drop ' kg' at the end`, or numbers.
    """
    names = {f"{columns[one.column]}: {one.program.name}": one.number for one in patterns}
    gone = set()
    for name in map(str, without):
        number = names.get(name, int(name) if name.isdecimal() and len(name) < 10 else 0)
        if number not in names.values():
            there = [f"{number} {name}" for name, number in names.items()]
            hint = nearest("", there, listed="there are") if there else "the decisions ask for none"
            raise InputError(f"`without_patterns`: no pattern '{name}'; {hint}")
        gone.add(number)
    return [one for one in patterns if one.number not in gone]


def programs_of(before: str, after: str) -> Iterator[Program]:
    """Rewrites that lead from one text to the other.

    >>> [program.name for program in programs_of("12.0 oz", "12")]
    ['keep the number alone', "drop '.0 oz' at the end", "write '12' for '12.0 oz'"]
    """
    if _number_alone(before) == after:
        yield Program("keep the number alone", _number_alone)
    if before.isdigit() and len(after) > len(before) and before.zfill(len(after)) == after:
        yield Program(f"add zeros in front, up to {len(after)} digits", _filled_up(len(after)))
    name = pattern_of(before, after)
    if name is not None:
        rewrite = _rewrite(name)
        if rewrite is not None and rewrite(before) == after:
            yield Program(name, rewrite, 1)
    whole = f"write '{after}' for '{before}'" if after else f"leave '{before}' blank"
    yield Program(whole, lambda value: after if value == before else None, 2)


def _filled_up(digits: int) -> Rewrite:
    return lambda value: value.zfill(digits) if value.isdigit() and len(value) < digits else None


def nothing(value: str) -> str | None:
    """The rewrite of a pattern that can't go by the value alone."""
    return None


def _number_alone(value: str) -> str | None:
    """The number that a text begins with, as short as it can be written.

    >>> _number_alone("12.0 oz. can"), _number_alone("0.055999999999999994%"), _number_alone("$5")
    ('12', '0.056', '5')
    >>> _number_alone("no number") is None, _number_alone("1.2.3") is None
    (True, True)
    """
    match = _NUMBER.match(value)
    if match is None or len(re.findall(r"\d+(?:\.\d+)?", value)) > 1:
        return None
    if match[1].lstrip("+-").startswith("0") and "." not in match[1] and len(match[1]) > 1:
        return None  # a code, not a number
    return f"{float(match[1]):.6g}" if abs(float(match[1])) < 1e6 else match[1]


def _rewrite(name: str) -> Rewrite | None:
    """The rewrite that `pattern_of` calls by this name; None for those that can't be done to any other value."""
    if name in _PLAIN:
        return _PLAIN[name]
    if (found := _AT_END.match(name)) is not None:
        return _at_end(found[1] == "add", found[2], found[3] == "end")
    if (found := _FOR.match(name)) is not None:
        new, old = found[1], found[2]
        return lambda value: value.replace(old, new) if old in value else None
    if (found := _SIGN.match(name)) is not None:
        sign = found[1]
        return lambda value: value.replace(sign, "") if sign in value else None
    return None


def _at_end(add: bool, text: str, end: bool) -> Rewrite:
    def rewrite(value: str) -> str | None:
        has = value.endswith(text) if end else value.startswith(text)
        if add:
            return None if has else value + text if end else text + value
        if not has or len(value) == len(text):
            return None
        return value[: -len(text)] if end else value[len(text) :]

    return rewrite


def _unless_same(change: Callable[[str], str]) -> Rewrite:
    def rewrite(value: str) -> str | None:
        made = change(value)
        return made if made != value else None

    return rewrite


_PLAIN: dict[str, Rewrite] = {
    "drop spaces at the ends": _unless_same(str.strip),
    "drop spaces too many": _unless_same(lambda value: " ".join(value.split())),
    "change to upper case": _unless_same(str.upper),
    "change to lower case": _unless_same(str.lower),
    "change upper to lower case": _unless_same(lambda value: value.title() if value.isupper() else value),
    "drop zeros in front": _unless_same(lambda value: value.lstrip("0") or "0" if value.isdigit() else value),
}
