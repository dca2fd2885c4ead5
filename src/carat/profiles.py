"""Profiles: named sets of defaults; an argument always wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MINUTES = 4.0
"""What `fast` may train for, however many records there are."""


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a profile decides.

    Args:
        detector: the default detector.
        explainer: the default explainer.
        explainer_params: its arguments.
        graph_params: the graph's arguments, for models that have one.
        plain: instead of the judge, where a model is not to keep its training records.
        plain_params: its arguments.
        minutes: how long the networks may train on the machine at hand; None for no limit.
    """

    detector: str
    explainer: str
    explainer_params: Mapping[str, Any] = field(default_factory=dict)
    graph_params: Mapping[str, Any] = field(default_factory=dict)
    plain: str = "counts"
    plain_params: Mapping[str, Any] = field(default_factory=dict)
    minutes: float | None = None


def instant() -> Profile:
    """Counts, memory and the judge, no network over records: a first look, huge tables."""
    return Profile(detector="counts", explainer="judge")


def fast() -> Profile:
    """The same, and a small transformer beside the judge: a laptop, a few minutes."""
    beside = {"beside": "transformer"}
    return Profile(detector="ape", explainer="judge", explainer_params=beside, plain="transformer", minutes=MINUTES)


def paper() -> Profile:
    """The paper's sizes and epochs: reproduction, on a GPU."""
    transformer = {
        "dim": 64,
        "layers": 4,
        "heads": 8,
        "dropout": 0.1,
        "bilinear": 64,
        "epochs": (250, 250, 40),
        "batch_size": 512,
        "learning_rate": 5e-4,
        "tuning_rate": 1e-3,
        "schedule": "constant",
        "keep_best": False,
    }
    return Profile(
        detector="mead",
        explainer="judge",
        explainer_params={"beside": "transformer", "beside_params": transformer},
        graph_params={"dim": 100, "epochs": 300, "learning_rate": 1e-3, "schedule": "constant"},
        plain="transformer",
        plain_params=transformer,
    )
