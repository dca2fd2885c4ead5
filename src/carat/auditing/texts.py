"""What the text of a cell says by itself: near spellings, variants, shapes, values of other columns, placeholders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from carat.auditing.table import AuditColumn, AuditTable
from carat.auditing.templates import off_template
from carat.auditing.words import misspelt
from carat.data.spelling import (
    LONGEST,
    Affixes,
    affixes,
    bound,
    distance,
    figures,
    key,
    moments,
    nearest,
    placeholders,
    shapes,
    sorted_key,
    unsigned,
)

OF_VALUES = (
    "filled",
    "near",
    "near ratio",
    "variant",
    "coarse shape",
    "fine shape",
    "foreign",
    "placeholder",
    "affix",
    "rarest letters",
    "length",
    "misspelt word",
    "off its template",
)
"""What is said of every value of a column."""
OF_CELLS = ("like the first", "a slip from the first", "like the second", "a slip from the second")
"""What is said of a cell and the values that the votes put there."""
IN_ROWS = ("contained", "exchanged")
"""What is said of a cell and the other cells of its row."""
RANKED = ("margin", "margin again", "witnesses, sum", "coarse shape", "fine shape", "rarest letters")
"""Signals told once more as how unusual they are in their column: log of the share of cells as bad or worse."""
OF_COLUMNS = ("voted", "different", "usually near", "usual shape", "usual letters", "usually foreign")
"""What is said of a column."""
RATIO = 3.0
"""How many times as frequent a value must be for another one to be a slip of it."""
_LETTER, _DIGIT = re.compile(r"[^\W\d_]"), re.compile(r"\d")


@dataclass(frozen=True)
class ValueTexts:
    """What is known of the values of one column.

    Args:
        told: `OF_VALUES` of every value, float32 [V + 1, F]; the last row is a blank cell's.
        near: place of the nearest more frequent value, int64 [V]; −1 for none.
        variant: place of the dominant value that differs in case, spacing, signs, accents or order alone, int64 [V].
        rewritten: the value without, or with, an affix, or as a date or number in the usual form; None where nothing is
            proposed, [V].
        same: whether the rewritten text says the same, and is no other value, bool [V].
        spelt: the value with common words in place of misspelt ones; None where none is, [V].
        pattern: what was done to it, [V].
        placeholder: which values stand for nothing, bool [V].
        elsewhere: column in which the value is at home, int64 [V]; −1 for none.
        usual: `OF_COLUMNS` without the first, [5].
        habits: patterns of affixes that are the column's own way of telling values apart.
    """

    told: np.ndarray
    near: np.ndarray
    variant: np.ndarray
    rewritten: list[str | None]
    same: np.ndarray
    spelt: list[str | None]
    pattern: list[str | None]
    placeholder: np.ndarray
    elsewhere: np.ndarray
    usual: np.ndarray
    habits: frozenset[str] = frozenset()

    def without(self, habits: frozenset[str]) -> ValueTexts:
        """The same, with these patterns taken for habits of the column: nothing is rewritten by them."""
        kept = [pattern if pattern not in habits else None for pattern in self.pattern]
        rewritten = [text if pattern else None for text, pattern in zip(self.rewritten, kept, strict=True)]
        told = self.told.copy()
        told[:-1, OF_VALUES.index("affix")] = [text is not None for text in rewritten]
        return replace(self, told=told, rewritten=rewritten, pattern=kept, habits=habits | self.habits)

    def meaning(self, values: np.ndarray) -> ValueTexts:
        """The same, with these values, bool [V], taken for what they are and not for words for nothing."""
        if not values.any():
            return self
        told = self.told.copy()
        told[:-1, OF_VALUES.index("placeholder")][values] = 0.0
        return replace(self, told=told, placeholder=self.placeholder & ~values)


def value_texts(table: AuditTable, places: Sequence[int]) -> dict[int, ValueTexts]:
    """Of every column that takes part, by its place."""
    homes = _homes(table, places)
    return {place: _of_column(table.columns[place], place, homes) for place in places}


def copied_texts(
    known: dict[int, ValueTexts], table: AuditTable, copy: AuditTable, places: Sequence[int]
) -> dict[int, ValueTexts]:
    """Of a copy with slips: what was known of the table's values, and new values measured against those.

    Args:
        known: of the table's columns.
        table: the table.
        copy: the same with slips.
        places: columns that take part.
    """
    homes = _homes(table, places)
    return {place: _copied(known[place], table.columns[place], copy.columns[place], place, homes) for place in places}


def _copied(
    known: ValueTexts, before: AuditColumn, after: AuditColumn, place: int, homes: dict[str, list[tuple[int, int]]]
) -> ValueTexts:
    old = {text: number for number, text in enumerate(before.values)}
    new = [number for number, text in enumerate(after.values) if text not in old]
    values = (*before.values, *(after.values[number] for number in new))
    counts = np.concatenate([before.counts, after.counts[new]])
    # Where each value of the copy stands: in the table, or among the new ones behind it.
    size = len(before.values)
    column = AuditColumn(after.name, values, counts, after.codes, before.typed)
    made = _of_column(column, place, homes, size).without(known.habits)
    where = np.array([old.get(text, -1) for text in after.values], dtype=np.int64)
    where[new] = size + np.arange(len(new))
    back = np.full(len(values) + 1, -1, dtype=np.int64)
    back[where] = np.arange(len(where))

    def joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        whole: np.ndarray = np.concatenate([first, second[size : len(values)]])[where]
        return whole

    def listed(first: list[str | None], second: list[str | None]) -> list[str | None]:
        return [(first[w] if w < size else second[w]) for w in where.tolist()]

    return ValueTexts(
        np.concatenate([joined(known.told[:size], made.told), made.told[-1:]]),
        back[joined(known.near, made.near)],
        back[joined(known.variant, made.variant)],
        listed(known.rewritten, made.rewritten),
        joined(known.same, made.same),
        listed(known.spelt, made.spelt),
        listed(known.pattern, made.pattern),
        joined(known.placeholder, made.placeholder),
        joined(known.elsewhere, made.elsewhere),
        known.usual,
        known.habits,
    )


def _homes(table: AuditTable, places: Sequence[int]) -> dict[str, list[tuple[int, int]]]:
    """Columns that hold a text, with how often, for every text."""
    homes: dict[str, list[tuple[int, int]]] = {}
    for place in places:
        column = table.columns[place]
        for text, count in zip(column.values, column.counts.tolist(), strict=True):
            homes.setdefault(text, []).append((place, count))
    return homes


def _of_column(
    column: AuditColumn, place: int, homes: dict[str, list[tuple[int, int]]], old: int | None = None
) -> ValueTexts:
    """Of one column.

    Args:
        column: its values.
        place: of the column.
        homes: columns that hold a text.
        old: how many of the values, the first ones, say what is usual; None where all do. The slips of a copy do not.
    """
    values, counts = column.values, column.counts
    size, cells = len(values), max(int(counts.sum()), 1)
    usual = counts if old is None else np.concatenate([counts[:old], np.zeros_like(counts[old:])])
    lengths = np.fromiter((len(unsigned(text)) for text in values), dtype=np.int64, count=size)
    near = nearest(values, counts, ratio=RATIO)
    has_near = near.index >= 0
    variant = _variants(values, counts)
    nobody: list[str | None] = [None] * size
    none = Affixes(nobody, nobody)
    ways = [none] if column.typed else [moments(values, counts), figures(values, counts), affixes(values, counts)]
    same = np.array([any(found.text[k] for found in ways[:2]) for k in range(size)], dtype=bool)
    rewritten = [next(filter(None, each), None) for each in zip(*(found.text for found in ways), strict=True)]
    pattern = [next(filter(None, each), None) for each in zip(*(found.pattern for found in ways), strict=True)]
    nothing = placeholders(values, counts)
    elsewhere, foreign = _elsewhere(values, counts, place, homes)
    told = np.zeros((size + 1, len(OF_VALUES)), dtype=np.float32)
    told[:size, 0] = 1.0
    told[:size, 1] = np.where(has_near, 1 - near.distance / np.maximum(lengths, 1), 0.0).clip(0, 1)
    told[:size, 2] = np.where(has_near, _ratio(counts, near.index), 0.0)
    told[:size, 3] = np.where(variant >= 0, _ratio(counts, variant), 0.0)
    told[:size, [4, 5, 9, 10]] = _of_forms(column, lengths, usual)
    told[:size, 6] = foreign
    told[:size, 7] = nothing
    told[:size, 8] = [text is not None for text in rewritten]
    told[:size, 11], spelt = misspelt(values, counts)
    told[:size, 12] = off_template(values, counts)
    weight = counts / cells
    habit = [np.log((size + 1) / (cells + 1))] + [float((told[:size, k] * weight).sum()) for k in (1, 5, 9, 6)]
    return ValueTexts(
        told,
        near.index,
        variant,
        rewritten,
        same,
        spelt,
        pattern,
        nothing,
        elsewhere,
        np.array(habit, np.float32),
    )


def _of_forms(column: AuditColumn, lengths: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Both shapes, the rarest letters and the length of every value, float32 [V, 4]; the same for all if typed.

    Args:
        column: its values.
        lengths: of the values, [V].
        usual: how many cells with each value say what is usual, [V].
    """
    values = column.values
    told = np.zeros((len(values), 4), dtype=np.float32)
    if column.typed:
        told[:, 2] = np.log1p(usual.sum())
        return told
    for number, fine in ((0, False), (1, True)):
        code, names = shapes(values, lengths=fine)
        total = np.bincount(code, weights=usual, minlength=len(names))[code] if len(values) else np.zeros(0)
        told[:, number] = np.log((total - usual + 0.5) / (usual.sum() - usual + 1.0))
    told[:, 2] = _rarest_letters(values, usual)
    if len(values):
        each = np.repeat(lengths, np.minimum(usual, 1_000))
        middle = np.median(each) if len(each) else 0.0
        spread = np.median(np.abs(each - middle)) + 1.0 if len(each) else 1.0
        told[:, 3] = (np.abs(lengths - middle) / spread).clip(0, 10)
    return told


