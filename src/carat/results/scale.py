"""How scores are read: where anomalous begins, and how strange a score is among normal ones."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from carat.arguments import known_fields
from carat.errors import InputError


@known_fields
@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A share of the reference records, or a score; exactly one of the two.

    Args:
        quantile: records scoring below this quantile of the reference are anomalous, 0 < quantile < 1.
        value: records scoring below this score are anomalous.

    >>> Threshold(quantile=0.25).resolve(torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]))
    2.0
    >>> Threshold(value=-3.5).resolve(torch.tensor([1.0]))
    -3.5
    """

    quantile: float | None = None
    value: float | None = None

    def __post_init__(self) -> None:
        if (self.quantile is None) == (self.value is None):
            raise InputError("`threshold` must be a number, Threshold(quantile=…) or Threshold(value=…)")
        for given in (self.quantile, self.value):
            if given is not None and not isinstance(given, int | float):
                raise InputError(f"`threshold` must be a number, got {given!r}; for 1% write 0.01")
        if self.value is not None and math.isnan(self.value):
            raise InputError("a threshold score must be a number, got nan")
        if self.quantile is not None and not 0 < self.quantile < 1:
            raise InputError(
                f"a threshold quantile must lie between 0 and 1, got {self.quantile}; for 5% write 0.05, for a score "
                "carat.Threshold(value=…)"
            )

    def resolve(self, reference: Tensor) -> float:
        """The score where anomalous begins, given the reference scores [r]."""
        if self.value is not None:
            return self.value
        assert self.quantile is not None
        return float(torch.quantile(reference.double(), self.quantile))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary: `Threshold(**threshold.to_json())` gives it back."""
        return {"quantile": self.quantile, "value": self.value}


@dataclass(frozen=True)
class Scale:
    """A threshold and the scores that percentiles are relative to.

    Args:
        reference: scores of normal records, ascending, [r].
        threshold: anomalous begins below this score.
        alarm: and from this alarm on; None where there are no alarms.
    """

    reference: Tensor
    threshold: float
    alarm: float | None = None

    def percentile(self, scores: Tensor) -> Tensor:
        """Share of the reference at or below, in percent, float64, in the shape of the scores."""
        below = torch.searchsorted(self.reference, scores.contiguous(), right=True)
        return 100 * below.double() / max(len(self.reference), 1)

    def below(self, scores: Tensor) -> Tensor:
        """Which scores are below the threshold, bool."""
        return scores < self.threshold

    def anomalous(self, scores: Tensor, alarms: Tensor | None = None) -> Tensor:
        """Which records are anomalous, by their scores and, where there are any, their alarms, bool.

        An alarm that was not asked for is NaN; then the score decides.
        """
        return self.below(scores) | self.alarming(alarms, len(scores))

    def alarming(self, alarms: Tensor | None, records: int) -> Tensor:
        """Which alarms reach the cut, bool [n]; none of them where there are no alarms."""
        if alarms is None or self.alarm is None:
            return torch.zeros(records, dtype=torch.bool)
        return alarms >= self.alarm
