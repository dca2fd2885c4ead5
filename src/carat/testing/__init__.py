"""Checks for detectors, explainers, sources and methods of your own; carat's own pass the very same.

`check_detector` and the others run all checks of their kind and raise an `AssertionError` that says what is wrong.
`detector_checks` and the others list them, each with a name, so that pytest can show them one by one:

>>> from carat.testing import detector_checks
>>> [check.name for check in detector_checks("counts")][:2]
['is_a_detector', 'one_score_per_record']
"""

from carat.testing.check import Check
from carat.testing.detectors import check_detector, detector_checks
from carat.testing.explainers import check_explainer, explainer_checks
from carat.testing.methods import check_method, method_checks
from carat.testing.sources import check_source, source_checks

__all__ = [
    "Check",
    "check_detector",
    "detector_checks",
    "check_explainer",
    "explainer_checks",
    "check_source",
    "source_checks",
    "check_method",
    "method_checks",
]
