"""Values that differ in their numbers alone: `12 patients` and `7 patients` have one template, `7 patixnts` another.

Each such value may be the only one of its kind, so no other vouches for it and none is near enough to correct it. Its
template is as common as the column is long, and a slip in what is written around the numbers stands out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from carat.data.spelling import LONGEST, nearest, unsigned

RATIO = 10.0
"""How many times as many cells the other template must have."""
USUAL = 0.5
"""And which share of the column's: where many templates stand side by side, as in codes, one is as good as another."""
_DIGITS = re.compile(r"[0-9]+")


def off_template(values: Sequence[str], counts: np.ndarray) -> np.ndarray:
    """How much more common the template is that a value's own is a slip of, in nats, float32 [V]; 0 where it is none.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V].
    """
    found = np.zeros(len(values), dtype=np.float32)
    templates = [_DIGITS.sub("9", unsigned(text[:LONGEST])) for text in values]
    met: Counter[str] = Counter()
    for template, count in zip(templates, counts.tolist(), strict=True):
        met[template] += count
    # Where templates tell values apart as well as the values do, there is nothing more to learn from them.
    if not met or 2 * len(met) > len(values):
        return found
    kinds = list(met)
    cells = np.array([met[kind] for kind in kinds], dtype=np.int64)
    near = nearest(kinds, cells, ratio=RATIO)
    more = {
        kinds[place]: float(np.log(cells[near.index[place]] / max(cells[place], 1)))
        for place in np.flatnonzero(near.index >= 0).tolist()
        if "9" in kinds[int(near.index[place])] and cells[near.index[place]] >= USUAL * cells.sum()
    }
    for number, template in enumerate(templates):
        found[number] = more.get(template, 0.0)
    return found
