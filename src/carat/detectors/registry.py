"""The detectors that have a name; a new one is one new file and one line here."""

from __future__ import annotations

from carat.detectors.ape import Ape
from carat.detectors.base import FittedDetector
from carat.detectors.counts import Counts
from carat.detectors.mead import Mead

DETECTORS: dict[str, type[FittedDetector]] = {cls.name: cls for cls in (Mead, Ape, Counts)}
