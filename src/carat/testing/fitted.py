"""What the checks of detectors and explainers share: a part's name, its place in the registry, its clone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from carat.detectors import OutsideDetector
from carat.errors import NotFittedError
from carat.registry import Entry, Registry
from carat.testing.check import require, snapshot
from carat.training.fitted import Fitted


def require_name(part: Fitted) -> None:
    """A model folder knows a part by its name."""
    name = getattr(part, "name", None)
    require(isinstance(name, str) and name, "it has no `name`, by which a model folder would know it")


@contextmanager
def registered(registry: Registry[Any], part: Fitted | OutsideDetector) -> Iterator[None]:
    """A model folder has the part's name alone: while one is read, the registry must know the name."""
    if isinstance(part, OutsideDetector):
        yield  # not stored, so not looked up
        return
    if part.name not in registry:
        with registry.added(Entry(part.name, part.name, "#808080", type(part))):
            yield
        return
    found = registry[part.name].load()
    made = found if isinstance(found, type) else type(found())
    taken = f"its name '{part.name}' is that of another {registry.kind}, {made.__name__}; choose another"
    require(made is type(part), taken)
    yield


def require_twin(part: Fitted | OutsideDetector, use: Callable[[Any], object]) -> None:
    """A clone is of the same class, has the same arguments, has learned nothing, and refuses to be used."""
    twin = part.clone()
    require(type(twin) is type(part), f"clone of a {type(part).__name__} is a {type(twin).__name__}")
    left = [name for name in vars(twin) if name.endswith("_")]
    require(not left, f"a clone has learned something already: {', '.join(left)}")
    mine, theirs = (each.params() if isinstance(each, Fitted) else each.options() for each in (part, twin))
    require(snapshot(theirs) == snapshot(mine), f"a clone has other arguments: {theirs} instead of {mine}")
    try:
        use(twin)
    except NotFittedError:
        return
    raise AssertionError("a clone that has learned nothing must refuse to be used, with NotFittedError")
