"""How far apart two spellings are, and how easily one turns into the other by a slip."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from rapidfuzz.distance import OSA
from rapidfuzz.process import cpdist

from carat.data.keyboards import LAYOUTS, neighbours
from carat.data.spelling.variants import LONGEST, key, sorted_key

EDIT = 3.0
"""What a wrong character costs in `typed_as`: about one in twenty."""
EASY = 0.5
"""What is taken off where the finger went to the next key, hit twice, or two keys changed places. It is little on
purpose: many errors in real tables (an `x` over any letter, a misread scan) do not follow a keyboard."""
VARIANT, REORDERED, CUT_SHORT, EXTENDED = 2.0, 3.0, 4.0, 4.0
"""What whole rewrites cost at most: other capitals, spaces or signs; other word order; a word or the end left out; a
unit or word added at an end."""


def distance(a: Sequence[str], b: Sequence[str]) -> np.ndarray:
    """How many characters to replace, insert, drop or swap with the next, pair by pair; int64 [k].

    Of long texts the beginnings are compared, and the lengths.
    """
    one, other = ([text[:LONGEST] for text in texts] for texts in (a, b))
    found: np.ndarray = cpdist(one, other, scorer=OSA.distance).astype(np.int64)
    for place, (x, y) in enumerate(zip(a, b, strict=True)):
        if len(x) > LONGEST or len(y) > LONGEST:
            found[place] = max(int(found[place]), abs(len(x) - len(y)), int(x != y))
    return found


def typed_as(before: Sequence[str], after: Sequence[str]) -> np.ndarray:
    """How easily each text turns into the other by a slip: 0 where they are equal, the lower the less easily; [k].

    Roughly a log-probability, up to a constant. Every wrong character costs `EDIT`, a little less where it is a
    neighbouring key, a doubled character or two that changed places. Whole rewrites have a price of their own, and the
    cheapest explanation counts: another case or punctuation, another order of the words, a text cut short or
    abbreviated, one with something added at an end.

    Args:
        before: what may have been meant, [k].
        after: what stands there, [k].
    """
    apart = distance(before, after)
    cost = EDIT * apart.astype(np.float64)
    known: dict[tuple[str, str], float] = {}
    for place in np.flatnonzero(apart).tolist():
        pair = (before[place], after[place])
        if pair not in known:
            known[pair] = _cost(pair[0][:LONGEST], pair[1][:LONGEST], int(apart[place]))
        cost[place] = known[pair]
    return -cost


def _cost(before: str, after: str, apart: int) -> float:
    cost = EDIT * apart - (EASY * _easy(before, after, apart) if apart <= 3 else 0.0)
    if cost > VARIANT and key(before) == key(after):
        return VARIANT
    if cost > REORDERED and len(before) > 3 and sorted_key(before) == sorted_key(after):
        return REORDERED
    if cost > CUT_SHORT and after and _cut_short(before, after):
        return CUT_SHORT
    if (
        cost > EXTENDED
        and before
        and len(after) - len(before) <= 8
        and (after.startswith(before) or after.endswith(before))
    ):
        return EXTENDED
    return cost


def _easy(before: str, after: str, apart: int) -> int:
    """How many of a few edits a finger makes by itself."""
    if len(before) == len(after):
        wrong = [place for place, (x, y) in enumerate(zip(before, after, strict=True)) if x != y]
        if len(wrong) > apart:  # characters that changed places count twice here and once as an edit
            return min(apart, len(wrong) - apart)
        return sum(_beside(before[place], after[place]) for place in wrong)
    if len(after) == len(before) + 1 and apart == 1:
        place = next((place for place, (x, y) in enumerate(zip(before, after, strict=False)) if x != y), len(before))
        return int(
            after[place] in (after[place - 1 : place] or "\0") or after[place : place + 1] == before[place : place + 1]
        )
    return 0


@cache
def _beside(before: str, after: str) -> bool:
    return any(after in neighbours(before, layout) for layout in LAYOUTS)


def _cut_short(before: str, after: str) -> bool:
    """Whether a text is a beginning, the initials, or the letters in order of each word of the other."""
    short, words = re.sub(r"[\W_]", "", after).casefold(), [word.casefold() for word in re.findall(r"\w+", before)]
    if not short or not words or len(short) >= sum(map(len, words)):
        return False
    if "".join(words).startswith(short) or short == "".join(word[0] for word in words):
        return True
    parts = [part.casefold() for part in re.findall(r"\w+", after)]
    return len(parts) == len(words) and all(_in_order(part, word) for part, word in zip(parts, words, strict=True))


def _in_order(part: str, word: str) -> bool:
    """Whether a word can be abbreviated to this: the same first letter, and the others in order."""
    rest = iter(word)
    return part[0] == word[0] and all(char in rest for char in part)
