"""What is decided already has the last word: over the judge, over proposals, and over what is shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from carat.auditing.findings import LearnedPattern
from carat.auditing.programs import Pattern
from carat.auditing.proposals import Proposed
from carat.auditing.signals import Eyes
from carat.auditing.table import AuditTable
from carat.auditing.teaching import Taught

SURE = 0.999
"""How probably a cell is wrong that somebody decided to be, and its new value right."""


@dataclass(frozen=True)
class Decided:
    """Decisions and the rewrites learned from them, for the columns that take part.

    Args:
        eyes: on the table.
        table: as it came; decisions are about that.
        taught: what was decided; None for nothing.
        rewritten: for each column that takes part the text that every value becomes, or None, [V].
        sure: how probably that is right, [V].
        patterns: where the texts come from, as [V] numbers of `made`; −1 for none.
        made: all rewrites.
        cells: by row and number of the column, what single cells become, with the number of `made`: those of splits,
            which go by more than the value.
    """

    eyes: Eyes
    table: AuditTable
    taught: Taught | None
    rewritten: tuple[list[str | None], ...]
    sure: tuple[np.ndarray, ...]
    patterns: tuple[np.ndarray, ...]
    made: tuple[Pattern, ...]
    cells: Mapping[tuple[int, int], tuple[str, int]]

    @classmethod
    def of(cls, eyes: Eyes, table: AuditTable, taught: Taught | None, patterns: Sequence[Pattern]) -> Decided:
        """The rewrite that most decided cells ask for comes first."""
        rewritten, sure, which = [], [], []
        for place in eyes.plan.places:
            values = table.columns[place].values
            texts: list[str | None] = [None] * len(values)
            certain, number = np.zeros(len(values)), np.full(len(values), -1, dtype=np.int64)
            for k, pattern in enumerate(patterns):
                if pattern.column != place:
                    continue
                for code, value in enumerate(values):
                    made = pattern.program.rewrite(value) if texts[code] is None else None
                    if made is not None and made != value:
                        texts[code], certain[code], number[code] = made, pattern.sure, k
            rewritten.append(texts)
            sure.append(certain)
            which.append(number)
        cells = _split(eyes, table, patterns)
        return cls(eyes, table, taught, tuple(rewritten), tuple(sure), tuple(which), tuple(patterns), cells)

    def error(self, error: np.ndarray) -> np.ndarray:
        """Probabilities that cells are wrong, [n, c], with what was decided."""
        found: np.ndarray = error.copy()
        for number, place in enumerate(self.eyes.plan.places):
            by_code = np.append(self.sure[number], 0.0)
            found[:, number] = np.maximum(found[:, number], by_code[self.table.columns[place].codes])
        for (row, number), (_, k) in self.cells.items():
            found[row, number] = max(found[row, number], self.made[k].sure)
        if self.taught is not None:
            number_of = {place: k for k, place in enumerate(self.eyes.plan.places)}
            for row, place, wrong in zip(self.taught.row, self.taught.column, self.taught.wrong, strict=True):
                if int(place) in number_of:
                    found[row, number_of[int(place)]] = SURE if wrong else 0.0
        return found

    def proposals(self, proposed: Proposed, confidence: np.ndarray) -> tuple[Proposed, np.ndarray]:
        """Proposals and how sure they are, [k], with rewrites and decided values in place of guesses."""
        texts, sure = list(proposed.text), confidence.copy()
        for k, (row, number) in enumerate(zip(proposed.row.tolist(), proposed.number.tolist(), strict=True)):
            place = self.eyes.plan.places[number]
            code = int(self.table.columns[place].codes[row])
            if code >= 0 and (text := self.rewritten[number][code]) is not None:
                # Where the audit says the same, the decisions bear it out: they make it no less sure.
                known = sure[k] if texts[k] == text else 0.0
                texts[k], sure[k] = text, max(known, self.sure[number][code])
            if (row, number) in self.cells:
                texts[k], pattern = self.cells[row, number]
                sure[k] = self.made[pattern].sure
            at = None if self.taught is None else self.taught.at(row, place)
            if self.taught is not None and at is not None and self.taught.wrong[at]:
                truth = self.taught.truth[at]
                texts[k], sure[k] = (truth, SURE) if truth is not None else (texts[k], min(sure[k], 0.5))
        return replace(proposed, text=texts), sure

    def said(self, row: np.ndarray, number: np.ndarray) -> list[str]:
        """What was decided about cells, [k]; empty where nothing was."""
        if self.taught is None:
            return [""] * len(row)
        places = self.eyes.plan.places
        found = [self.taught.at(r, places[n]) for r, n in zip(row.tolist(), number.tolist(), strict=True)]
        return ["" if at is None else self.taught.said[at] for at in found]

    def shown(self, proposed: Proposed) -> np.ndarray:
        """Places of the cells to show, [g]: all but those that were rejected before, here or in another table."""
        if self.taught is None or not self.taught.rejected:
            return np.arange(len(proposed.row))
        kept = []
        for k, (row, number) in enumerate(zip(proposed.row.tolist(), proposed.number.tolist(), strict=True)):
            column = self.table.columns[self.eyes.plan.places[number]]
            code = int(column.codes[row])
            content = (column.name, None if code < 0 else column.values[code], proposed.text[k])
            if content not in self.taught.rejected:
                kept.append(k)
        return np.array(kept, dtype=np.int64)

    def learned(self) -> tuple[LearnedPattern, ...]:
        """Every rewrite, with how many cells it changes."""
        found = []
        for k, pattern in enumerate(self.made):
            column = self.table.columns[pattern.column]
            if pattern.column not in self.eyes.plan.places:
                continue
            number = self.eyes.plan.places.index(pattern.column)
            mine = np.append(self.patterns[number] == k, False)[column.codes]
            mine[[row for row, place in self.cells if place == number]] = False
            cells = int(mine.sum()) + sum(made == k for _, made in self.cells.values())
            if cells:
                found.append(LearnedPattern(column.name, pattern.program.name, pattern.asked, cells, pattern.number))
        return tuple(found)


def _split(eyes: Eyes, table: AuditTable, patterns: Sequence[Pattern]) -> dict[tuple[int, int], tuple[str, int]]:
    """What the cells of splits become, by row and number of the column, and by which pattern; the first one counts."""
    number = {place: k for k, place in enumerate(eyes.plan.places)}
    found: dict[tuple[int, int], tuple[str, int]] = {}
    for k, pattern in enumerate(patterns):
        if pattern.split is None or pattern.column not in number:
            continue
        for row, head, end in pattern.split.cells(table, pattern.column):
            # What is cut off here must be written there, or it would be lost.
            if end is not None and pattern.split.other not in number:
                continue
            found.setdefault((row, number[pattern.column]), (head, k))
            if end is not None:
                found.setdefault((row, number[pattern.split.other]), (end, k))
    return found
