"""Words inside values: a misspelt word in a text that no other row repeats is still a slip of a common word."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from carat.data.spelling import LONGEST, nearest

RATIO = 10.0
"""How many times as many cells must hold the other word."""
SHORTEST = 4
"""Letters of a word; a slip in a shorter one is another word as often as not."""
_WORD = re.compile(r"[^\W\d_]+")


def misspelt(values: Sequence[str], counts: np.ndarray) -> tuple[np.ndarray, list[str | None]]:
    """How much more common the words are that a value's words are slips of, in nats, [V], and the value with those.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].
    """
    found = np.zeros(len(values), dtype=np.float32)
    fixed: list[str | None] = [None] * len(values)
    spans = [[match.span() for match in _WORD.finditer(text[:LONGEST])] for text in values]
    # A value that is one word is left to the spelling of whole values.
    if not any(len(each) > 1 or (each and each[0] != (0, len(text))) for each, text in zip(spans, values, strict=True)):
        return found, fixed
    met: Counter[str] = Counter()
    for text, each, count in zip(values, spans, counts.tolist(), strict=True):
        for word in {text[begin:end] for begin, end in each}:
            met[word] += count
    words = [word for word in met if len(word) >= SHORTEST]
    cells = np.array([met[word] for word in words], dtype=np.int64)
    near = nearest(words, cells, ratio=RATIO) if words else None
    better: dict[str, tuple[str, float]] = {}
    if near is not None:
        for place in np.flatnonzero(near.index >= 0).tolist():
            other = int(near.index[place])
            better[words[place]] = (words[other], float(np.log(cells[other] / cells[place])))
    for number, (text, each) in enumerate(zip(values, spans, strict=True)):
        wrong = [(begin, end) for begin, end in each if text[begin:end] in better]
        if not wrong:
            continue
        found[number] = max(better[text[begin:end]][1] for begin, end in wrong)
        made, last = [], 0
        for begin, end in wrong:
            made += [text[last:begin], better[text[begin:end]][0]]
            last = end
        fixed[number] = "".join([*made, text[last:]])
    return found, fixed
