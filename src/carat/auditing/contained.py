"""Columns whose values are written into those of another: an e-mail with the name, a code with the state in front.

Such a value may be new and still be right: it says what the rest of the row says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from carat.auditing.table import AuditTable

SAMPLE = 2_000
"""Rows in which relations are looked for."""
USUAL = 0.7
"""Share of rows in which a value must hold the other."""
CLOSED, SELDOM, MANY = 0.8, 0.01, 20
"""A column's values are little else than what they hold where at most so many rests, each in at least the second share
of the rows, cover the first."""
GLANCE = 50
"""Rows that decide which pairs of columns are worth a closer look."""
SHORTEST = 2
"""Characters of what is held, at least in the middle."""


@dataclass(frozen=True)
class Relations:
    """Which columns' values hold which others'.

    Args:
        pairs: places of the holding column and of the held one.
        rests: for holding columns whose values are little else, what is left of them without what they hold: `_` of
            `al_pn-6`, which holds the state and the measure. A value that leaves something else is no such value.
    """

    pairs: tuple[tuple[int, int], ...]
    rests: Mapping[int, frozenset[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, table: AuditTable, places: Sequence[int], seed: int = 0) -> Relations:
        """Found in a sample of rows; columns of one value, or held by chance alone, do not count."""
        generator = np.random.default_rng(seed)
        rows = np.sort(generator.permutation(table.rows)[:SAMPLE])
        shuffled = generator.permutation(rows)
        step = max(len(rows) // GLANCE, 1)  # a table of 500 columns has 250,000 pairs
        found = []
        length = {place: _length(table, place) for place in places}
        able = [place for place in places if len(table.columns[place].values) > 1 and length[place] >= SHORTEST]
        for outer in places:
            for inner in able:
                # What is usually longer than the other is not usually part of it.
                if outer == inner or length[inner] >= length[outer]:
                    continue
                few = _held(table, outer, inner, rows[::step], rows[::step])
                if few is None or few < USUAL / 2:
                    continue
                here = _held(table, outer, inner, rows, rows)
                if here is None or here < USUAL:
                    continue
                chance = _held(table, outer, inner, rows, shuffled)
                # Of what chance leaves to explain, the relation must explain half.
                if chance is not None and here - chance > 0.5 * (1 - chance):
                    found.append((outer, inner))
        made = cls(tuple(found))
        return replace(
            made, rests={outer: rests for outer in dict(found) if (rests := made._usual(table, outer, rows))}
        )

    def _usual(self, table: AuditTable, outer: int, rows: np.ndarray) -> frozenset[str]:
        """What is usually left of a column's values; empty where anything may be."""
        left = Counter(self._left(table, outer, rows))
        usual = [rest for rest, count in left.most_common(MANY) if count >= SELDOM * len(rows)]
        return frozenset(usual if sum(left[rest] for rest in usual) >= CLOSED * len(rows) else ())

    def _left(self, table: AuditTable, outer: int, rows: np.ndarray) -> list[str]:
        """Values of a column in some rows without what they hold of the others."""
        a = table.columns[outer]
        held = [table.columns[inner] for place, inner in self.pairs if place == outer]
        found = []
        for row in rows.tolist():
            text = a.values[a.codes[row]] if a.codes[row] >= 0 else ""
            for b in held:
                if b.codes[row] >= 0:
                    text = text.replace(b.values[b.codes[row]], "", 1)
            found.append(text)
        return found

    def told(self, table: AuditTable, places: Sequence[int], rows: np.ndarray) -> np.ndarray:
        """For the cells of some rows: how many relations they keep to, less those that they break, [r, c]."""
        told = np.zeros((len(rows), len(places)), dtype=np.float32)
        number = {place: k for k, place in enumerate(places)}
        for outer, inner in self.pairs:
            a, b = table.columns[outer], table.columns[inner]
            there = (a.codes[rows] >= 0) & (b.codes[rows] >= 0)
            index = np.flatnonzero(there)
            size = max(len(b.values), 1)
            pairs, back = np.unique(
                a.codes[rows[index]].astype(np.int64) * size + b.codes[rows[index]], return_inverse=True
            )
            holds = np.array([b.values[p % size] in a.values[p // size] for p in pairs.tolist()], dtype=bool)
            sign = np.where(holds, 1.0, -1.0)[back] if len(index) else np.zeros(0)
            for place in (outer, inner):
                told[index, number[place]] += sign
        for outer, usual in self.rests.items():
            broken = np.array([text not in usual for text in self._left(table, outer, rows)], dtype=bool)
            told[broken, number[outer]] = np.minimum(told[broken, number[outer]], -1.0)
        return told


def _length(table: AuditTable, place: int) -> float:
    """How long the values of a column are, those of most cells."""
    lengths = [len(text) for text in table.columns[place].values[:50]]
    return float(np.median(lengths)) if lengths else 0.0


def _held(table: AuditTable, outer: int, inner: int, rows: np.ndarray, others: np.ndarray) -> float | None:
    """How often a value of one column holds that of the other; None where there are too few to tell."""
    a, b = table.columns[outer], table.columns[inner]
    left, right = a.codes[rows], b.codes[others]
    pairs = [(x, y) for x, y in zip(left.tolist(), right.tolist(), strict=True) if x >= 0 and y >= 0]
    if len(pairs) < 20:
        return None
    holds: list[bool] = [b.values[y] in a.values[x] and a.values[x] != b.values[y] for x, y in pairs]
    return float(np.mean(holds))
