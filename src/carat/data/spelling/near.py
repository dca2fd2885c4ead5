"""The nearest more frequent spelling of every value of a column, without comparing all pairs of a large one.

Three ways to candidates, and every candidate is then measured:

- a small column is compared in full;
- texts at distance 1, and at 2 up to eight characters, meet in a text that both become when one (two) characters are
  left out of each, as in SymSpell;
- of two longer texts at distance 2 or 3, the first or the last halves are at most 1 apart: the different halves meet in
  the first way, and with them the texts.

All comparisons before the measuring are of 64-bit hashes, so a wrong meeting costs time and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cdist, cpdist

from carat.data.spelling.hashing import Halves, Letters, best_cut, distinct, join

ALL_PAIRS = 30_000_000
"""Up to so many pairs a column is compared in full; about half a second."""
PART = 20_000
"""Values that look for candidates at a time."""
AT_ONCE = 3_000_000
"""Pairs whose distances are in memory at a time."""
FARTHEST = 3
"""No spelling is looked for beyond this distance."""
SHORT = 8
"""Texts of up to so many characters meet by two left out; longer ones by their halves."""
LONG = 64
"""Texts longer than this meet by their halves alone, which also finds all at distance 1."""
CANDIDATES = 2_000
"""How many candidates a value has on average, at most, in each way to them beyond distance 1. Where more meet, as codes
in a row do, the most frequent are taken."""
SAMPLE = 20_000
"""Values that decide where texts are cut in two."""


@dataclass(frozen=True)
class Near:
    """For every value the nearest more frequent one; with a limit above 1, the nearest few, [V, limit].

    Args:
        index: place of that value, int64 [V]; −1 where there is none.
        distance: how far it is, int64 [V]; −1 where there is none.
    """

    index: np.ndarray
    distance: np.ndarray


def bound(length: np.ndarray) -> np.ndarray:
    """How far a spelling may be, by its length: 1 up to four characters, 2 up to eight, else 3."""
    return np.where(length <= 4, 1, np.where(length <= SHORT, 2, FARTHEST))


def nearest(values: Sequence[str], counts: np.ndarray, *, ratio: float = 3.0, limit: int = 1) -> Near:
    """For every value the nearest one that is at least `ratio` times as frequent, within a bounded distance.

    The distance is the number of characters to replace, insert, drop or swap with the next (optimal string alignment).
    It is bounded by the length of the value: 1 up to four characters, 2 up to eight, else 3. Of equally near ones the
    most frequent is taken. Everything at distance 1 is found, and nearly everything at 2 and 3.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].
        ratio: how many times as frequent the other one must be.
        limit: how many to return for every value.
    """
    search = _Search(values, counts, ratio, limit)
    if len(search.queries) * len(search.targets) <= ALL_PAIRS:
        search.compare_all()
    else:
        search.leave_out(1, search.queries[search.length[search.queries] <= LONG])
        search.leave_out(2, search.unsettled(1, 5, SHORT))
        search.halves(search.unsettled(1, SHORT + 1))
    return search.result()


class _Search:
    """Candidates of one column, measured and kept as (value, other, distance)."""

    def __init__(self, values: Sequence[str], counts: np.ndarray, ratio: float, limit: int) -> None:
        self.texts = np.empty(len(values), dtype=object)
        self.texts[:] = list(values)
        self.counts = np.asarray(counts, dtype=np.float64)
        self.ratio, self.limit = max(ratio, np.nextafter(1.0, 2.0)), limit
        self.length = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
        self.bound = bound(self.length)
        filled = np.flatnonzero(self.length > 0)
        most = self.counts[filled].max(initial=0.0)
        least = self.counts[filled].min(initial=np.inf)
        self.queries = filled[self.counts[filled] * self.ratio <= most]
        targets = filled[self.counts[filled] >= self.ratio * least]
        # The most frequent first: where candidates are cut, they stay.
        self.targets = targets[np.argsort(-self.counts[targets], kind="stable")]
        self.letters = Letters(self.texts, self.length)
        self._found: list[np.ndarray] = []

    def compare_all(self) -> None:
        """Every value with every more frequent one."""
        step = max(1, AT_ONCE // max(len(self.targets), 1))
        for start in range(0, len(self.queries), step):
            queries = self.queries[start : start + step]
            apart = cdist(
                self.texts[queries].tolist(),
                self.texts[self.targets].tolist(),
                scorer=OSA.distance,
                score_cutoff=FARTHEST,
            )
            near = (apart <= self.bound[queries][:, None]) & (
                self.counts[self.targets] >= self.ratio * self.counts[queries][:, None]
            )
            row, column = np.nonzero(near)
            self._keep(queries[row], self.targets[column], apart[row, column])

    def leave_out(self, most: int, queries: np.ndarray) -> None:
        """Meet in what is left when up to `most` characters are left out."""
        if not len(queries):
            return
        lengths = self.length[queries]
        shortest, longest = int(lengths.min()) - most, int(lengths.max()) + most
        within = (self.length[self.targets] >= shortest) & (self.length[self.targets] <= longest)
        keys, owner = self.letters.left_out(self.targets[within], most)
        rank = np.empty(len(self.texts), dtype=np.int64)
        rank[self.targets] = np.arange(len(self.targets))
        order = np.lexsort((rank[owner], keys))
        keys, owner = keys[order], owner[order]
        for part in np.array_split(queries, 1 + len(queries) // PART):
            asked, asker = self.letters.left_out(part, most)
            for pair in join(asked, asker, keys, owner, None if most == 1 else CANDIDATES * len(part)):
                self._measure(*pair)

    def halves(self, queries: np.ndarray) -> None:
        """Meet in a first or last half that is at most one character off."""
        targets = self.targets[self.length[self.targets] > SHORT - FARTHEST]
        cut = best_cut(self.texts[targets[:: 1 + len(targets) // SAMPLE]].tolist())
        for backwards in (False, True):
            halves = Halves.of(self.letters, targets, cut, backwards=backwards)
            for part in np.array_split(queries, 1 + len(queries) // PART):
                for pair in halves.meet(part, FARTHEST, CANDIDATES * len(part)):
                    self._measure(*pair)

    def unsettled(self, distance: int, shortest: int, longest: int | None = None) -> np.ndarray:
        """Values of some length that do not have enough at this distance yet."""
        found = np.zeros(len(self.texts), dtype=np.int64)
        for part in self._found:
            found += np.bincount(part[0][part[2] <= distance], minlength=len(found))
        length = self.length[self.queries]
        fits = (length >= shortest) & (length <= (longest or np.inf))
        kept: np.ndarray = self.queries[fits & (found[self.queries] < self.limit)]
        return kept

    def result(self) -> Near:
        """The nearest of what was found."""
        index = np.full((len(self.texts), self.limit), -1, dtype=np.int64)
        apart = np.full((len(self.texts), self.limit), -1, dtype=np.int64)
        if self._found:
            query, target, distance = np.concatenate(self._found, axis=1)
            order = np.lexsort((target, -self.counts[target], distance, query))
            # The same pair may have been found in several ways.
            twice = (np.diff(query[order], prepend=-1) == 0) & (np.diff(target[order], prepend=-1) == 0)
            order = order[~twice]
            query, target, distance = query[order], target[order], distance[order]
            start = np.searchsorted(query, query)
            place = np.arange(len(query)) - start
            kept = place < self.limit
            index[query[kept], place[kept]] = target[kept]
            apart[query[kept], place[kept]] = distance[kept]
        if self.limit == 1:
            return Near(index[:, 0], apart[:, 0])
        return Near(index, apart)

    def _measure(self, query: np.ndarray, target: np.ndarray) -> None:
        """Measure candidates that may be near, and keep those that are."""
        good = (self.counts[target] >= self.ratio * self.counts[query]) & (query != target)
        query, target = query[good], target[good]
        good = self.letters.may_be_near(query, target, self.bound[query])
        # A pair meets several times; one measuring is enough.
        pairs = distinct(query[good] * len(self.texts) + target[good])
        query, target = pairs // len(self.texts), pairs % len(self.texts)
        apart = cpdist(
            self.texts[query].tolist(), self.texts[target].tolist(), scorer=OSA.distance, score_cutoff=FARTHEST
        )
        near = apart <= self.bound[query]
        self._keep(query[near], target[near], apart[near])

    def _keep(self, query: np.ndarray, target: np.ndarray, distance: np.ndarray) -> None:
        if len(query):
            self._found.append(np.stack([query, target, distance]).astype(np.int32))
