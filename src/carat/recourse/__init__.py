"""Recourse: what would have made a record normal."""

from carat.recourse.constraints import Constraints, Costs
from carat.recourse.engine import Guided, Method, Settings
from carat.recourse.explanation import Explanation
from carat.recourse.methods import METHODS, Parts, make_method
from carat.recourse.outcome import Outcome
from carat.recourse.result import RecourseResult

__all__ = [
    "RecourseResult",
    "Explanation",
    "Constraints",
    "Costs",
    "Settings",
    "Method",
    "METHODS",
    "Parts",
    "make_method",
    "Guided",
    "Outcome",
]
