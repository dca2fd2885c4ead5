"""Rows and cells of a CSV file by their places in it, told apart exactly as the reader does (`data/sources/csv.py`).

A quote opens a quoted part only at the beginning of a cell; inside, two quotes are one; after the closing quote the
cell goes on as plain text. A carriage return, a line feed or both end a row, and an empty line is no row.
"""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np

QUOTE, LF, CR = ord('"'), ord("\n"), ord("\r")


def row_bounds(text: bytes, delimiter: bytes, *, final: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Where rows begin and end, [r] each, line ends not included, and how far all is told.

    Args:
        text: one byte per unit, from the beginning of a row.
        delimiter: one byte.
        final: whether nothing follows, so that a last line without an end is a row too.
    """
    units = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero((units == LF) | (units == CR))
    quotes = np.flatnonzero(units == QUOTE)
    if len(quotes):
        if _regular(units, quotes, delimiter):
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
        else:
            ends = _walked(text, ends, quotes, delimiter)
    told = int(ends[-1]) + 1 if len(ends) else 0
    if final and told < len(text):
        ends, told = np.append(ends, len(text)), len(text)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1] + 1]) if len(ends) else ends
    row = ends > starts  # the line feed after a carriage return ends nothing, as does any empty line
    return starts[row], ends[row], told


def cell_bounds(row: bytes, delimiter: bytes) -> list[tuple[int, int]]:
    """Where the cells of one row begin and end, quotes included."""
    pattern = _cell(delimiter)
    found = []
    at = 0
    while True:
        match = pattern.match(row, at)
        assert match is not None  # an empty cell matches everywhere
        found.append(match.span())
        at = match.end() + 1
        if at > len(row):
            return found


def unquoted(cell: str) -> str:
    """What a cell says, from how it is written.

    >>> unquoted('"a ""b"" c"'), unquoted('5" pipe'), unquoted('"a"b')
    ('a "b" c', '5" pipe', 'ab')
    """
    if not cell.startswith('"'):
        return cell
    match = re.match(r'"((?:[^"]++|"")*+)"?', cell)
    assert match is not None  # the first quote is there
    return match[1].replace('""', '"') + cell[match.end() :]


def written(text: str, delimiter: str, *, quoted: bool) -> str:
    """How a cell is written: in quotes only where it must be, or where it was before.

    >>> written("Leith", ",", quoted=False), written('6" pipe, old', ",", quoted=False), written("", ",", quoted=True)
    ('Leith', '"6"" pipe, old"', '""')
    """
    if quoted or any(mark in text for mark in (delimiter, '"', "\n", "\r")):
        return '"' + text.replace('"', '""') + '"'
    return text


def _regular(units: np.ndarray, quotes: np.ndarray, delimiter: bytes) -> bool:
    """Whether every second quote opens a quoted part, so that counting quotes tells what lies inside of one."""
    opening = quotes[::2]
    before = units[opening[opening > 0] - 1]
    # After another quote it is the second of two inside a quoted part: out and in again.
    return bool(np.isin(before, np.array([ord(delimiter), LF, CR, QUOTE], dtype=np.uint8)).all())


def _walked(text: bytes, ends: np.ndarray, quotes: np.ndarray, delimiter: bytes) -> np.ndarray:
    """Line ends outside of quotes where some quotes are plain text: rows with a quote are read one by one."""
    pattern = _row(delimiter)
    kept = []
    at = 0
    while True:
        place = int(np.searchsorted(quotes, at))
        if place == len(quotes):
            kept.append(ends[np.searchsorted(ends, at) :])
            break
        first, last = np.searchsorted(ends, [at, int(quotes[place])])
        kept.append(ends[first:last])
        match = pattern.match(text, int(ends[last - 1]) + 1 if last > first else at)
        assert match is not None  # an empty row matches everywhere
        if match.end() == len(text):
            break
        kept.append(np.array([match.end()], dtype=np.int64))
        at = match.end() + 1
    return np.concatenate(kept)


def _cell_pattern(delimiter: bytes) -> bytes:
    plain = rb"[^" + re.escape(delimiter) + rb"\r\n]"
    return rb'(?:"(?:[^"]++|"")*+(?:"' + plain + rb"*+)?+|" + plain + rb"*+)"


@lru_cache
def _cell(delimiter: bytes) -> re.Pattern[bytes]:
    return re.compile(_cell_pattern(delimiter))


@lru_cache
def _row(delimiter: bytes) -> re.Pattern[bytes]:
    cell = _cell_pattern(delimiter)
    return re.compile(cell + rb"(?:" + re.escape(delimiter) + cell + rb")*+")
