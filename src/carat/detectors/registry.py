"""The detectors that have a name; a new one is one new file and one line here."""

from __future__ import annotations

from carat.detectors.ape import Ape
from carat.detectors.base import FittedDetector
from carat.detectors.counts import Counts
from carat.detectors.mead import Mead
from carat.errors import InputError, nearest

DETECTORS: dict[str, type[FittedDetector]] = {cls.name: cls for cls in (Mead, Ape, Counts)}


def detector_class(name: str) -> type[FittedDetector]:
    """The detector of this name.

    >>> detector_class("mead").__name__
    'Mead'
    """
    if name not in DETECTORS:
        raise InputError(f"unknown detector '{name}'; {nearest(name, DETECTORS)}")
    return DETECTORS[name]
