"""How a part of somebody's own is known by name while a check needs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from carat.detectors import OutsideDetector
from carat.registry import Entry, Registry
from carat.testing.check import require
from carat.training.fitted import Fitted


@contextmanager
def registered(registry: Registry[Any], part: Fitted | OutsideDetector) -> Iterator[None]:
    """A model folder has the part's name alone: while it is read, the registry must know the name."""
    if isinstance(part, OutsideDetector):
        yield  # not stored, so not looked up
        return
    if part.name not in registry:
        with registry.added(Entry(part.name, part.name, "#808080", type(part))):
            yield
        return
    found = registry[part.name].load()
    made = found if isinstance(found, type) else type(found())
    require(
        made is type(part), f"its name '{part.name}' is that of another {registry.kind}, {made.__name__}; choose one"
    )
    yield
