"""What a method found for a batch of records."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Outcome:
    """Counterfactuals of a batch, best first.

    Args:
        counterfactuals: int64 [n, K, m].
        mask: which exist, bool [n, K].
        score: the detector's, [n, K].
        cost: of the changes, [n, K]; None without costs.
        exhausted: whether every combination was looked at, bool [n].
        reasons: why a record has no counterfactuals, or what limited them; None where there is nothing to say, [n].
        likelihood: the explainer's, [n, m]; NaN where missing.
    """

    counterfactuals: Tensor
    mask: Tensor
    score: Tensor
    cost: Tensor | None
    exhausted: Tensor
    reasons: list[str | None]
    likelihood: Tensor

    def take(self, index: Tensor) -> Outcome:
        """Of the records with these numbers, in this order."""
        return Outcome(
            self.counterfactuals[index],
            self.mask[index],
            self.score[index],
            None if self.cost is None else self.cost[index],
            self.exhausted[index],
            [self.reasons[i] for i in index.tolist()],
            self.likelihood[index],
        )

    def to(self, device: torch.device | str) -> Outcome:
        """The same on another device."""
        return Outcome(
            self.counterfactuals.to(device),
            self.mask.to(device),
            self.score.to(device),
            None if self.cost is None else self.cost.to(device),
            self.exhausted.to(device),
            self.reasons,
            self.likelihood.to(device),
        )
