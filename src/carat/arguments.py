"""Arguments as people mistype them: one clear line for each, before any work begins."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from carat.errors import InputError, nearest

P = ParamSpec("P")
R = TypeVar("R")

LARGEST_SEED = 2**63 - 1
"""What a random generator takes."""


def known_arguments(function: Callable[P, R]) -> Callable[P, R]:
    """Refuse a misspelt argument by name, with the nearest that there is, where Python would only say no.

    >>> @known_arguments
    ... def score(data, *, gate="both"): ...
    >>> score([], gat="score")
    Traceback (most recent call last):
    carat.errors.InputError: unknown argument 'gat'; did you mean 'gate'?
    """
    known = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise InputError(f"unknown argument '{name}'; {nearest(name, known)}")
        return function(*args, **kwargs)

    return checked


def check_seed(seed: Any) -> int:
    """A whole number, not negative, that fits a random generator."""
    if not hasattr(seed, "__index__") or isinstance(seed, bool):
        raise InputError(f"`seed` must be a whole number, got {seed!r}")
    if not 0 <= int(seed) <= LARGEST_SEED:
        raise InputError(f"`seed` must be between 0 and {LARGEST_SEED}, got {seed}")
    return int(seed)


def check_flag(name: str, value: Any) -> bool:
    """True or False; any text would count as true."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool_", "bool"):
        raise InputError(f"`{name}` must be True or False, got {value!r}")
    return bool(value)


def check_path(name: str, value: Any) -> Path:
    """The path of a file or a folder."""
    if not isinstance(value, str | Path):
        raise InputError(f"`{name}` must be a path, got {value!r}")
    return Path(value)


def check_count(name: str, value: Any) -> int | None:
    """A whole number, at least 0, or None for all there is."""
    if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__") or value < 0):
        raise InputError(f"`{name}` must be a whole number, at least 0, or None for all; got {value!r}")
    return None if value is None else int(value)


def check_number(name: str, value: Any) -> float:
    """A number, and not the text of one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"`{name}` must be a number, got {value!r}")
    return float(value)
