"""The small contracts that everything else is written against."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from torch import Tensor


@runtime_checkable
class Detector(Protocol):
    """Gives every record a score; **higher = more normal**.

    A detector is a black box: nothing in carat looks behind its score.
    """

    def score(self, ids: Tensor) -> Tensor:
        """Scores float [n] of records ids [n, m]."""
        ...
