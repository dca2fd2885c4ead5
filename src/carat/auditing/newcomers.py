"""Values that are new to a table and that no error explains: perhaps the first of their kind.

The judge learns from made-up errors, and none of these turns a value into one that nobody has ever heard of. Where a
column hardly ever has a new value, it has no experience with one, and calls it wrong as surely as it calls the rest of
that row wrong, which fits no other row either. A new supplier is no error. So such cells are doubted, never sure.
"""

from __future__ import annotations

import numpy as np

from carat.auditing.signals import Eyes
from carat.auditing.suspicion import foreign_shapes, usual_code
from carat.auditing.texts import OF_VALUES, ValueTexts

FEW, SELDOM = 20, 0.01
"""New values are rare in a column that has at most so many of them, or in at most this share of its cells."""
NEAR = 0.7
"""A value is a slip of one that it shares at least so much with."""
DOUBTED, UNSURE = 0.6, 0.5
"""How probably, at most, a new value or a cell beside it is wrong, and a proposal for it right."""


def explained(known: ValueTexts, foreign: np.ndarray) -> np.ndarray:
    """Values whose text says what may have happened to them, bool [V].

    Args:
        known: of a column.
        foreign: values whose shape is foreign to it, bool [V].
    """
    told = known.told[:-1]
    found: np.ndarray = foreign | known.placeholder | (known.variant >= 0) | (known.elsewhere >= 0)
    for texts in (known.rewritten, known.spelt):
        found |= np.array([text is not None for text in texts], dtype=bool)
    return found | (told[:, [OF_VALUES.index(name) for name in ("misspelt word", "off its template")]] > 0).any(axis=1)


def doubtful(eyes: Eyes) -> np.ndarray:
    """Cells of which nobody can be sure: new values that nothing explains, and what stands beside them, bool [n, c].

    A cell beside one whose own text shows an error is not among them.
    """
    places, voted = eyes.plan.places, len(eyes.plan.voted)
    new = np.zeros((eyes.table.rows, len(places)), dtype=bool)
    plain = np.zeros_like(new)
    for number, place in enumerate(places):
        column, known = eyes.table.columns[place], eyes.texts[place]
        why = explained(known, foreign_shapes(column) | usual_code(column)[1])
        lettered = np.array([any(sign.isalpha() for sign in text) for text in column.values], dtype=bool)
        # A number is near some other number anyhow, and so is an abbreviation.
        why |= (known.told[:-1, OF_VALUES.index("near")] >= NEAR) & lettered
        plain[:, number] = np.append(~why, False)[column.codes]
        if number < voted:
            once = (column.counts == 1) & ~why
            if once.sum() <= max(FEW, SELDOM * eyes.table.rows):
                new[:, number] = np.append(once, False)[column.codes]
    return new | (new.any(axis=1, keepdims=True) & plain)
