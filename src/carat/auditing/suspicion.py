"""Cells that may not teach the judge what is right: whatever is plainly odd before anything was learned.

The real errors of a table are among the cells that nobody touched. Taken for right, they would teach the judge that
errors are right. So a cell is no example of right where the other rows clearly want something else, or where its text
alone gives it away. That does not make it wrong: the judge still decides, by what it learned from slips.
"""

from __future__ import annotations

import re

import numpy as np
import torch
from torch import Tensor

from carat.auditing.signals import Eyes, Sight
from carat.auditing.table import AuditColumn
from carat.auditing.texts import OF_VALUES, ValueTexts
from carat.data.spelling import LONGEST, shapes

MARGIN, CLEAR = 2.0, 0.3
"""The vote disagrees where the value is so many nats below the best, and the best is likelier than this."""
GAIN = 1.0
"""And the other rows must say so, in nats, by more than the column as a whole does: where nine rows in ten say `eng`,
the vote prefers it to `chi` everywhere, and knows nothing against any one of them. A value that is a slip of a more
frequent one gets no such benefit of the doubt."""
TIMES = 3.0
"""A variant is odd beside one that is so many times as frequent."""
WORD_TIMES = 50.0
"""And a word beside one that it is a slip of."""
FORMATTED, FEW, FOREIGN, FOREIGN_ALL = 0.9, 6, 0.02, 0.05
"""A column has a format where its most frequent shapes, at most so many, cover this share of its cells; a shape with
less than the third share is then foreign to it, if all of those together have no more than the last."""
CODED, RARE = 0.9, 0.02
"""A column holds codes where this share of its cells has one shape, lengths counted; a code with a shape that fewer
than the second share have is of a foreign shape."""
SHORTEST = 4
"""Characters of a code: shorter ones are as often a number."""
SELDOM = 0.05
"""A word for nothing is odd in a column of text if such words have at most this share of its cells."""
ALWAYS = 0.01
"""A column is always filled if at most this share of its cells is blank. Those few do not show that blank is right."""
GAP, OFTEN, CLOSED = 4.0, 5, 0.9
"""A column has a list of values where this share of its cells hold one that occurs so often at least. If values that
occur once are then so many times as many as those that occur twice, most of them are no rare values."""
_WORDS = re.compile(r"[Aa字](?: ?[Aa字])*")
_NUMBER = re.compile(r"\s*[$€£]?[+-]?\d[\d.,]*\s*%?\s*\Z")


def suspicious(eyes: Eyes, sight: Sight) -> Tensor:
    """Cells of the rows looked at that are no examples of right, bool [r, c]."""
    voted = sight["voted"] > 0
    odd = voted & (sight["best"] - sight["own"] > MARGIN) & (sight["best"] > np.log(CLEAR))
    odd &= (_gain(eyes, sight) > GAIN) | (sight["near ratio"] > np.log(TIMES)) | (sight["filled"] == 0)
    index = sight.rows.numpy()
    for number, place in enumerate(eyes.plan.places):
        column = eyes.table.columns[place]
        by_text = np.append(odd_values(column, eyes.texts[place]), False)
        if column.blank <= ALWAYS * eyes.table.rows:
            by_text[-1] = True
        odd[:, number] |= torch.from_numpy(by_text[column.codes[index]])
    # What is written out in the rest of its row is right, however new it is.
    found: Tensor = odd & ~(sight["contained"] > 0)
    return found | (sight["exchanged"] > 0)


def _gain(eyes: Eyes, sight: Sight) -> Tensor:
    """How much more than the column as a whole the other rows prefer the best value to the one that stands there, in
    nats, [r, c]; 0 where nobody votes."""
    gain = torch.zeros(sight.told.shape[:2])
    for number, place in enumerate(eyes.plan.voted):
        counts = torch.from_numpy(eyes.table.columns[place].counts)
        best = counts[sight.best[:, number, 0].clamp(min=0)].double() if len(counts) else torch.zeros(len(gain))
        usual = ((best + 0.1) / (sight["count"][:, number].double().expm1() + 0.1)).log()
        gain[:, number] = (sight["best"][:, number] - sight["own"][:, number] - usual).float()
    return gain


def odd_values(column: AuditColumn, known: ValueTexts) -> np.ndarray:
    """Values of a column whose text gives them away, bool [V]."""
    told = known.told[:-1]
    odd: np.ndarray = np.array([text is not None for text in known.rewritten], dtype=bool)
    odd |= told[:, OF_VALUES.index("variant")] > np.log(TIMES)
    odd |= told[:, OF_VALUES.index("misspelt word")] > np.log(WORD_TIMES)
    odd |= told[:, OF_VALUES.index("off its template")] > np.log(WORD_TIMES)
    odd |= foreign_shapes(column) | usual_code(column)[1] | loners(column)
    cells = max(int(column.counts.sum()), 1)
    if is_numeric(column, known.placeholder) or column.counts[known.placeholder].sum() <= SELDOM * cells:
        odd |= known.placeholder
    return odd


def loners(column: AuditColumn) -> np.ndarray:
    """Values that occur once in a column that has a list of values, where too many do for rare values, bool [V].

    Of the values of a list, about as many occur twice as once. Slips occur once.
    """
    counts, once = column.counts, column.counts == 1
    listed = counts[counts >= OFTEN].sum() >= CLOSED * counts.sum()
    return once if listed and once.sum() > GAP * ((counts == 2).sum() + 1) else np.zeros_like(once)


def usual_code(column: AuditColumn) -> tuple[str | None, np.ndarray]:
    """The shape of a column's codes, or None if it holds none, and which values have a foreign one, bool [V]."""
    none = np.zeros(len(column.values), dtype=bool)
    if column.typed:
        return None, none
    code, names = shapes([text[:LONGEST] for text in column.values], lengths=True)
    if not len(code):
        return None, none
    share = np.bincount(code, weights=column.counts, minlength=len(names)) / max(int(column.counts.sum()), 1)
    usual = names[int(share.argmax())]
    if share.max() < CODED or "9" not in usual or len(usual) < SHORTEST:
        return None, none
    return usual, share[code] < RARE


def is_numeric(column: AuditColumn, placeholder: np.ndarray) -> bool:
    """Whether nine of ten cells that say something hold numbers."""
    numbers = np.array([_NUMBER.match(text) is not None for text in column.values], dtype=bool)
    said = column.counts[~placeholder].sum()
    return bool(said) and bool(column.counts[numbers & ~placeholder].sum() >= 0.9 * said)


def foreign_shapes(column: AuditColumn) -> np.ndarray:
    """Values whose shape is foreign to a column that has a format, bool [V]."""
    if column.typed or not len(column.values):
        return np.zeros(len(column.values), dtype=bool)
    cells = max(column.counts.sum(), 1)
    code, names = shapes(column.values, lengths=True)
    share = np.bincount(code, weights=column.counts, minlength=len(names)) / cells
    if np.sort(share)[::-1][:FEW].sum() < FORMATTED:
        return np.zeros(len(column.values), dtype=bool)
    coarse, kinds = shapes(column.values)
    # How many words a name has says nothing.
    worded = [_WORDS.sub("a", kind) for kind in kinds]
    known = {kind: number for number, kind in enumerate(dict.fromkeys(worded))}
    look = np.array([known[kind] for kind in worded], dtype=np.int64)[coarse]
    total = np.bincount(look, weights=column.counts, minlength=len(known)) / cells
    found: np.ndarray = total[look] < FOREIGN
    # Many odd ones are a habit of the column.
    return found if column.counts[found].sum() <= FOREIGN_ALL * cells else np.zeros_like(found)
