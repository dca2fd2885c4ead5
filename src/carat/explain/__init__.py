"""Explainers: which entities of a record do not belong in their context.

`TransformerExplainer` is the paper's (encoder, decoder-R, decoder-P), `CountsExplainer` needs no training, and
`ContextDetector` turns either into a detector.
"""

from carat.explain.base import FittedExplainer
from carat.explain.calibration import Calibration, expected_calibration_error, fit_calibration
from carat.explain.choice import CUT, flagged, targets
from carat.explain.context import ContextDetector
from carat.explain.counts import CountsExplainer
from carat.explain.judge import Judge
from carat.explain.transformer import FrozenExplainer, TransformerExplainer

__all__ = [
    "TransformerExplainer",
    "FrozenExplainer",
    "CountsExplainer",
    "Judge",
    "ContextDetector",
    "FittedExplainer",
    "flagged",
    "targets",
    "CUT",
    "Calibration",
    "fit_calibration",
    "expected_calibration_error",
]
