"""Detectors give every record a score, higher = more normal.

`Mead` and `Ape` learn a vector for every entity, `Counts` needs one counting pass and no training. Detectors from
outside come in through `outside_detector`.
"""

from importlib import import_module
from typing import Any

from carat.detectors.adapters import PyodDetector, SklearnDetector, outside_detector
from carat.detectors.ape import Ape
from carat.detectors.base import FittedDetector
from carat.detectors.counts import Counts
from carat.detectors.mead import Mead
from carat.detectors.outside import CallableDetector, OutsideDetector
from carat.errors import warn_renamed

__all__ = [
    "Mead",
    "Ape",
    "Counts",
    "FittedDetector",
    "OutsideDetector",
    "CallableDetector",
    "SklearnDetector",
    "PyodDetector",
    "outside_detector",
]


def __getattr__(name: str) -> Any:
    if name != "Threshold":
        raise AttributeError(f"module 'carat.detectors' has no attribute {name!r}")
    warn_renamed("carat.detectors.Threshold", "carat.Threshold")
    return import_module("carat.results").Threshold
