"""A suspicious cell in words, the same in print, on a terminal and in a notebook."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from carat.data.text import visible

if TYPE_CHECKING:
    from carat.auditing.result import Cell


def many(count: int, one: str) -> str:
    """A count and what is counted.

    >>> many(1, "row"), many(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def counted(kind: str, count: int) -> str:
    """How many cells hold a kind of error.

    >>> counted("typo", 8), counted("mismatch", 2), counted("format", 1), counted("missing", 14)
    ('8 typos', '2 mismatches', '1 wrong format', '14 missing')
    """
    one = "wrong format" if kind == "format" else kind
    more = "" if kind in ("misplaced", "missing") else "es" if kind == "mismatch" else "s"
    return f"{count:,} {one}{'' if count == 1 else more}"


def share(probability: float) -> str:
    """A probability as a percentage that never claims certainty.

    >>> share(0.5), share(0.987), share(0.9999), share(0.001)
    ('50%', '99%', '>99%', '<1%')
    """
    if probability >= 0.995:
        return ">99%"
    return "<1%" if probability < 0.005 else f"{100 * probability:.0f}%"


def blank_or(text: str | None) -> str:
    """What a cell holds, to be read: an empty one is called blank, and spaces that nobody would see are drawn.

    >>> blank_or(""), blank_or("Leith "), blank_or("New  York"), blank_or("New York")
    ('blank', 'Leith␠', 'New␠␠York', 'New York')
    """
    return visible(text) if text else "blank"


def spaces(text: str) -> list[str]:
    """What is odd about the spaces of a text, in words.

    >>> spaces("Leith "), spaces("  New  York"), spaces("Leith")
    (['it has an extra space at the end'], ['it has 2 extra spaces at the start', 'it has a double space'], [])
    """
    found = []
    for count, where in ((len(text) - len(text.lstrip()), "start"), (len(text) - len(text.rstrip()), "end")):
        if count and text.strip():
            found.append(f"it has {'an extra space' if count == 1 else f'{count} extra spaces'} at the {where}")
    if re.search(r"\s\s", text.strip()):
        found.append("it has a double space")
    return found


def misspelling(value: str, meant: str, apart: int) -> str:
    """How a value differs from what was meant, in words.

    >>> misspelling("Chnia", "China", 1), misspelling("Chna", "China", 1), misspelling("Chinaa", "China", 1)
    ('two letters are swapped', 'one letter is missing', 'there is one letter too many')
    >>> misspelling("98102", "98101", 1), misspelling("Chima", "China", 1), misspelling("Kinaa", "China", 3)
    ('one digit is different', 'one letter is different', 'it is 3 letters away')

    Args:
        value: what stands there.
        meant: what was meant.
        apart: how many letters to replace, insert, drop or swap with the next.
    """
    start = 0
    while start < min(len(value), len(meant)) and value[start] == meant[start]:
        start += 1
    end = 0
    while end < min(len(value), len(meant)) - start and value[-1 - end] == meant[-1 - end]:
        end += 1
    old, new = value[start : len(value) - end], meant[start : len(meant) - end]
    signs = old + new
    sort = "letter" if signs.isalpha() else "digit" if signs.isdigit() else "character"
    if apart > 1:
        return f"it is {apart} {sort}s away"
    if len(old) == 2:
        return f"two {sort}s are swapped"
    if not old:
        return f"one {sort} is missing"
    return f"there is one {sort} too many" if not new else f"one {sort} is different"


def verdict(cell: Cell) -> str:
    """What is wrong, how surely, and how sure its fix is.

    >>> from carat.auditing.result import Cell
    >>> verdict(Cell(3, "City", "Leeds", "typo", 0.97, "Leith", 0.9, (), "", None))
    'typo, 97% likely wrong, fix 90% likely right'
    """
    fix = "" if cell.proposal is None else f", fix {share(cell.confidence)} likely right"
    return f"{cell.kind}, {share(cell.error)} likely wrong{fix}"


def cell_in_words(cell: Cell) -> str:
    """A line on what stands there and what should, and a line on why.

    >>> from carat.auditing.result import Cell
    >>> print(cell_in_words(Cell(3, "City", "Leeth", "typo", 0.97, "Leith", 0.9, ("Leeds",), "One letter away.", None)))
    Row 3, City: Leeth → Leith (typo, 97% likely wrong, fix 90% likely right)
      One letter away. Or: Leeds.
    """
    fix = "" if cell.proposal is None else f" → {blank_or(cell.proposal)}"
    line = f"Row {cell.record}, {cell.column}: {blank_or(cell.value)}{fix} ({verdict(cell)})"
    listed = ", ".join(blank_or(text) for text in cell.alternatives)
    others = f"{instead(cell)}: {listed}." if listed else ""
    why = " ".join(part for part in (sentence(cell.reason), others) if part)
    return f"{line}\n  {why}" if why else line


def instead(cell: Cell) -> str:
    """What stands before the other values that might be right."""
    return "Perhaps" if cell.proposal is None else "Or"


def sentence(reason: str) -> str:
    """A reason, ended by a full stop."""
    return reason if not reason or reason.endswith((".", "!", "?", "…")) else f"{reason}."
