"""Arguments as people mistype them: one clear line for each, before any work begins."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from carat.errors import InputError, nearest

P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")

LARGEST_SEED = 2**63 - 1
"""What a random generator takes."""


def known_arguments(function: Callable[P, R], *, called: str | None = None, **instead: str) -> Callable[P, R]:
    """Refuse a misspelt argument by name, with the nearest that there is, where Python would only say no.

    Args:
        function: that takes the arguments.
        called: how messages call it; None for its name.
        instead: by a name that it does not know and people expect, what to do.

    >>> @known_arguments
    ... def score(data, *, gate="both"): ...
    >>> score([], gat="score")
    Traceback (most recent call last):
    carat.errors.InputError: unknown argument 'gat'; did you mean 'gate'?
    >>> score([], "score")
    Traceback (most recent call last):
    carat.errors.InputError: score takes `data` by position and the rest by name: `gate`
    """
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name != "self"]
    known = [each.name for each in parameters]
    bare = [each.name for each in parameters if each.kind is not each.KEYWORD_ONLY]
    methodical = "self" in inspect.signature(function).parameters
    name_of = called or function.__name__

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise InputError(f"unknown argument '{name}'; {instead.get(name) or _choice(name, known, name_of)}")
        if len(args) - methodical > len(bare):
            raise InputError(_too_many(name_of, bare, known[len(bare) :]))
        return function(*args, **kwargs)

    return checked


def expecting(**instead: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`known_arguments`, with what to do instead of arguments that people expect."""
    return lambda function: known_arguments(function, **instead)


def known_fields(cls: type[T]) -> type[T]:
    """`known_arguments` for a class of options."""
    cls.__init__ = known_arguments(cls.__init__, called=cls.__name__)  # type: ignore[method-assign]
    return cls


def _choice(name: str, known: Sequence[str], called: str) -> str:
    return nearest(name, known) if known else f"{called} takes no arguments"


def _too_many(called: str, bare: Sequence[str], named: Sequence[str]) -> str:
    """That more values came by position than can."""
    mine, others = (", ".join(f"`{name}`" for name in names) for names in (bare, named))
    if not named:
        return f"{called} takes {f'{mine} and nothing else' if bare else 'no arguments'}"
    return f"{called} takes {f'{mine} by position and the rest' if bare else 'its arguments'} by name: {others}"


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


def check_names_of(name: str, value: Any) -> tuple[str, ...]:
    """A list of names of columns; a frame may name them by numbers."""
    if isinstance(value, str):
        raise InputError(f"`{name}` must be a list of column names, got '{value}'; write ['{value}']")
    if not isinstance(value, Iterable):
        raise InputError(f"`{name}` must be a list of column names, got {value!r}")
    return tuple(str(column) for column in value)


def check_name_of(name: str, value: Any) -> str:
    """The name of one column; a frame may name it by a number."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise InputError(f"`{name}` must be the name of one column, got {value!r}")
    return str(value)


def check_number(name: str, value: Any) -> float:
    """A number, and not the text of one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputError(f"`{name}` must be a number, got {value!r}")
    return float(value)
