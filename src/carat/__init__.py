"""carat: which entities of a flagged record do not belong together, and what would have made it normal."""

from carat import data, datasets, detectors, explain, graph, metrics, recourse
from carat._version import __version__
from carat.data import Schema
from carat.detectors import Threshold
from carat.errors import CaratError, InputError
from carat.fitting import fit
from carat.loading import load
from carat.model import Model
from carat.recourse import Constraints, Costs, RecourseResult

__all__ = [
    "CaratError",
    "Constraints",
    "Costs",
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
