"""carat: which entities of a flagged record do not belong together, and what would have made it normal."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from carat._version import __version__
from carat.errors import CaratError, InputError

if TYPE_CHECKING:
    from carat import data, datasets, detectors, explain, graph, jobs, metrics, recourse, results, testing
    from carat.data import Columns, Schema
    from carat.fitting import Model, fit, fit_prepared, load, prepare
    from carat.recourse import Constraints, Costs
    from carat.results import Explanation, RecourseResult, Threshold

__all__ = [
    "CaratError",
    "Columns",
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
    "fit_prepared",
    "graph",
    "jobs",
    "load",
    "metrics",
    "prepare",
    "recourse",
    "results",
    "testing",
]

# Looked up when first asked for: torch takes seconds to import, and `carat --help` or a Tab should not wait for it.
_HOMES = {
    "Columns": "carat.data",
    "Constraints": "carat.recourse",
    "Costs": "carat.recourse",
    "Explanation": "carat.results",
    "Model": "carat.fitting",
    "RecourseResult": "carat.results",
    "Schema": "carat.data",
    "Threshold": "carat.results",
    "fit": "carat.fitting",
    "fit_prepared": "carat.fitting",
    "load": "carat.fitting",
    "prepare": "carat.fitting",
}
_PACKAGES = (
    "data",
    "datasets",
    "detectors",
    "explain",
    "graph",
    "jobs",
    "metrics",
    "recourse",
    "results",
    "sklearn",
    "testing",
)


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
