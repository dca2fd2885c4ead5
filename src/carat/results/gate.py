"""The gate: which records are listed, by the detector's score and the judge's alarm together."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import Tensor

from carat.errors import InputError
from carat.results.scale import Threshold

QUANTILE = 0.01
"""Share of normal records that is listed where nobody says otherwise."""
TIE = 0.1
"""Alarms whose log-odds differ by no more are nearly equal."""
CROWD = 2
"""Where more than so many times the records to be listed are nearly equal, the alarm can't tell them apart."""
FEWEST = 5
"""A crowd is at least more than `CROWD` times this."""
LIKELY = 0.5
"""Where too few records are held out to say which alarm is rare, a wrong value must at least be likelier than not."""
GATES = ("both", "score")
"""What can decide which records are listed: score and alarm, or the score alone."""


class Cuts(NamedTuple):
    """Listed are records that score below the one, or whose alarm reaches the other."""

    score: float
    alarm: float


@dataclass(frozen=True)
class Gate:
    """Where the cuts lie so that score and alarm together list a given share of normal records.

    Args:
        pairs: score and alarm of records that neither detector nor judge learned from, float32 [r, 2], r > 0.
        by_alarm: the share of the listed records that the alarm may name; the score names the rest.
        clears_above: records whose cheap score lies above this need no judge; see `carat.results.clearing`.
    """

    pairs: Tensor
    by_alarm: float
    clears_above: float = math.inf

    def __post_init__(self) -> None:
        if self.pairs.ndim != 2 or self.pairs.shape[1] != 2 or not len(self.pairs):
            raise InputError(f"a gate needs scores and alarms [r, 2] of some records, got {list(self.pairs.shape)}")

    def cuts(self, threshold: Threshold) -> Cuts:
        """Both cuts for a threshold.

        A quantile moves both; a score is the cut of the scores, and the alarm keeps the cut of the usual quantile. Of
        the records that the cuts are set on, no more than the quantile is listed: ties stay out, and so do crowds of
        nearly equal alarms, among which other records would fall on either side by chance; there the score decides.
        Where the records are so few that the quantile is less than one of them, what is listed is stranger than all,
        and an alarm is `LIKELY` at least: being above a handful of tiny alarms means nothing.
        """
        scores, alarms = self.pairs.unbind(dim=1)
        quantile = QUANTILE if threshold.quantile is None else threshold.quantile
        count = self._count(quantile)
        # Strictly above the first alarm that may no longer be listed, strictly below the first such score.
        cut = _above_crowds(alarms, round(self.by_alarm * count), CROWD * max(count, FEWEST))
        cut = cut if count else cut.clamp(min=LIKELY)
        rest = scores[alarms < cut].sort().values
        score = float(rest[count - (len(scores) - len(rest))])
        return Cuts(score if threshold.value is None else threshold.value, float(cut))

    def _count(self, quantile: float) -> int:
        """How many of the records a quantile may list."""
        return math.floor(quantile * len(self.pairs) + 1e-9)

    def measures(self, quantile: float) -> bool:
        """Whether there are enough records to say which of them a quantile lists."""
        return self._count(quantile) > 0

    def tensors(self) -> dict[str, Tensor]:
        """For the model folder; with `facts`, `from_stored` reads them back."""
        return {"pairs": self.pairs}

    def facts(self) -> dict[str, Any]:
        """The rest of it, JSON only."""
        cleared = None if math.isinf(self.clears_above) else self.clears_above
        return {"by_alarm": self.by_alarm, "clears_above": cleared}

    @classmethod
    def from_stored(cls, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> Gate:
        """The inverse of `tensors` and `facts`."""
        above = facts["clears_above"]
        return cls(tensors["pairs"], facts["by_alarm"], math.inf if above is None else above)


def _above_crowds(alarms: Tensor, place: int, most: int) -> Tensor:
    """The lowest cut of alarms [r] that lists at most `place` of them and does not lie among more than `most`."""
    highest = alarms.sort(descending=True).values
    odds = highest.double().clamp(1e-7, 1 - 1e-7).logit()
    ascending = odds.flip(0)
    near = torch.searchsorted(ascending, odds + TIE, right=True) - torch.searchsorted(ascending, odds - TIE)
    clear = (near[: place + 1] <= most).nonzero().flatten()
    if len(clear) and clear[-1] < place:
        return highest[clear[-1]]  # the last before the crowd, and what is equal to it, is still listed
    first = highest[place] if len(clear) else torch.maximum(highest[0], (odds[0] + TIE).sigmoid().to(alarms.dtype))
    return torch.nextafter(first, torch.tensor(math.inf, dtype=alarms.dtype))


def strangest_first(score: Tensor, alarm: Tensor | None) -> Tensor:
    """The order of lists, int64 [n]: the highest alarm first, then the lowest score; without an alarm last.

    >>> strangest_first(torch.tensor([3.0, 1.0, 2.0]), torch.tensor([0.9, 0.1, 0.9])).tolist()
    [2, 0, 1]
    """
    order = score.argsort(stable=True)
    if alarm is None:
        return order
    doubt = -alarm.nan_to_num(nan=-1.0)
    return order[doubt[order].argsort(stable=True)]


def check_gate(gate: str) -> None:
    """Refuse what no gate is called."""
    if gate not in GATES:
        raise InputError(f"`gate` must be {' or '.join(repr(each) for each in GATES)}, got {gate!r}")
