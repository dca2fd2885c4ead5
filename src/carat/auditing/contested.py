"""Columns in which so many cells differ from what similar rows have that it may be choice and no error.

Nine invoices in ten of a supplier are booked on one cost centre, and the tenth on another: the table alone can't say
whether that was right. A value that is common in its column gives nothing away by itself. One such cell among hundreds
is likely an error; where every tenth or twentieth cell is one, nobody is certain about any of them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from carat.auditing.signals import Eyes

OFTEN = 0.05
"""A column is contested where this share of its cells hold another common value than they should."""
COMMON = 0.005
"""A value with this share of its column's cells is a common one."""
UNCERTAIN = 0.85
"""What a fix in a contested column is at most: too little to be made unasked."""


def contested(eyes: Eyes, row: np.ndarray, number: np.ndarray, kinds: Sequence[str]) -> np.ndarray:
    """Which suspicious cells hold common values of contested columns, bool [k].

    Args:
        eyes: on the table.
        row: row numbers of the cells, int64 [k].
        number: of their columns among those that take part, int64 [k].
        kinds: what is wrong with them, [k].
    """
    found = np.zeros(len(row), dtype=bool)
    mismatch = np.array([kind == "mismatch" for kind in kinds], dtype=bool)
    for each in np.unique(number).tolist():
        column = eyes.table.columns[eyes.plan.places[each]]
        filled = max(int(column.counts.sum()), 1)
        mine = np.flatnonzero((number == each) & mismatch)
        codes = column.codes[row[mine]]
        mine = mine[(codes >= 0) & (column.counts[codes] >= max(2, COMMON * filled))]
        if len(mine) >= OFTEN * filled:
            found[mine] = True
    return found
