"""What the audit page's script reads: the suspicious cells column by column, every text once, as compact JSON."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.auditing.findings import KINDS, Findings
from carat.auditing.patterns import pattern_of
from carat.auditing.precedents import precedents
from carat.auditing.result import AuditResult

LISTED = 20_000
"""Cells that a page lists, at most; those that are fixed together stay together."""
DETAILED = 2_000
"""Cells that come with the rows most like their own."""
VALUES = 400_000
"""Values of whole rows that a page holds, at most: a wide table has fewer rows in it."""
LONG = 300
"""Signs of a text that a row shows; the suspicious value itself is whole."""
MILLION = 1_000_000
"""Probabilities are whole numbers of millionths, rounded down: a cut of up to six digits parts them as before."""


class Texts:
    """Every different text once; a text is written as its place."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}

    def place(self, text: str | None) -> int:
        """Where it stands; −1 for None."""
        return -1 if text is None else self.places.setdefault(text, len(self.places))

    def all(self) -> list[str]:
        """In order."""
        return list(self.places)


def audit_content(result: AuditResult, advance: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Everything that the script draws; `templates/audit/data.js` reads it. `advance` is told of cells done."""
    found = result.findings.top(LISTED)
    shown = AuditResult(found, result.reading, result.options)
    texts = Texts()
    cells = _cells(shown, texts)
    rows, similar = _rows(shown, texts, advance)
    return {
        "key": key_of(result),
        "columns": [column.name for column in result.reading.table.columns],
        "kinds": list(KINDS),
        "cells": cells,
        "rows": rows,
        "similar": similar,
        "texts": texts.all(),
    }


def key_of(result: AuditResult) -> str:
    """By which a browser knows the decisions about these very cells again."""
    found, made = result.findings, hashlib.sha256(result.reading.fingerprint.encode())
    for numbers in (found.row, found.column, found.group):
        made.update(np.ascontiguousarray(numbers, dtype="<i8").data)
    made.update("\0".join(f"{text is None}{text}" for text in found.proposal).encode("utf-8", "surrogatepass"))
    return made.hexdigest()[:24]


def _cells(result: AuditResult, texts: Texts) -> dict[str, Any]:
    """One list for every column of `carat audit --out`, and the patterns of the fixes."""
    found, table = result.findings, result.to_arrow()
    values: list[str | None] = table["value"].to_pylist()
    kinds = {kind: number for number, kind in enumerate(KINDS)}
    patterns = [pattern_of(value, fix) for value, fix in zip(values, found.proposal, strict=True)]
    return {
        "row": found.row.tolist(),
        **_names(result, table["record"], texts),
        "column": found.column.tolist(),
        "value": [texts.place(value) for value in values],
        "kind": [kinds[kind] for kind in found.kind],
        "error": _millionths(found.error),
        "proposal": [texts.place(fix) for fix in found.proposal],
        "confidence": _millionths(found.confidence),
        "alternatives": [[texts.place(text) for text in some] for some in found.alternatives],
        "reason": [texts.place(reason) for reason in found.reason],
        "group": found.group.tolist(),
        "pattern": [texts.place(pattern) for pattern in patterns],
    }


def _names(result: AuditResult, names: pa.ChunkedArray, texts: Texts) -> dict[str, Any]:
    """What rows are called, as a file would write it; nothing where that is their number."""
    if result.reading.names is None:
        return {}
    return {"record": [texts.place(name) for name in pc.cast(names, pa.string()).to_pylist()]}


def _millionths(numbers: np.ndarray) -> list[int]:
    return [math.floor(number * MILLION + 1e-6) for number in numbers.tolist()]


def _rows(
    result: AuditResult, texts: Texts, advance: Callable[[int], None] | None
) -> tuple[dict[str, Any], list[list[int]]]:
    """The rows around the cells and those most like them, each once, and by cell which of them are like its own."""
    found, table = result.findings, result.reading.table
    room = max(VALUES // max(len(table.columns), 1), 1)
    detailed = min(len(found), DETAILED, max(room // 4, 1))
    doubted = _doubted(found, len(table.columns))[:detailed]
    like = precedents(table, found.row[:detailed], found.column[:detailed], doubted, advance)
    wanted: dict[int, int] = {}
    for row, others in zip(found.row[:detailed].tolist(), like.tolist(), strict=True):
        for one in (row, *others):
            if one >= 0:
                wanted.setdefault(one, len(wanted))
    for row in found.row[detailed:].tolist():
        if len(wanted) >= room:
            break
        wanted.setdefault(row, len(wanted))
    numbers = np.fromiter(wanted, dtype=np.int64, count=len(wanted))
    values = []
    for column in table.columns:
        codes = column.codes[numbers].tolist()
        values.append([texts.place(None if code < 0 else _cut(column.values[code])) for code in codes])
    names = result.reading.names
    called = {} if names is None else _names(result, pa.chunked_array([names.take(pa.array(numbers))]), texts)
    similar = [[wanted[one] for one in others if one >= 0] for others in like.tolist()]
    return {"row": numbers.tolist(), **called, "values": values}, similar


def _doubted(found: Findings, columns: int) -> np.ndarray:
    """By cell, which values of its row are suspicious themselves, bool [f, m]."""
    rows, back = np.unique(found.row, return_inverse=True)
    doubted = np.zeros((len(rows), columns), dtype=bool)
    doubted[back, found.column] = True
    return np.asarray(doubted[back])


def _cut(text: str) -> str:
    return text if len(text) <= LONG else text[: LONG - 1] + "…"
