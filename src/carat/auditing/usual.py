"""The table with every value in the usual form of its column, so that what says the same counts as the same.

`05/14/2024 7:18PM` in a column of times says `7:18 p.m.`, and `ZÃ¼rich` says `Zürich`. Such a cell is wrong in its
form, and that is certain; whether it is also wrong in what it says is for the other rows to judge. They vote on the
table in its usual form, and in that form the cell has its vote on them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from carat.auditing.proposals import ALTERNATIVES, Proposed
from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.trust import REWRITTEN
from carat.data.spelling import Affixes, amounts, codes, decoded, figures, moments

FORM = 0.99
"""How probably a cell is wrong whose form is not its column's."""
WAYS = (decoded, moments, amounts, figures, codes)
"""Rewrites that leave what a value says as it is."""
TIMES = 2
"""A value may need two of them: `$1,200.00` for `1200.00`."""
OPEN = 0.1
"""What a cell says is open to doubt from this probability on that it is wrong."""


@dataclass(frozen=True)
class Usual:
    """A table in its usual form, and what had another one.

    Args:
        raw: the table as it came.
        table: the same with values in the usual form.
        text: for every column what each raw value becomes, [V]; None where it stays.
        pattern: what was done to it, [V].
    """

    raw: AuditTable
    table: AuditTable
    text: tuple[tuple[str | None, ...], ...]
    pattern: tuple[tuple[str | None, ...], ...]

    @classmethod
    def of(cls, raw: AuditTable, places: Sequence[int]) -> Usual:
        """Of a table, in the columns at these places; what came as numbers or times has no form of its own."""
        columns, texts, patterns = list(raw.columns), [], []
        for place, column in enumerate(raw.columns):
            found = Affixes([None] * len(column.values), [None] * len(column.values))
            if place in places and not column.typed:
                found = _rewritten(column)
                columns[place] = _in_form(column, found.text)
            texts.append(tuple(found.text))
            patterns.append(tuple(found.pattern))
        return cls(raw, AuditTable(tuple(columns), raw.rows), tuple(texts), tuple(patterns))

    def odd(self, places: Sequence[int]) -> np.ndarray:
        """Which cells of these columns had another form, bool [n, c]."""
        found = np.zeros((self.raw.rows, len(places)), dtype=bool)
        for number, place in enumerate(places):
            by_code = np.array([text is not None for text in (*self.text[place], None)], dtype=bool)
            found[:, number] = by_code[self.raw.columns[place].codes]
        return found

    def rewrite(self, row: int, place: int) -> tuple[str | None, str | None]:
        """What a cell becomes in the usual form, and what is done to it; None where it has that form."""
        code = int(self.raw.columns[place].codes[row])
        return (None, None) if code < 0 else (self.text[place][code], self.pattern[place][code])

    def proposals(
        self, proposed: Proposed, confidence: np.ndarray, said_wrong: np.ndarray, places: Sequence[int], cut: float
    ) -> tuple[Proposed, np.ndarray]:
        """Proposals and how sure they are, [k], with the usual form for cells that are wrong in nothing else.

        Args:
            proposed: what belongs there if what the cells say is wrong.
            confidence: how sure that is.
            said_wrong: the probability that what the cells say is wrong, [k].
            places: of the columns that take part.
            cut: from which probability on it is.
        """
        texts, others, sure = list(proposed.text), list(proposed.others), confidence.copy()
        for k in np.flatnonzero(said_wrong < cut).tolist():
            text, _ = self.rewrite(int(proposed.row[k]), places[int(proposed.number[k])])
            if text is None:
                continue
            voted = [other for other in (texts[k], *others[k]) if other and other != text]
            others[k] = voted[:ALTERNATIVES] if said_wrong[k] >= OPEN else []
            texts[k], sure[k] = text, REWRITTEN * (1 - said_wrong[k])
        return replace(proposed, text=texts, others=others), sure


def _rewritten(column: AuditColumn) -> Affixes:
    """Every value in the column's usual form; None where it has that form, and what was done to it."""
    now = list(column.values)
    pattern: list[str | None] = [None] * len(now)
    for _ in range(TIMES):
        changed = False
        for way in WAYS:
            made = way(now, column.counts)
            for place, new in enumerate(made.text):
                if new is not None:
                    now[place], pattern[place], changed = new, pattern[place] or made.pattern[place], True
        if not changed:
            break
    text: list[str | None] = [new if new != old else None for new, old in zip(now, column.values, strict=True)]
    done = [how if new is not None else None for new, how in zip(text, pattern, strict=True)]
    return Affixes(text, done)


def _in_form(column: AuditColumn, rewritten: Sequence[str | None]) -> AuditColumn:
    """The column with the rewritten values, values that have become one merged."""
    if not any(text is not None for text in rewritten):
        return column
    texts = [new if new is not None else old for new, old in zip(rewritten, column.values, strict=True)]
    number: dict[str, int] = {}
    first = np.array([number.setdefault(text, len(number)) for text in texts], dtype=np.int64)
    values = list(number)
    counts = np.bincount(first, weights=column.counts, minlength=len(values)).astype(np.int64)
    order = sorted(range(len(values)), key=lambda i: (-counts[i], values[i]))
    place = np.empty(len(values), dtype=np.int32)
    place[order] = np.arange(len(values), dtype=np.int32)
    codes = np.append(place[first], np.int32(-1))[column.codes]
    return replace(column, values=tuple(values[i] for i in order), counts=counts[order], codes=codes)
