"""Detectors give every record a score, higher = more normal.

`Mead` and `Ape` learn a vector for every entity, `Counts` needs one counting pass and no training. Detectors from
outside come in through `outside_detector`.
"""

from carat.detectors.adapters import (
    CallableDetector,
    OutsideDetector,
    PyodDetector,
    SklearnDetector,
    outside_detector,
)
from carat.detectors.ape import Ape
from carat.detectors.base import FittedDetector
from carat.detectors.counts import Counts
from carat.detectors.mead import Mead

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
