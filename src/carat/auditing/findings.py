"""What an audit finds: suspicious cells, each with a kind, a proposal and a reason, and a line about every column."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

Role = Literal["voted", "text", "left out"]
KINDS = ("typo", "variant", "format", "misplaced", "mismatch", "missing")


@dataclass(frozen=True)
class ColumnReport:
    """What became of a column.

    Args:
        name: of the column.
        role: `voted` where similar rows vote on it, `text` where only its text is checked, or `left out`.
        why: for a column that is left out or checked as text alone, in a few words; else empty.
        values: how many different values it has.
        blank: how many of its cells are blank.
        suspicious: how many of its cells were found.
        foretold: how often the vote of the other rows names the value in the cell, 0..1; NaN where none votes.
    """

    name: str
    role: Role
    why: str = ""
    values: int = 0
    blank: int = 0
    suspicious: int = 0
    foretold: float = float("nan")


@dataclass(frozen=True)
class LearnedPattern:
    """A rewrite that decided cells of a column ask for.

    Args:
        column: name of the column.
        rewrite: what it does, in words.
        decided: how many decided cells ask for it.
        cells: how many cells it changes in all.
        number: by which it can be left out.
    """

    column: str
    rewrite: str
    decided: int
    cells: int
    number: int = 0

    @property
    def name(self) -> str:
        """By which it can be left out, too."""
        return f"{self.column}: {self.rewrite}"


@dataclass(frozen=True)
class Findings:
    """Suspicious cells, the most suspicious first, and the columns of the table.

    Args:
        row: row numbers, int64 [f].
        column: column numbers, as in `columns`, int64 [f].
        kind: one of `KINDS` each, [f].
        error: the probability that the cell is wrong, float64 [f].
        proposal: what should be there, [f]; None where nothing is proposed, "" for an empty cell.
        confidence: the probability that the proposal is right, float64 [f]; 0 where there is none.
        alternatives: other values that might be right, best first, [f].
        reason: in words, [f].
        group: cells that are fixed together share a number, int64 [f]; −1 for a cell by itself.
        columns: every column of the table, in order.
        rate: the estimated share of wrong cells among those looked at.
        decision: what was decided before, [f]; empty for cells nobody decided.
        patterns: rewrites that decided cells ask for, each with how many cells it changes.
        contested: columns in which so many cells differ from similar rows that it may be choice, with how many.
    """

    row: np.ndarray
    column: np.ndarray
    kind: list[str]
    error: np.ndarray
    proposal: list[str | None]
    confidence: np.ndarray
    alternatives: list[list[str]]
    reason: list[str]
    group: np.ndarray
    columns: tuple[ColumnReport, ...]
    rate: float = float("nan")
    decision: list[str] = field(default_factory=list)
    patterns: tuple[LearnedPattern, ...] = ()
    contested: tuple[tuple[str, int], ...] = ()

    def __len__(self) -> int:
        return len(self.row)

    def take(self, places: np.ndarray) -> Findings:
        """The cells at these places, in this order, int64 [g]; what is said of the columns stays."""
        at = places.tolist()
        return replace(
            self,
            row=self.row[places],
            column=self.column[places],
            kind=[self.kind[i] for i in at],
            error=self.error[places],
            proposal=[self.proposal[i] for i in at],
            confidence=self.confidence[places],
            alternatives=[self.alternatives[i] for i in at],
            reason=[self.reason[i] for i in at],
            group=self.group[places],
            decision=[self.decision[i] for i in at] if self.decision else [],
        )

    def top(self, count: int) -> Findings:
        """The so many most suspicious cells; those fixed together stay together, so there may be a few more."""
        if len(self) <= count:
            return self
        groups = self.group[:count]
        kept = np.isin(self.group, groups[groups >= 0])
        kept[:count] = True
        return self.take(np.flatnonzero(kept))
