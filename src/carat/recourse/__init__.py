"""Recourse: what would have made a record normal, in ids; `carat.results` turns it into words."""

from importlib import import_module
from typing import Any

from carat.errors import warn_renamed
from carat.recourse.constraints import Constraints, Costs
from carat.recourse.engine import Guided, Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.ranking import Blend
from carat.recourse.settings import Settings

__all__ = ["Constraints", "Costs", "Settings", "Method", "ModelParts", "Guided", "Outcome", "Blend"]

_MOVED = {"RecourseResult": "carat.results", "Explanation": "carat.results"}


def __getattr__(name: str) -> Any:
    if name not in _MOVED:
        raise AttributeError(f"module 'carat.recourse' has no attribute {name!r}")
    warn_renamed(f"carat.recourse.{name}", f"{_MOVED[name]}.{name}")
    return getattr(import_module(_MOVED[name]), name)
