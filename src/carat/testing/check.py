"""One check, a list of them, and the few tools that all of them use."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from types import FunctionType, ModuleType
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor

THREADS = 4
DEPTH = 4
"""How deep `snapshot` looks into what an object holds."""


@dataclass(frozen=True)
class Check:
    """One thing that a part must do; call it to see whether it does.

    Args:
        name: what must hold, in words joined by underscores.
        run: raises where it does not hold.
    """

    name: str
    run: Callable[[], None]

    def __call__(self) -> None:
        """Raise an `AssertionError` that names the check and says why it failed."""
        try:
            self.run()
        except Exception as error:
            raise AssertionError(f"the check '{self.name}' failed: {words_of(error)}") from error

    def __str__(self) -> str:
        return self.name


def words_of(error: Exception) -> str:
    """What an error says: the sentence of a check, or where it has none, what went wrong."""
    if isinstance(error, AssertionError) and str(error):
        return str(error)
    place = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {str(error) or place.line}"


def run_all(checks: Sequence[Check]) -> None:
    """One check after the other; the first that fails is raised."""
    for each in checks:
        each()


M = TypeVar("M", bound=Callable[[Any], None])
A = TypeVar("A")
R = TypeVar("R")


def check(method: M) -> M:
    """Make a method of a `Suite` a check."""
    return check_where(lambda suite: True)(method)


def check_where(condition: Callable[[Any], bool]) -> Callable[[M], M]:
    """The same, for suites of which the condition holds; it is asked before anything is fitted."""

    def mark(method: M) -> M:
        method.__dict__["applies"] = condition
        return method

    return mark


class Suite:
    """The checks of one part: its marked methods, in the order in which they are written."""

    def checks(self) -> list[Check]:
        """Those that apply."""
        marked = [
            (name, value.applies)
            for kind in reversed(type(self).__mro__)
            for name, value in vars(kind).items()
            if hasattr(value, "applies")
        ]
        return [Check(name, getattr(self, name)) for name, applies in marked if applies(self)]


def require(condition: object, sentence: str) -> None:
    """Raise with a sentence where a condition does not hold; a statement `assert` could be switched off."""
    if not condition:
        raise AssertionError(sentence)


def close(left: Tensor, right: Tensor, *, tolerance: float = 1e-5) -> bool:
    """Whether two tensors have the same shape and nearly the same numbers; NaN equals NaN."""
    if left.shape != right.shape:
        return False
    return torch.allclose(left.double(), right.double(), rtol=tolerance, atol=tolerance, equal_nan=True)


def at_once(function: Callable[[A], R], arguments: Sequence[A]) -> list[R]:
    """A function of each of the arguments, all at the same moment, each in a thread of its own."""
    start = threading.Barrier(len(arguments))

    def run(argument: A) -> R:
        start.wait()
        return function(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(run, arguments))


def snapshot(thing: Any, depth: int = DEPTH) -> Any:
    """What an object holds, in a form that is equal exactly where nothing has changed."""
    if isinstance(thing, Tensor):
        return snapshot(thing.detach().cpu().numpy())
    if isinstance(thing, np.ndarray):
        # An array of objects has the addresses of its cells as bytes, which is as good here.
        return thing.dtype.str, thing.shape, thing.tobytes()
    if isinstance(thing, Mapping):
        return {str(key): snapshot(value, depth - 1) for key, value in thing.items()} if depth else len(thing)
    if isinstance(thing, list | tuple | set | frozenset):
        return [snapshot(each, depth - 1) for each in thing] if depth else len(thing)
    opaque = isinstance(thing, type | FunctionType | ModuleType) or not hasattr(thing, "__dict__")
    return repr(thing) if opaque or not depth else (id(thing), snapshot(vars(thing), depth - 1))
