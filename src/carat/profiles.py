"""Profiles: named sets of defaults; an argument always wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from carat.errors import InputError, nearest


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a profile decides.

    Args:
        name: as the command line calls it.
        detector: the default detector.
        explainer: the default explainer.
        explainer_params: its arguments.
        graph_params: the graph's arguments, for models that have one.
    """

    name: str
    detector: str
    explainer: str
    explainer_params: Mapping[str, Any] = field(default_factory=dict)
    graph_params: Mapping[str, Any] = field(default_factory=dict)


PROFILES = {
    profile.name: profile
    for profile in (
        Profile(name="instant", detector="counts", explainer="counts"),
        Profile(name="fast", detector="ape", explainer="transformer"),
        Profile(
            name="paper",
            detector="mead",
            explainer="transformer",
            explainer_params={
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
            },
            graph_params={"dim": 100, "epochs": 300, "learning_rate": 1e-3, "schedule": "constant"},
        ),
    )
}


def profile_named(name: str) -> Profile:
    """The profile of this name.

    >>> profile_named("instant").detector
    'counts'
    """
    if name not in PROFILES:
        raise InputError(f"unknown profile '{name}'; {nearest(name, PROFILES)}")
    return PROFILES[name]