def _ratio(counts: np.ndarray, other: np.ndarray) -> np.ndarray:
    """log of how many times as frequent the other one is, at most 8."""
    found: np.ndarray = np.log(counts[other] / np.maximum(counts, 1)).clip(-8, 8)
    return found


def _variants(values: Sequence[str], counts: np.ndarray) -> np.ndarray:
    """The most frequent other value that is the same up to case, spacing, signs, accents or word order; −1 for none.

    A value with stray spaces never stands for one without.
    """
    found = np.full(len(values), -1, dtype=np.int64)
    tidy = [" ".join(text.split()) == text for text in values]
    for fold in (sorted_key, key):
        best: dict[str, int] = {}
        # In numbers and dates the signs and the order are what it says: 1-2 is not 12, nor the second of March.
        folded = [fold(text) if _is_worded(text, fold is sorted_key) else "" for text in values]
        for place, text in enumerate(folded):
            if text and (text not in best or _stands_for(place, best[text], tidy, counts)):
                best[text] = place
        for place, text in enumerate(folded):
            if text and best[text] != place and _stands_for(best[text], place, tidy, counts):
                found[place] = best[text]
    return found


def _stands_for(one: int, other: int, tidy: Sequence[bool], counts: np.ndarray) -> bool:
    """Whether one way to write a value is to be preferred to another."""
    return tidy[one] if tidy[one] != tidy[other] else bool(counts[one] > counts[other])


