"""carat: which entities of a flagged record do not belong together, and what would have made it normal."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from carat._version import __version__
from carat.errors import CaratError, InputError

if TYPE_CHECKING:
    from carat import data, datasets, detectors, explain, graph, metrics, recourse
    from carat.data import Schema
    from carat.detectors import Threshold
    from carat.fitting import fit
    from carat.loading import load
    from carat.model import Model
    from carat.recourse import Constraints, Costs, Explanation, RecourseResult

__all__ = [
    "CaratError",
    "Constraints",
    "Costs",
    "Explanation",
    "InputError",
    "Model",
    "RecourseResult",
    "Schema",
    "Threshold",
    "__version__",
    "data",
    "datasets",
    "detectors",
    "explain",
    "fit",
    "graph",
    "load",
    "metrics",
    "recourse",
]

# Looked up when first asked for: torch takes seconds to import, and `carat --help` or a Tab should not wait for it.
_HOMES = {
    "Constraints": "carat.recourse",
    "Costs": "carat.recourse",
    "Explanation": "carat.recourse",
    "Model": "carat.model",
    "RecourseResult": "carat.recourse",
    "Schema": "carat.data",
    "Threshold": "carat.detectors",
    "fit": "carat.fitting",
    "load": "carat.loading",
}
_PACKAGES = ("data", "datasets", "detectors", "explain", "graph", "metrics", "recourse")


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return import_module(f"carat.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'carat' has no attribute {name!r}")
    found = getattr(import_module(_HOMES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
