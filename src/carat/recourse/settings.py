"""What a user may choose about a search for counterfactuals."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import torch

from carat.arguments import check_number
from carat.data.vocabulary import Vocabulary
from carat.errors import InputError
from carat.protocols import Detector, GridDetector
from carat.recourse.constraints import Constraints, ResolvedConstraints
from carat.recourse.search import SearchLimits

BLACK_BOX_BUDGET = 2_000
"""Combinations a record for a detector that must score each of them one by one."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user may choose about a search.

    Args:
        k: counterfactuals a record, at most.
        neighbours: n; candidates of each source (of the graph: for each neighbouring entity).
        constraints: what may change.
        diversity: 0 gives the best k; towards 1 they differ more.
        prefer: of `carat-plus` and `instant`, from 0 (plausible) to 1 (valid to the detector).
        budget: combinations a record; None is 200,000, or 2,000 for a detector without a closed form.
        seconds: for a batch; what is left then gets a hurried search.
        shortlist: of `carat-plus`, how many of the most promising counterfactuals a record the transformer reads; None
            is `carat.recourse.ranking.SHORTLIST`.
        resolved: the constraints in ids, where that was done already; see `resolve`.
    """

    k: int = 50
    neighbours: int = 100
    constraints: Constraints = field(default_factory=Constraints)
    diversity: float = 0.0
    prefer: float = 0.5
    budget: int | None = None
    seconds: float = 60.0
    shortlist: int | None = None
    resolved: tuple[Vocabulary, ResolvedConstraints] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("k", "neighbours", "budget", "shortlist"):
            value = getattr(self, name)
            if not _is_whole(value) and (value is not None or name not in ("budget", "shortlist")):
                raise InputError(f"`{name}` must be a whole number, got {value!r}")
            if value is not None and value < 1:
                raise InputError(f"`{name}` must be at least 1, got {value}")
        for name in ("diversity", "prefer", "seconds"):
            check_number(name, getattr(self, name))
        for name in ("diversity", "prefer"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"`{name}` must lie between 0 and 1, got {getattr(self, name)}")
        if not self.seconds > 0:
            raise InputError(f"`seconds` must be more than 0, got {self.seconds}")

    def search_limits(self, detector: Detector) -> SearchLimits:
        """Budget and time for this detector."""
        usual = SearchLimits().budget if isinstance(detector, GridDetector) else BLACK_BOX_BUDGET
        return SearchLimits(budget=usual if self.budget is None else self.budget, seconds=self.seconds)

    def resolve(self, vocabulary: Vocabulary) -> Settings:
        """The same with the constraints in ids, so that a job of many batches does that once."""
        return replace(self, resolved=(vocabulary, self.constraints.resolve(vocabulary)))

    def constraints_for(self, vocabulary: Vocabulary, device: torch.device) -> ResolvedConstraints:
        """The constraints in ids, on a device."""
        if self.resolved is not None and self.resolved[0] is vocabulary:
            return self.resolved[1].to(device)
        return self.constraints.resolve(vocabulary).to(device)


def _is_whole(value: object) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, bool)