def _is_worded(text: str, in_any_order: bool) -> bool:
    return len(text) <= LONGEST and bool(_LETTER.search(text)) and not (in_any_order and _DIGIT.search(text))


def _elsewhere(
    values: Sequence[str], counts: np.ndarray, place: int, homes: dict[str, list[tuple[int, int]]]
) -> tuple[np.ndarray, np.ndarray]:
    """The other column in which each value is most at home, and log of how much more it is, [V] each."""
    home, more = np.full(len(values), -1, dtype=np.int64), np.zeros(len(values), dtype=np.float32)
    for number, (text, count) in enumerate(zip(values, counts.tolist(), strict=True)):
        others = [(times, where) for where, times in homes.get(text, ()) if where != place]
        if others:
            times, where = max(others, key=lambda one: (one[0], -one[1]))
            home[number], more[number] = where, np.clip(np.log((times + 0.5) / count), -6, 6) + 6
    return home, more


def _rarest_letters(values: Sequence[str], counts: np.ndarray) -> np.ndarray:
    """log of how many other cells, a value's own not counted, hold its rarest two letters in a row, [V]."""
    weight = np.minimum(counts, 50).tolist()  # a value of thousands of cells is one way of writing all the same
    met: Counter[str] = Counter()
    split = [list(map("".join, pairwise(f"^{unsigned(text[:LONGEST])}$"))) for text in values]
    for bigrams, times in zip(split, weight, strict=True):
        for bigram in set(bigrams):
            met[bigram] += times
    rarest = [min(met[b] for b in bigrams) - times for bigrams, times in zip(split, weight, strict=True)]
    return np.log1p(np.asarray(rarest, dtype=np.float64)).astype(np.float32)


def likeness(column: AuditColumn, codes: np.ndarray, best: np.ndarray) -> np.ndarray:
    """How like the values that a vote put first the values of some cells are, and whether a slip apart, [r, 2].

    Args:
        column: of the cells.
        codes: what stands there, [r]; −1 where blank.
        best: what the vote put first, as codes, [r].
    """
    told = np.zeros((len(codes), 2), dtype=np.float32)
    differ = np.flatnonzero((codes >= 0) & (codes != best) & (best >= 0))
    told[(codes >= 0) & (codes == best)] = (1.0, 0.0)
    if len(differ):
        size = len(column.values)
        pairs, back = np.unique(codes[differ].astype(np.int64) * size + best[differ], return_inverse=True)
        one = [column.values[i] for i in (pairs // size).tolist()]
        other = [column.values[i] for i in (pairs % size).tolist()]
        apart = distance(one, other)
        longer = np.array([max(len(a), len(b), 1) for a, b in zip(one, other, strict=True)])
        slip = apart <= bound(np.array([min(len(a), len(b)) for a, b in zip(one, other, strict=True)]))
        told[differ] = np.stack([1 - apart / longer, slip], axis=1)[back]
    return told
