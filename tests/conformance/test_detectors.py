"""Every detector of the registry, and adapters around detectors from outside, against the public checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyod.models.hbos import HBOS
from pyod.models.iforest import IForest
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

from carat.detectors import PyodDetector
from carat.registry import DETECTORS
from carat.testing import Check, detector_checks
from tests.conformance.listing import listed
from tests.support.planted import group_agreement

OUTSIDE: dict[str, Callable[[], Any]] = {
    "callable": lambda: group_agreement,
    "sklearn OneClassSVM": lambda: OneClassSVM(nu=0.05),
}
# These look at one column at a time, or nearly so: a record of common entities is normal to them, whatever the context.
BLIND_TO_CONTEXT: dict[str, Callable[[], Any]] = {
    "sklearn IsolationForest": lambda: IsolationForest(n_estimators=100, random_state=0),
    "pyod IForest one-hot": lambda: PyodDetector(IForest(n_estimators=100, random_state=0), encoding="onehot"),
    "pyod HBOS frequency": lambda: PyodDetector(HBOS(), encoding="frequency"),
}


@pytest.mark.parametrize("check", [each for name in DETECTORS for each in listed(name, detector_checks(name))])
def test_detector(check: Check) -> None:
    check()


@pytest.mark.parametrize(
    "check",
    [each for name, make in OUTSIDE.items() for each in listed(name, detector_checks(make()))]
    + [
        each for name, make in BLIND_TO_CONTEXT.items() for each in listed(name, detector_checks(make(), context=False))
    ],
)
def test_detector_from_outside(check: Check) -> None:
    check()
