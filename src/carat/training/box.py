"""The time box: how many steps each network trains, settled before training begins.

Every training gets the same share of its ordinary steps, so the box is split in proportion to what the trainings would
ordinarily cost. The share follows from the total number of steps alone, whether a clock or a person chose that total:
the same total gives the same model.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from carat.errors import InputError
from carat.training.loop import TrainableNetwork, pace
from carat.training.plan import Plan
from carat.training.run import Run


@dataclass(frozen=True)
class Training:
    """A training to come.

    Args:
        stage: its name.
        network: one like it, to throw away.
        ids: training records, [n, m].
        plan: how long and how fast.
        validation: held-out records, [v, m].
    """

    stage: str
    network: TrainableNetwork
    ids: Tensor
    plan: Plan
    validation: Tensor | None = None


@dataclass(frozen=True)
class Box:
    """How long the networks of a fit may train, all together.

    Args:
        minutes: so many, or as long as the ordinary epochs take if that is less; None for no limit.
        steps: exactly so many steps in all, whatever time they take; None lets the minutes decide.
    """

    minutes: float | None = None
    steps: int | None = None

    @classmethod
    def of(cls, minutes: float | None, steps: int | None, usual: float | None) -> Box:
        """From the arguments of `fit`, checked; `usual` is what the profile has where neither is given."""
        if minutes is not None and steps is not None:
            raise InputError("use `minutes` or `steps`, not both")
        if steps is not None:
            if isinstance(steps, bool) or not hasattr(steps, "__index__") or steps < 1:
                raise InputError(f"`steps` must be a whole number of at least 1, got {steps!r}")
            return cls(steps=int(steps))
        if minutes is None:
            return cls(minutes=usual)
        if isinstance(minutes, bool) or not isinstance(minutes, int | float) or not minutes > 0:
            raise InputError(f"`minutes` must be a number above 0, got {minutes!r}")
        return cls(minutes=None if math.isinf(minutes) else float(minutes))

    def shared(self, times: int) -> Box:
        """An equal part of it for each of so many fits.

        >>> Box(steps=300).shared(3).steps
        100
        """
        minutes = None if self.minutes is None else self.minutes / times
        return Box(minutes, None if self.steps is None else self.steps // times)


@dataclass(frozen=True)
class Schedule:
    """What a box comes to on a table and a machine.

    Args:
        stages: steps of every training.
        ordinary: steps that its epochs would take.
        seconds: how long all steps take together, about.
        minutes: what the box was; None where there was no limit in time.
    """

    stages: Mapping[str, int]
    ordinary: Mapping[str, int]
    seconds: float
    minutes: float | None = None

    @property
    def total(self) -> int:
        """All steps; as `steps`, this number gives the same schedule again."""
        return sum(self.stages.values())

    @property
    def whole(self) -> int:
        """All steps of the ordinary epochs."""
        return sum(self.ordinary.values())

    @classmethod
    def of(cls, box: Box, trainings: Iterable[Training], run: Run) -> Schedule:
        """Time every training and settle its steps; timing counts as time in the box."""
        began, ordinary, cost = run.clock(), {}, {}
        for one in trainings:
            ordinary[one.stage] = one.plan.steps_in_all(len(one.ids))
            cost[one.stage] = pace(one.network, one.ids, one.plan, run, stage=one.stage, validation=one.validation)
        total = box.steps
        if total is None:
            left = math.inf if box.minutes is None else 60 * box.minutes - (run.clock() - began)
            total = affordable(ordinary, cost, left)
        stages = split(total, ordinary)
        seconds = sum(count * cost[stage] for stage, count in stages.items())
        return cls(stages, ordinary, seconds, box.minutes)

    def to_json(self) -> dict[str, Any]:
        """For the manifest."""
        return {
            "total": self.total,
            "whole": self.whole,
            "stages": dict(self.stages),
            "ordinary": dict(self.ordinary),
            "minutes": self.minutes,
            "estimated_seconds": round(self.seconds, 1),
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Schedule:
        """What `to_json` gave."""
        return cls(stored["stages"], stored["ordinary"], float(stored["estimated_seconds"]), stored["minutes"])


def affordable(ordinary: Mapping[str, int], cost: Mapping[str, float], seconds: float) -> int:
    """Steps in all that fit into so many seconds: the ordinary ones at most, one of each training at least.

    Args:
        ordinary: by training, the steps of its epochs.
        cost: by training, seconds a step.
        seconds: what there is.

    >>> affordable({"a": 100, "b": 300}, {"a": 0.5, "b": 0.1}, 40)
    200
    """
    whole = sum(ordinary.values())
    full = sum(steps * cost[stage] for stage, steps in ordinary.items())
    share = 1.0 if full <= seconds else max(seconds, 0) / full
    return max(int(whole * share), len(ordinary))


def split(total: int, ordinary: Mapping[str, int]) -> dict[str, int]:
    """Share steps out among trainings in proportion to their ordinary ones, at least one each, exactly `total` in all.

    >>> split(200, {"a": 100, "b": 300})
    {'a': 50, 'b': 150}
    """
    if total < len(ordinary):
        raise InputError(
            f"`steps` must be at least {len(ordinary)}, one for each of {', '.join(ordinary)}; got {total}"
        )
    # One step each comes first, and only the rest is in proportion.
    rest, weights = total - len(ordinary), {stage: steps - 1 for stage, steps in ordinary.items()}
    whole = sum(weights.values())
    if not whole:
        weights, whole = dict.fromkeys(ordinary, 1), max(len(ordinary), 1)
    found = {stage: 1 + rest * weight // whole for stage, weight in weights.items()}
    # What rounding left over goes to the largest fractions, the earlier stage first among equals.
    by_fraction = sorted(weights, key=lambda stage: -(rest * weights[stage] % whole))
    for stage in by_fraction[: total - sum(found.values())]:
        found[stage] += 1
    return found


def in_words(seconds: float) -> str:
    """A length of time as people say it.

    >>> in_words(0.2), in_words(59.6), in_words(220), in_words(7_260)
    ('1 s', '1 min', '3 min 40 s', '2 h 1 min')
    """
    whole = max(round(seconds), 1)
    for unit, size, smaller, name in ((3600, 60, "min", "h"), (60, 1, "s", "min")):
        if whole >= unit:
            rest = whole % unit // size
            return f"{whole // unit} {name}" + (f" {rest} {smaller}" if rest else "")
    return f"{whole} s"
