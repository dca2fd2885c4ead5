"""Wrong texts for the cells of a column, a kind at a time, from the unique values of every column."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.data.rewrites import AFFIXES, INKS, NUMBERS, PLACEHOLDERS, PREFIXES, REWRITES, ColumnFacts, char_class
from carat.errors import InputError, nearest

KINDS: tuple[str, ...] = (
    "typo",
    "other",
    "foreign",
    "swap",
    "case",
    "spacing",
    "punctuation",
    "abbreviation",
    "accent",
    "order",
    "unit",
    "placeholder",
    "blank",
)
"""Kinds of slips: a typo, another value of the column, a value of another column, two cells of a row exchanged,
capitals, spaces, punctuation, a word cut short, accents, word order, a unit, a word for nothing, nothing."""

ALPHABET_VALUES = 5_000
"""Unique values of a column that are looked at for its characters."""
TRIES = 4
"""Tries for a value of another column that this column does not have."""

_NUMERIC = r"^\s*[$€£]?[+-]?[0-9][0-9.,]*\s*%?\s*$"
_APPLIES = {
    "abbreviation": r"\p{L}{4}|\p{L}[^\s]*\s+[^\s]*\p{L}",
    "order": r"(?s)\p{L}.*\s+[^\s]|[^\s]\s+.*\p{L}",
    "unit": r"^([$€£¥#~+]|[A-Z]{3} )?[+-]?[0-9][0-9.,]*(\s?(%|\p{L}{1,6}\.?|[$€£¥°]))?$",
}


class Slipper:
    """Makes wrong texts in place of a column's values.

    Args:
        values: the unique values of every column; a list or an Arrow array of strings per column.
        counts: how often each occurs, int [V] per column.
        seed: decides what every column's typists like best: their unit, their word for nothing; and the table's ink.
    """

    def __init__(self, values: Sequence[Sequence[str] | pa.Array], counts: Sequence[np.ndarray], seed: int = 0) -> None:
        self.values: list[pa.Array] = [
            each if isinstance(each, pa.Array) else pa.array(list(each), pa.string()) for each in values
        ]
        self._sums = [np.cumsum(np.asarray(each, dtype=np.float64)) for each in counts]
        for number, (each, sums) in enumerate(zip(self.values, self._sums, strict=True)):
            if len(each) != len(sums):
                raise InputError(f"counts of column {number}: expected {len(each)}, got {len(sums)}")
        ink = str(np.random.default_rng((seed, len(self.values))).choice(list(INKS)))
        self.facts = [
            _facts(each, np.diff(sums, prepend=0.0), ink, np.random.default_rng((seed, number)))
            for number, (each, sums) in enumerate(zip(self.values, self._sums, strict=True))
        ]
        self._filled = np.array([number for number, each in enumerate(self.values) if len(each)], dtype=np.int64)

    def applies(self, column: int, kind: str) -> np.ndarray:
        """Which values of a column a kind can change, bool [V].

        It promises little: a value that it names may still come back from `draw` unchanged.
        """
        _check(kind)
        values = self.values[column]
        if kind == "other":
            found = np.full(len(values), len(values) > 1)
        elif kind == "foreign":
            found = np.full(len(values), bool((self._filled != column).any()))
        elif kind == "case":
            found = _bool(pc.not_equal(pc.utf8_upper(values), pc.utf8_lower(values)))
        elif kind == "accent":
            pattern = r"\p{Mn}" if not self.facts[column].accented else r"\p{Mn}|[aeiouncAEIOUNC]"
            found = _bool(pc.match_substring_regex(pc.utf8_normalize(values, "NFD"), pattern))
        elif kind in _APPLIES:
            found = _bool(pc.match_substring_regex(values, _APPLIES[kind]))
        else:
            found = np.ones(len(values), dtype=bool)
        filled: np.ndarray = found & _bool(pc.not_equal(values, ""))
        return filled

    def draw(self, column: int, value_index: np.ndarray, kind: str, rng: np.random.Generator) -> list[str | None]:
        """New texts for cells of one column, [k]; None is blank.

        A value that the kind can't change comes back as it is.

        Args:
            column: number of the column.
            value_index: what stands in each cell, as places in the column's values; int [k].
            kind: one of `KINDS`, but not `swap`, which takes rows (see `slip`).
            rng: decides the texts.
        """
        _check(kind)
        value_index = np.asarray(value_index, dtype=np.int64)
        if kind == "blank":
            return [None] * len(value_index)
        if kind == "other":
            return self._texts(column, self._other(column, value_index, rng))
        texts = self._texts(column, value_index)
        if kind == "foreign":
            return self._foreign(column, texts, rng)
        # One generator of Python's own: a number of numpy's, one at a time, costs ten times as much.
        dice = Random(int(rng.integers(1 << 62))).random
        rewrite, facts = REWRITES[kind], self.facts[column]
        return [rewrite(text, dice, facts) if text else text for text in texts]

    def _texts(self, column: int, index: np.ndarray) -> list[str | None]:
        texts: list[str | None] = self.values[column].take(pa.array(index)).to_pylist()
        return texts

    def _other(self, column: int, index: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Another value for each, half by frequency and half uniformly; int64 [k]."""
        size = len(self.values[column])
        if size < 2:
            return index
        uniform = rng.integers(size - 1, size=len(index))
        uniform += uniform >= index
        frequent = self._frequent(column, len(index), rng)
        return np.where((rng.random(len(index)) < 0.5) & (frequent != index), frequent, uniform)

    def _frequent(self, column: int, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self._sums[column]
        found = np.searchsorted(sums, rng.random(size) * sums[-1], side="right")
        return np.asarray(np.minimum(found, len(sums) - 1))

    def _foreign(self, column: int, texts: list[str | None], rng: np.random.Generator) -> list[str | None]:
        """Values of other columns, if possible such as this column does not have."""
        others = self._filled[self._filled != column]
        made = list(texts)
        open_cells = np.arange(len(texts)) if len(others) else np.empty(0, dtype=np.int64)
        for _ in range(TRIES):
            if not len(open_cells):
                break
            source = others[rng.integers(len(others), size=len(open_cells))]
            for number in np.unique(source).tolist():
                cells = open_cells[source == number]
                for cell, text in zip(cells, self._texts(number, self._frequent(number, len(cells), rng)), strict=True):
                    if text:  # never a blank, which is a kind of its own
                        made[cell] = text
            new = pa.array([made[cell] for cell in open_cells], pa.string())
            open_cells = open_cells[_bool(pc.is_in(new, value_set=self.values[column]))]
        return made


def _check(kind: str) -> None:
    if kind == "swap":
        raise InputError("kind 'swap' exchanges two cells of a row; it is made on a table, by `slip`")
    if kind not in KINDS:
        raise InputError(f"kind '{kind}' is unknown; {nearest(kind, KINDS)}")


def _bool(array: pa.Array) -> np.ndarray:
    found: np.ndarray = pc.fill_null(array, False).to_numpy(zero_copy_only=False).astype(bool)
    return found


def _facts(values: pa.Array, counts: np.ndarray, ink: str, rng: np.random.Generator) -> ColumnFacts:
    step = max(1, len(values) // ALPHABET_VALUES)
    sample = values.take(pa.array(np.arange(0, len(values), step)))
    chars = sorted(set("".join(text for text in sample.to_pylist() if text)))
    alphabet: dict[str, str] = {}
    for char in chars:
        if not char.isspace():
            alphabet[char_class(char)] = alphabet.get(char_class(char), "") + char
    numbers = _bool(pc.match_substring_regex(values, _NUMERIC))
    numeric = bool(counts[numbers].sum() > 0.9 * counts.sum())
    accented = bool(pc.any(pc.match_substring_regex(pc.utf8_normalize(sample, "NFD"), r"\p{Mn}")).as_py())
    known = (*PLACEHOLDERS, *NUMBERS) if numeric else PLACEHOLDERS
    before = rng.random() < 0.3
    return ColumnFacts(
        alphabet=alphabet,
        numeric=numeric,
        accented=accented,
        affix=(str(rng.choice(PREFIXES)), "") if before else ("", str(rng.choice(AFFIXES))),
        placeholder=str(rng.choice(known)),
        ink=ink,
    )
