"""A suspicious cell in words, the same in print, on a terminal and in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from carat.auditing.result import Cell


def many(count: int, one: str) -> str:
    """A count and what is counted.

    >>> many(1, "row"), many(1_200, "row")
    ('1 row', '1,200 rows')
    """
    return f"{count:,} {one}{'' if count == 1 else 's'}"


def share(probability: float) -> str:
    """A probability as a percentage that never claims certainty.

    >>> share(0.5), share(0.987), share(0.9999), share(0.001)
    ('50%', '99%', '>99%', '<1%')
    """
    if probability >= 0.995:
        return ">99%"
    return "<1%" if probability < 0.005 else f"{100 * probability:.0f}%"


def blank_or(text: str | None) -> str:
    """What a cell holds, to be read: an empty one is called blank."""
    return "blank" if text is None or text == "" else text


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
    others = f"Or: {', '.join(blank_or(text) for text in cell.alternatives)}." if cell.alternatives else ""
    why = " ".join(part for part in (sentence(cell.reason), others) if part)
    return f"{line}\n  {why}" if why else line


def sentence(reason: str) -> str:
    """A reason, ended by a full stop."""
    return reason if not reason or reason.endswith((".", "!", "?", "…")) else f"{reason}."
