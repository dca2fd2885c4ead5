"""What a model finds, as `fit` measured it, in the words of whoever looks at the table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRONG = {"one": "one wrong value", "two": "two wrong values"}


def in_words(training: Mapping[str, Any]) -> list[str]:
    """Sentences about the facts of a fit, `Model.training`; none where nothing was measured.

    >>> in_words({})
    []
    """
    found = training.get("found")
    if found is None:
        return []
    said = [_caught(one) for one in found["caught"]]
    if not said:
        few = found["records"]
        said = [
            f"Only {few:,} of the {training['held_out']:,} held-out rows {'sets' if few == 1 else 'set'} the threshold "
            "(the others decide how much the alarm counts beside the score): rows stranger than "
            f"{'it' if few == 1 else 'all of them'} are anomalous, and the share of false alarms is not known"
        ]
    if "roc_auc" in found:
        both, alone = (found["roc_auc"][way] for way in ("gate", "score"))
        said.append(
            f"A row with a wrong value is listed above a normal one in {_percent(both)} of cases "
            f"({_percent(alone)} by the score alone); the wrong values are made up for this check"
        )
    return said


def _caught(one: Mapping[str, Any]) -> str:
    """How many corrupted rows are listed where so many normal ones are."""
    kinds = [
        f"{_percent(one[kind]['gate'])} of rows with {name} ({_percent(one[kind]['score'])} by the score alone)"
        for kind, name in WRONG.items()
        if kind in one
    ]
    return f"Found at {100 * one['false_alarms']:g}% false alarms: {' and '.join(kinds)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}%"
