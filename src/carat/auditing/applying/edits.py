"""One change of one cell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Edit:
    """One change of one cell.

    Args:
        row: row number from 0, the header not counted.
        column: place of the column in the table, from 0.
        before: what must stand there for the change to be made; None for a blank cell.
        after: what is put there; None or "" leaves the cell blank.
    """

    row: int
    column: int
    before: str | None
    after: str | None
