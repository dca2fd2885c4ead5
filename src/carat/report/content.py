"""What the page's script reads: records, evidence and counterfactuals as compact JSON, every text stored once."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import torch

from carat.recourse.explanation import Change, EntityView, Explanation, explain_part
from carat.recourse.outcome import Outcome
from carat.report.collect import Collector
from carat.report.overview import Overview

COUNTERFACTUALS = 20
"""Counterfactuals shown a record, at most."""
STEP = 64
"""Records explained at once; a progress bar moves by so many."""
WITNESSES = 8
"""Entities shown beside a flagged one, at most."""


class _Texts:
    """A string table: a text is stored once and named by its number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, text: str | None) -> int | None:
        return None if text is None else self.numbers.setdefault(text, len(self.numbers))


def content(collected: Collector, overview: Overview, advance: Callable[[int], None] | None = None) -> dict[str, Any]:
    """Everything below the overview; the script's `record.js` reads the same keys. `advance` is told of records."""
    texts = _Texts()
    found, names = [], []
    for part in collected.strangest():
        names = part.table.vocabulary.names
        for start in range(0, len(part.table), STEP):
            some = part.take(torch.arange(start, min(start + STEP, len(part.table))))
            explained = explain_part(some, collected.scale, collected.evidence, show=COUNTERFACTUALS)
            found += [(one.score, one, some.outcome, row) for row, one in enumerate(explained)]
            if advance is not None:
                advance(len(explained))
    found.sort(key=lambda place: place[0])
    records = [_record(one, outcome, row, texts) for _, one, outcome, row in found]
    return {
        "domains": names,
        "threshold": _number(overview.threshold),
        "histogram": {"counts": overview.counts, "edges": [_number(edge) for edge in overview.edges]},
        "costs": any(change[3] is not None for record in records for change in record["changes"]),
        "records": records,
        "texts": list(texts.numbers),
    }


def _record(found: Explanation, outcome: Outcome, row: int, texts: _Texts) -> dict[str, Any]:
    numbers = {view.domain: place for place, view in enumerate(found.entities)}
    return {
        # A script's numbers are exact up to 2⁵³; longer ones stay text.
        "name": found.record if isinstance(found.record, int) and abs(found.record) < 2**53 else str(found.record),
        "score": _number(found.score),
        "percentile": _number(found.percentile),
        "anomalous": int(found.anomalous),
        "count": int(outcome.mask[row].sum()),
        "exhausted": int(outcome.exhausted[row]),
        "reason": found.reason,
        "entities": [texts(view.entity) for view in found.entities],
        "likelihood": [_number(view.likelihood, 3) for view in found.entities],
        "seen": [view.seen for view in found.entities],
        "new": [int(view.unseen) for view in found.entities],
        "words": found.in_words(),
        # In the order of the sentences.
        "against": [[numbers[view.domain], _against(view, numbers, texts)] for view in found.blamed],
        "pairs": [[pair.first, pair.second, pair.together, _number(pair.expected, 3)] for pair in found.pairs],
        "changes": [_change(change, numbers, texts) for change in found.counterfactuals],
    }


def _against(view: EntityView, numbers: dict[str, int], texts: _Texts) -> list[Any]:
    return [
        [numbers[one.domain], one.together, [[texts(text), seen] for text, seen in one.usual]]
        for one in view.against[:WITNESSES]
    ]


def _change(change: Change, numbers: dict[str, int], texts: _Texts) -> list[Any]:
    changed = [
        [numbers[name], texts(new), change.support[name], change.known[name]]
        for name, (_, new) in change.changes.items()
    ]
    cost = None if change.cost is None else _number(change.cost)
    return [_number(change.score), _number(change.percentile), int(change.valid), cost, changed]


def _number(value: float | None, digits: int = 7) -> float | None:
    """Seven digits tell any two float32 apart that a reader could; what is not finite has no JSON."""
    return None if value is None or not math.isfinite(value) else float(f"{value:.{digits}g}")


def as_script(value: Any) -> str:
    r"""JSON that can't end or open an element, whatever texts are in it.

    >>> as_script("</script>")
    '"\\u003c/script\\u003e"'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text
