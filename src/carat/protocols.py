"""The small contracts that everything else is written against."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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


@dataclass(frozen=True)
class Terms:
    """A score of all combinations of replacements, taken apart: constant + Σ unary + Σ pairs.

    For records with t target domains and L candidates for each; a combination takes one candidate of each target.

    Args:
        constant: what the kept entities give, [n].
        unary: what each candidate gives with the kept entities, [n, t, L].
        pair: for two targets i < j and a part of the records, what their candidates give together, [part, L, L]; None
            where nothing does.
    """

    constant: Tensor
    unary: Tensor
    pair: Callable[[int, int, slice], Tensor] | None = None


@runtime_checkable
class GridDetector(Detector, Protocol):
    """A detector whose score is a sum over entities and pairs: all combinations cost a few matrix products."""

    def terms(self, ids: Tensor, domains: Tensor, entities: Tensor) -> Terms:
        """The scores of records ids [n, m] with `entities` int64 [n, t, L] in place of those in `domains` [n, t].

        Padding among the entities may be any id; what it scores is not used.
        """
        ...


@dataclass(frozen=True)
class Candidates:
    """Proposed replacements, padded.

    Args:
        ids: int64 [n, m, L]; `MISSING` (0) where padded.
        log_weight: how well each fits its context, up to a constant for each position, [n, m, L]; −∞ where padded.
        by_source: of a union, the log-weight that each source gives, [n, m, L]; −∞ where it gives none.
    """

    ids: Tensor
    log_weight: Tensor
    by_source: Mapping[str, Tensor] = field(default_factory=dict)

    @property
    def mask(self) -> Tensor:
        """Where there is a candidate, bool [n, m, L]."""
        return self.ids != 0


@runtime_checkable
class CandidateSource(Protocol):
    """Proposes entities to put in the place of those that do not belong."""

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        """Candidates for the target domains, bool [n, m], of records ids [n, m]; nothing elsewhere.

        The targets' present entities are no evidence: they are what is in doubt.
        """
        ...


@dataclass(frozen=True)
class Found:
    """Combinations that a search came up with, before they are put in their final order.

    Args:
        counterfactuals: whole records, int64 [n, C, m], in the order of the search.
        mask: which of them exist, bool [n, C].
        score: the detector's, [n, C]; −∞ where there is none.
        base_score: the detector's, of the records themselves, [n].
        log_weight: of the replacements, summed, [n, C].
        cost: of the changes, [n, C].
    """

    counterfactuals: Tensor
    mask: Tensor
    score: Tensor
    base_score: Tensor
    log_weight: Tensor
    cost: Tensor
