"""Two cells of a row that hold each other's values: `KS` as the city and `Wichita` as the state.

Rows with the same exchange vouch for each other, and each of the two cells is part of what is said of the other. So
neither the vote nor the text of one cell shows as plainly as both texts together what has happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from carat.auditing.table import AuditTable
from carat.auditing.texts import OF_VALUES, ValueTexts

AWAY, BESIDE = 10.0, 2.0
"""A value is away from home where another column holds it so many times as often. Where one of two cells is, the second
number will do for the other: a rare city that was swapped with its state twice is not much rarer among the states."""


def exchanged(
    table: AuditTable, texts: Mapping[int, ValueTexts], places: Sequence[int], rows: np.ndarray
) -> np.ndarray:
    """For cells that hold a value of another column while that column's cell holds one of theirs, the number of that
    column among those that take part; −1 for all others, int64 [r, c].

    Args:
        table: all rows.
        texts: what is known of the values of its columns.
        places: columns that take part.
        rows: row numbers, int64 [r].
    """
    number = {place: k for k, place in enumerate(places)}
    homes = np.full((len(rows), len(places)), -1, dtype=np.int64)
    surely = np.zeros((len(rows), len(places)), dtype=bool)
    for k, place in enumerate(places):
        known, codes = texts[place], table.columns[place].codes[rows]
        more = known.told[:-1, OF_VALUES.index("foreign")] - 6
        home = np.array([number.get(other, -1) for other in known.elsewhere.tolist()], dtype=np.int64)
        homes[:, k] = np.append(np.where(more > np.log(BESIDE), home, -1), -1)[codes]
        surely[:, k] = np.append(more > np.log(AWAY), False)[codes]
    # The home of the cell at home: its own column, where two cells were exchanged.
    at = np.maximum(homes, 0)
    back, sure = np.take_along_axis(homes, at, axis=1), surely | np.take_along_axis(surely, at, axis=1)
    found: np.ndarray = np.where((homes >= 0) & (back == np.arange(len(places))) & sure, homes, -1)
    return found
