"""Names, colours and widths of a workbook of findings."""

from __future__ import annotations

from typing import Any

FINDINGS, READ_ME, TABLE = "Findings", "Read me", "Table"
SECOND = " (carat)"
"""Follows the name of a sheet where the workbook has one of that name already."""
COLUMNS = (
    "record",
    "column",
    "value",
    "kind",
    "error",
    "proposal",
    "confidence",
    "alternatives",
    "reason",
    "group",
    "decision",
)
"""Of the list, as in every file of findings."""
WIDTHS = {
    "record": 10,
    "column": 16,
    "value": 24,
    "kind": 12,
    "error": 9,
    "proposal": 24,
    "confidence": 13,
    "alternatives": 24,
    "reason": 64,
    "group": 9,
    "decision": 18,
}
CERTAINTY = (
    (0.9, "F3BDA6", "90% or more likely wrong"),
    (0.7, "F9DCC4", "70% or more"),
    (0.0, "FFF3CF", "less than 70%"),
)
"""From which probability on a cell has which colour, and how that is called."""
ASKED = "FFFBE6"
"""Of the cells that a person fills in."""
DECISIONS = (
    ("accept", "take the suggested fix"),
    ("reject", "the value is right: leave it"),
    ("wrong", "the value is wrong, but you don't know the right one: leave it"),
    ("=text", "put this text there instead, for example =Berlin"),
)


def fill(colour: str) -> Any:
    """A plain ground of this colour."""
    from openpyxl.styles import PatternFill  # noqa: PLC0415 - optional

    return PatternFill("solid", fgColor=colour)


def fills() -> list[tuple[float, Any]]:
    """The grounds of suspicious cells, each with the probability from which on it is used."""
    return [(least, fill(colour)) for least, colour, _ in CERTAINTY]


def ground(error: float, grounds: list[tuple[float, Any]]) -> Any:
    """The ground of a cell that is wrong with this probability."""
    return next(made for least, made in grounds if error >= least)


def free_name(book: Any, name: str) -> str:
    """A name for a sheet of ours that no other sheet has; Excel takes no account of case."""
    taken = {title.casefold() for title in book.sheetnames}
    if name.casefold() not in taken:
        return name
    name += SECOND
    return name if name.casefold() not in taken else free_name(book, name)
