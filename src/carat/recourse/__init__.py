"""Recourse: what would have made a record normal, in ids; `carat.results` turns it into words."""

from carat.recourse.constraints import Constraints, Costs
from carat.recourse.engine import Guided, Method, Settings
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts

__all__ = ["Constraints", "Costs", "Settings", "Method", "ModelParts", "Guided", "Outcome"]
