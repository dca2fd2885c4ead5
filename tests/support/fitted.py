"""One small fitted model for all tests of recourse, with any detector in it, and records to ask it about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pyarrow as pa
from sklearn.ensemble import IsolationForest

import carat
from carat.data import Table, TrainingData, open_source
from carat.detectors import OutsideDetector, outside_detector
from carat.explain import ContextDetector
from carat.graph import KnowledgeGraph
from tests.support.planted import DOMAINS, GROUPS, group_agreement, planted_table, record
from tests.support.small import small

OUTSIDE: dict[str, Callable[[], Any]] = {
    "callable": lambda: group_agreement,
    "isolation forest": lambda: IsolationForest(n_estimators=50, random_state=0),
}
DETECTORS = ("mead", "ape", "counts", "context", *OUTSIDE)


@cache
def base() -> carat.Model:
    """Explainer and graph, trained once."""
    return carat.fit(planted_table(), explainer=small(), graph=KnowledgeGraph(epochs=20), detector="counts")


@cache
def model_of(detector: str) -> carat.Model:
    """The same with another detector; the split is that of the seed, so nothing else changes."""
    if detector == "counts":
        return base()
    if detector == "context":
        explainer = base().explainer
        assert explainer is not None
        context, data = ContextDetector().attach(explainer), training_data()
        scores = context.fit(data).score(data.held_out).sort().values
        return replace(base(), detector=context, reference=scores)
    thing = OUTSIDE[detector]() if detector in OUTSIDE else detector
    fitted = carat.fit(planted_table(), explainer=False, detector=thing)
    return replace(base(), detector=fitted.detector, reference=fitted.reference)


@cache
def instant_of(detector: str) -> carat.Model:
    """The same detector with the counts explainer, for the method `instant`."""
    counting = carat.fit(planted_table(), profile="instant")
    fitted = model_of(detector)
    if detector == "context":
        return carat.fit(planted_table(), profile="instant", detector="context")
    if isinstance(fitted.detector, OutsideDetector):
        again = outside_detector(OUTSIDE[detector]())
        again = again if detector == "callable" else fitted.detector
        return replace(counting, detector=again.attach(counting.vocabulary), reference=fitted.reference)
    return replace(counting, detector=fitted.detector, reference=fitted.reference)


def for_method(method: str, detector: str) -> carat.Model:
    """A model that can do the method."""
    return instant_of(detector) if method == "instant" else model_of(detector)


def training_data() -> TrainingData:
    """What the models were fitted on."""
    model = base()
    ids = Table.read(open_source(planted_table()), model.schema, model.vocabulary).ids
    return TrainingData.split(ids, model.vocabulary)


def twice_corrupted() -> list[dict[str, str]]:
    """Two domains from two other groups; the other two still agree."""
    return [record(Port=g, Good=(g + 1) % GROUPS, Carrier=g, Buyer=(g + 3) % GROUPS) for g in range(GROUPS)] + [
        record(Port=(g + 1) % GROUPS, Good=g, Carrier=(g + 2) % GROUPS, Buyer=g) for g in range(GROUPS)
    ]


def frame(records: list[dict[str, Any]]) -> pa.Table:
    """Records as a table of text, also where there are none."""
    return pa.table({name: pa.array([row.get(name) for row in records], pa.string()) for name in DOMAINS})
