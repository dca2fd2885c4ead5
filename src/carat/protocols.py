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


@runtime_checkable
class Explainer(Protocol):
    """Gives every entity of a record the likelihood that it belongs in its context."""

    def likelihood(self, ids: Tensor) -> Tensor:
        """Likelihoods float [n, m] in 0..1 of records ids [n, m]; NaN where an entity is missing."""
        ...
