"""Where a blank cell is an error at all, and where nobody can know what belongs into a cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from carat.auditing.proposals import ALTERNATIVES, FAR, Proposed
from carat.auditing.signals import Eyes
from carat.auditing.table import AuditColumn
from carat.data.spelling import typed_as

HARDLY = 0.1
"""A column is foretold where votes close at least this share of the gap left by guessing its most frequent value."""
OFTEN = 0.02
"""A column with more blanks than this share of its cells is not always filled: a blank there is nothing odd, unless
the rest of the row says what is missing."""
UNKNOWN, GUESSED = 0.3, 0.5
"""A value that is less likely than the first to be right is no proposal for a blank cell; the second holds in columns
that nothing predicts."""
NEVER = 0.05
"""And none for any other cell if it is less likely than this."""


def guess(column: AuditColumn) -> float:
    """How often the most frequent value of a column is right."""
    return float(column.counts[:1].sum()) / max(int(column.counts.sum()), 1)


def is_foretold(column: AuditColumn, foretold: float) -> bool:
    """Whether the rest of a row says more about a column than its most frequent value does.

    Args:
        column: with its values.
        foretold: how often the vote of the other rows names what stands there, blanks counted as misses; NaN where
            nobody votes.
    """
    if not np.isfinite(foretold):
        return False
    filled = int(column.counts.sum()) / max(len(column), 1)
    usual = guess(column)
    return foretold / max(filled, 1e-9) - usual >= HARDLY * (1 - usual)


def _predicted(eyes: Eyes, number: int) -> bool:
    foretold = float(eyes.foretold[number]) if number < len(eyes.plan.voted) else float("nan")
    return is_foretold(eyes.table.columns[eyes.plan.places[number]], foretold)


def unremarkable(eyes: Eyes) -> np.ndarray:
    """Blank cells that are no error: in columns that often have blanks and that nothing predicts, bool [n, c]."""
    places = eyes.plan.places
    found = np.zeros((eyes.table.rows, len(places)), dtype=bool)
    for number, place in enumerate(places):
        column = eyes.table.columns[place]
        if column.blank > OFTEN * eyes.table.rows and not _predicted(eyes, number):
            found[:, number] = column.codes < 0
    return found


def without_guesses(eyes: Eyes, proposed: Proposed, confidence: np.ndarray) -> tuple[Proposed, np.ndarray]:
    """The same, with no proposal where even the best is unlikely; it becomes the first of the alternatives.

    That goes for blank cells and words for nothing first of all. Of another value the text may say what it should be:
    only what is no slip of the proposal, in a column that nothing predicts, is a guess like any other.

    Args:
        eyes: on the table.
        proposed: for some cells.
        confidence: the probability that each is right, [k].
    """
    texts, others, sure = list(proposed.text), list(proposed.others), confidence.copy()
    predicted = np.array([_predicted(eyes, number) for number in range(len(eyes.plan.places))], dtype=bool)
    for k in np.flatnonzero(confidence < GUESSED).tolist():
        number, text = int(proposed.number[k]), texts[k]
        column, known = eyes.table.columns[eyes.plan.places[number]], eyes.texts[eyes.plan.places[number]]
        code = int(column.codes[proposed.row[k]])
        if not text:
            continue
        if code < 0 or known.placeholder[code]:
            least = UNKNOWN if predicted[number] else GUESSED
        elif predicted[number] or text == known.rewritten[code] or typed_as([text], [column.values[code]])[0] > FAR:
            least = NEVER
        else:
            least = UNKNOWN
        if confidence[k] < least:
            texts[k], others[k], sure[k] = None, [text, *others[k]][:ALTERNATIVES], 0.0
    return replace(proposed, text=texts, others=others), sure
