"""What the page's script reads: `Explanation.to_json` of every record, rounded and cut, as compact JSON."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import torch

from carat.report.collect import Collector
from carat.report.overview import Overview
from carat.results.explaining import explain_batch
from carat.results.explanation import SCHEMA, VERSION

COUNTERFACTUALS = 20
"""Counterfactuals shown a record, at most."""
STEP = 64
"""Records explained at once; a progress bar moves by so many."""
WITNESSES = 8
"""Entities shown beside a flagged one, at most."""
DIGITS = 7
"""Significant digits of a number: they tell any two float32 apart that a reader could."""
FEWER = {"likelihood": 3, "expected": 3, "alarm": 6, "filled": 3}
"""Significant digits of numbers that are estimates themselves, by the name of the field."""
EXACT = 2**53
"""From here on a script's whole numbers are no longer exact."""


def content(collected: Collector, overview: Overview, advance: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Everything below the overview; `data.js` reads it. `advance` is told of records."""
    found = []
    for batch in collected.strangest():
        for start in range(0, len(batch), STEP):
            some = batch.take(torch.arange(start, min(start + STEP, len(batch))))
            explained = explain_batch(some, collected.evidence, show=COUNTERFACTUALS)
            found += [one.to_json() for one in explained]
            if advance is not None:
                advance(len(explained))
    found.sort(key=_place)
    records = [on_page(record) for record in found]
    return {
        "schema": SCHEMA,
        "version": VERSION,
        "key": hashlib.sha256(json.dumps(records).encode()).hexdigest()[:24],
        "columns": collected.evidence.vocabulary.names,
        "threshold": _number(overview.threshold),
        "histogram": {"counts": overview.counts, "edges": [_number(edge) for edge in overview.edges]},
        "alarm": collected.scale.alarm,
        "costs": any(change["cost"] is not None for record in found for change in record["counterfactuals"]),
        "records": records,
    }


def _place(record: Mapping[str, Any]) -> tuple[float, float]:
    """Where a record stands: by alarm, then by score."""
    alarm, score = record["alarm"], record["score"]
    return 1.0 if alarm is None else -alarm, -math.inf if score is None else score


def on_page(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record's `Explanation.to_json` as the page stores it; docs/schema.md says what differs, `data.js` undoes it."""
    name = record["record"]
    shown = {
        **_without(record, "schema", "version"),
        "record": str(name) if isinstance(name, int) and abs(name) >= EXACT else name,
        "values": [
            {**value, "against": [_without(one, "value") for one in value["against"][:WITNESSES]]}
            for value in record["values"]
        ],
        "counterfactuals": [
            {**change, "changes": [_without(one, "before") for one in change["changes"]]}
            for change in record["counterfactuals"]
        ],
    }
    short: dict[str, Any] = _short(shown)
    return short


def _without(fields: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def _short(value: Any, digits: int = DIGITS) -> Any:
    """Rounded, and without the fields that are null, false or an empty list; a zero stays."""
    if isinstance(value, dict):
        kept = {name: one for name, one in value.items() if one is not None and one is not False and one != []}
        return {name: _short(one, FEWER.get(name, DIGITS)) for name, one in kept.items()}
    if isinstance(value, list):
        return [_short(one, digits) for one in value]
    return _number(value, digits) if isinstance(value, float) else value


def _number(value: float, digits: int = DIGITS) -> float | None:
    """Rounded; what is not finite has no JSON."""
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def as_script(value: Any) -> str:
    r"""JSON that can't end or open an element, whatever texts are in it.

    >>> as_script("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
