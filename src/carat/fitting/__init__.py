"""From a table to a trained `Model`, to a folder and back."""

from carat.fitting.fit import fit, fit_prepared
from carat.fitting.loading import load
from carat.fitting.model import Model
from carat.fitting.prepare import Prepared, prepare
from carat.fitting.recipe import Recipe

__all__ = ["fit", "prepare", "Prepared", "fit_prepared", "Recipe", "Model", "load"]
