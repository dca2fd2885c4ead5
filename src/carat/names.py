"""Datasets and detectors by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carat.datasets import find_dataset
from carat.detectors import DETECTORS, FittedDetector
from carat.errors import InputError, nearest
from carat.explain import ContextDetector

ALL_DETECTORS: dict[str, type[FittedDetector]] = {**DETECTORS, ContextDetector.name: ContextDetector}
"""By name, the explainer's own among them."""


def named_data(data: Any) -> Any:
    """A dataset where the data is the name of one and no file is called so."""
    if isinstance(data, str) and data != "-" and not Path(data).exists():
        return find_dataset(data) or data
    return data


def named_detector(name: str) -> FittedDetector:
    """A detector by name, with its defaults."""
    if name not in ALL_DETECTORS:
        raise InputError(f"unknown detector '{name}'; {nearest(name, ALL_DETECTORS)}")
    return ALL_DETECTORS[name]()
