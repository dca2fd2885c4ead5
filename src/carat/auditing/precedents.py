"""Precedents of a cell: the rows most like its own, by the values that tell most about its column."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from carat.auditing.table import AuditTable

SHOWN = 5
"""Precedents of a cell, at most."""
ASKED = 6
"""Values of a row whose other rows are looked at: the most telling ones."""
EACH = 200
"""Rows looked at for each of them, at most: a value that stands everywhere would bring the whole table."""
PAIRS = 4_000
"""Pairs of rows by which it is measured how much one column tells about another."""
STEP = 128
"""Cells whose precedents are looked for at once."""
FAINT = 0.01
"""What a shared value counts at least: where nothing tells about a column, rows are still alike or not."""


@dataclass(frozen=True)
class _Lists:
    """The rows of every value of a column.

    Args:
        order: row numbers, those with the same value side by side in no order, blank ones left out, int32 [k].
        start: where the rows of each value begin in `order`, int64 [V + 1].
        weight: how rare each value is, float32 [V + 1]; the last is for a blank cell, and 0.
    """

    order: np.ndarray
    start: np.ndarray
    weight: np.ndarray


def precedents(
    table: AuditTable,
    rows: np.ndarray,
    columns: np.ndarray,
    doubted: np.ndarray | None = None,
    advance: Callable[[int], None] | None = None,
) -> np.ndarray:
    """The rows most like those of some cells, the most similar first, int64 [f, SHOWN]; −1 where there are no more.

    Two rows are alike as far as they share values that are rare and that tell something about the cell's column. The
    column itself does not count, nor does the row itself.

    Args:
        table: what the cells are in.
        rows: of the cells, int64 [f].
        columns: of the cells, int64 [f].
        doubted: whether each value of the cell's row is suspicious itself and so does not count, bool [f, m].
        advance: is told of cells done.
    """
    found = np.full((len(rows), SHOWN), -1, dtype=np.int64)
    if not len(rows) or table.rows < 2:
        return found
    codes = np.stack([column.codes for column in table.columns], axis=1)
    # Rows that stand side by side in a file are often alike: pairs and samples are drawn from a shuffled one.
    shuffled = np.random.default_rng(0).permutation(table.rows)
    lists = [_lists(codes[:, place], len(column.values), shuffled) for place, column in enumerate(table.columns)]
    told = telling(codes, lists)
    for start in range(0, len(rows), STEP):
        part = slice(start, start + STEP)
        weight = _weights(codes, lists, told, rows[part], columns[part])
        if doubted is not None:
            weight[doubted[part]] = 0
        found[part] = _nearest(codes, lists, rows[part], weight)
        if advance is not None:
            advance(len(rows[part]))
    return found


def _lists(codes: np.ndarray, values: int, shuffled: np.ndarray) -> _Lists:
    order = shuffled[np.argsort(codes[shuffled], kind="stable")].astype(np.int32)
    counts = np.bincount(codes[codes >= 0], minlength=values)
    start = np.concatenate([[0], np.cumsum(counts)])
    weight = np.append(np.log(len(codes) / np.maximum(counts, 1)), 0.0).astype(np.float32)
    return _Lists(order[len(order) - start[-1] :], start, weight)


def telling(codes: np.ndarray, lists: list[_Lists]) -> np.ndarray:
    """How much sharing a value of one column says about sharing one of another, 0..1, [m, m].

    Measured on pairs of rows that share a value of the first, beyond what chance would give; the pairs lie evenly over
    the column.
    """
    columns = codes.shape[1]
    chance = np.array([_chance(codes[:, place]) for place in range(columns)])
    told = np.zeros((columns, columns), dtype=np.float32)
    for place, held in enumerate(lists):
        first, second = held.order[:-1], held.order[1:]
        pairs = np.flatnonzero(codes[first, place] == codes[second, place])
        if not len(pairs):
            continue
        pairs = pairs[np.linspace(0, len(pairs) - 1, min(PAIRS, len(pairs))).astype(np.int64)]
        one, other = codes[first[pairs]], codes[second[pairs]]
        equal = ((one == other) & (one >= 0)).mean(axis=0)
        told[place] = np.clip((equal - chance) / np.maximum(1 - chance, 1e-9), 0, 1)
    return told


def _chance(codes: np.ndarray) -> float:
    """How often two rows share a value of a column."""
    counts = np.bincount(codes[codes >= 0])
    return float(((counts / max(len(codes), 1)) ** 2).sum())


def _weights(
    codes: np.ndarray, lists: list[_Lists], told: np.ndarray, rows: np.ndarray, columns: np.ndarray
) -> np.ndarray:
    """What sharing each value of the cells' rows counts, [b, m]; the column of the cell itself counts nothing."""
    rare = np.stack([held.weight[codes[rows, place]] for place, held in enumerate(lists)], axis=1)
    weight = rare * (told[:, columns].T ** 2 + FAINT)
    weight[np.arange(len(rows)), columns] = 0
    return np.asarray(weight, dtype=np.float32)


def _nearest(codes: np.ndarray, lists: list[_Lists], rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The rows that share the most, int64 [b, SHOWN]."""
    others = _candidates(codes, lists, rows, weight)
    score = np.zeros(others.shape, dtype=np.float32)
    for place in range(codes.shape[1]):
        mine = codes[rows, place][:, None]
        score += np.where((codes[others, place] == mine) & (mine >= 0), weight[:, place][:, None], 0)
    # A candidate may come by several of its values; only its first place counts.
    twice = np.zeros(others.shape, dtype=bool)
    twice[:, 1:] = others[:, 1:] == others[:, :-1]
    score[twice | (others < 0) | (others == rows[:, None])] = 0
    best = np.argsort(-score, axis=1, kind="stable")[:, :SHOWN]
    picked = np.where(np.take_along_axis(score, best, axis=1) > 0, np.take_along_axis(others, best, axis=1), -1)
    found = np.full((len(rows), SHOWN), -1, dtype=np.int64)
    found[:, : picked.shape[1]] = picked
    return found


def _candidates(codes: np.ndarray, lists: list[_Lists], rows: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Rows that share a telling value, ascending in each line, int64 [b, ASKED × EACH]; −1 fills up."""
    asked = np.argsort(-weight, axis=1, kind="stable")[:, :ASKED]
    found = np.full((len(rows), asked.shape[1] * EACH), -1, dtype=np.int64)
    for number, row in enumerate(rows.tolist()):
        for k, place in enumerate(asked[number].tolist()):
            code = int(codes[row, place])
            if code < 0 or weight[number, place] <= 0:
                continue
            held = lists[place]
            first, last = int(held.start[code]), int(held.start[code + 1])
            some = held.order[first : min(last, first + EACH)]
            found[number, k * EACH : k * EACH + len(some)] = some
    return np.sort(found, axis=1)
