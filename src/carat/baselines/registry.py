"""The baselines that work on any fitted model, by name; FIMAP trains on records and is made by `carat bench` alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from carat.baselines.rceaa import Rceaa
from carat.baselines.replace import Replace
from carat.baselines.xformer_r import XformerR
from carat.recourse import Method, Parts


def _shared(parts: Parts) -> dict[str, Any]:
    return {"vocabulary": parts.vocabulary, "pairs": parts.pairs, "detector": parts.detector}


BASELINES: dict[str, Callable[[Parts, int], Method]] = {
    "replace-m": lambda parts, seed: Replace(**_shared(parts), m=1, seed=seed),
    "replace-2": lambda parts, seed: Replace(**_shared(parts), m=2, seed=seed),
    "xformer-r": lambda parts, seed: XformerR(
        **_shared(parts), explainer=parts.transformer("xformer-r").frozen, seed=seed
    ),
    "rceaa": lambda parts, seed: Rceaa(**_shared(parts), reference=parts.reference, seed=seed),
}
"""From a model's parts and a seed."""
