"""One small fitted model for all tests of recourse, with any detector in it, and records to ask it about."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
from sklearn.ensemble import IsolationForest

import carat
from carat.registry import DETECTORS as KNOWN
from carat.testing.parts import model_for, trained, training_data
from tests.support.planted import DOMAINS, group_agreement, twice_corrupted

__all__ = ["DETECTORS", "OUTSIDE", "base", "for_method", "frame", "instant_of", "model_of"]
__all__ += ["training_data", "twice_corrupted"]

OUTSIDE: dict[str, Callable[[], Any]] = {
    "callable": lambda: group_agreement,
    "isolation forest": lambda: IsolationForest(n_estimators=50, random_state=0),
}
DETECTORS = (*KNOWN, *OUTSIDE)


def base() -> carat.Model:
    """Explainer and graph, trained once."""
    return trained()


def thing_of(detector: str) -> Any:
    """A detector as `carat.fit` takes it."""
    return OUTSIDE[detector]() if detector in OUTSIDE else detector


@cache
def model_of(detector: str) -> carat.Model:
    """The same with another detector; the split is that of the seed, so nothing else changes."""
    return base() if detector == "counts" else model_for(("transformer", "graph"), thing_of(detector))


@cache
def instant_of(detector: str) -> carat.Model:
    """The same detector with the counts explainer, for the method `instant`."""
    return model_for(("counts",), thing_of(detector))


def for_method(method: str, detector: str) -> carat.Model:
    """A model that can do the method."""
    return instant_of(detector) if method == "instant" else model_of(detector)


def frame(records: list[dict[str, Any]]) -> pa.Table:
    """Records as a table of text, also where there are none."""
    return pa.table({name: pa.array([row.get(name) for row in records], pa.string()) for name in DOMAINS})
