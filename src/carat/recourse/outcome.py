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

    def replaced(self, rows: Tensor, by: Outcome) -> Outcome:
        """The same with what another search found for some records, by number [r]."""
        if not len(rows):
            return self

        def put(mine: Tensor, other: Tensor) -> Tensor:
            return mine.index_copy(0, rows, other)

        reasons = list(self.reasons)
        for row, reason in zip(rows.tolist(), by.reasons, strict=True):
            reasons[row] = reason
        return Outcome(
            put(self.counterfactuals, by.counterfactuals),
            put(self.mask, by.mask),
            put(self.score, by.score),
            None if self.cost is None or by.cost is None else put(self.cost, by.cost),
            put(self.exhausted, by.exhausted),
            reasons,
            put(self.likelihood, by.likelihood),
        )

    @classmethod
    def join(cls, parts: list[Outcome]) -> Outcome:
        """Outcomes of several batches as one."""
        costs = [part.cost for part in parts if part.cost is not None]
        return cls(
            torch.cat([part.counterfactuals for part in parts]),
            torch.cat([part.mask for part in parts]),
            torch.cat([part.score for part in parts]),
            torch.cat(costs) if costs else None,
            torch.cat([part.exhausted for part in parts]),
            [reason for part in parts for reason in part.reasons],
            torch.cat([part.likelihood for part in parts]),
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
