"""A model in a few lines, as `print` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carat.detectors import OutsideDetector

if TYPE_CHECKING:
    from carat.fitting.model import Model

NAMED = 6
"""Columns that are named; one more is, too, if it is the only one left."""


def described(model: Model) -> str:
    """What it is made of, and what it calls anomalous."""
    training, detector, names = model.training, model.detector, model.vocabulary.names
    rows = f" of {training['records'] + training['held_out']:,} rows" if "records" in training else ""
    parts = [f"detector {detector.describe() if isinstance(detector, OutsideDetector) else detector.name}"]
    parts += [f"explainer {model.explainer.name}"] if model.explainer is not None else ["no explainer"]
    parts += ["graph"] if model.graph is not None else []
    shown = names if len(names) <= NAMED + 1 else [*names[:NAMED], "…"]
    return "\n".join(
        [
            f"Model {model.identity}{rows}: {len(names)} columns, {model.vocabulary.in_use:,} values",
            f"  columns: {', '.join(shown)}",
            f"  {', '.join(parts)}",
            f"  anomalous {_where(model)}",
        ]
    )


def _where(model: Model) -> str:
    """Where anomalous begins, and which share of the held-out rows that is, if there are enough of them to say."""
    scale, gate, quantile = model.scale, model.gate, model.threshold.quantile
    where = f"below score {scale.threshold:.4g}"
    if scale.alarm is not None:
        where += f" or alarm {scale.alarm:.4g} or higher"
    if quantile is None:
        return where
    if gate is not None and not gate.measures(quantile):
        return f"{where}: stranger than all of the few held-out rows"
    if gate is None and quantile * len(model.reference) < 1:
        rows = len(model.reference)
        return (
            f"{where}, about the lowest of {rows:,} held-out rows" if rows > 1 else f"{where}, that of one held-out row"
        )
    return f"{where}, set to list at most {100 * quantile:g}% of held-out rows"
