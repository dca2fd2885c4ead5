"""carat: which entities of a flagged record do not belong together, and what would have made it normal."""

from carat import data, datasets, detectors, explain, metrics
from carat._version import __version__
from carat.data import Schema
from carat.detectors import Threshold
from carat.errors import CaratError, InputError
from carat.fitting import fit
from carat.model import Model, load

__all__ = [
    "CaratError",
    "InputError",
    "Model",
    "Schema",
    "Threshold",
    "__version__",
    "data",
    "datasets",
    "detectors",
    "explain",
    "fit",
    "load",
    "metrics",
]
