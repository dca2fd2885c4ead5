"""TOML files of the user's: read, and checked against the dataclass that they fill, the same way for every file."""

from __future__ import annotations

import collections.abc
import dataclasses
import tomllib
import types
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from carat.errors import InputError, nearest

T = TypeVar("T")


def read_toml(path: Path) -> dict[str, Any]:
    """The file as plain values; what is wrong with it is one line that names it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: can't be read as UTF-8 text") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}; is every text in quotes?") from error


def filled(cls: type[T], data: Any, *, within: str = "") -> T:
    """A dataclass from plain values, as TOML gives them; every complaint is one line that names the key.

    >>> @dataclasses.dataclass(kw_only=True)
    ... class Point:
    ...     x: float
    ...     names: collections.abc.Sequence[str] = ()
    >>> filled(Point, {"x": 1, "names": ["a"]})
    Point(x=1, names=['a'])
    >>> filled(Point, {"x": "one"})
    Traceback (most recent call last):
        ...
    carat.errors.InputError: 'x' must be a number, got 'one'
    """
    if not isinstance(data, Mapping):
        raise InputError(f"'{within}' must be a table, got {data!r}")
    hints = typing.get_type_hints(cls)
    known = [each.name for each in dataclasses.fields(cls)]  # type: ignore[arg-type]
    values = {}
    for key, value in data.items():
        named = f"{within}.{key}" if within else key
        if key not in known:
            raise InputError(f"unknown key '{named}'; {nearest(key, known)}")
        values[key] = _fitting(hints[key], value, named)
    return cls(**values)


def _fitting(hint: Any, value: Any, key: str) -> Any:
    """A value that has the type of a field, or an error that says what it must be."""
    origin = typing.get_origin(hint)
    if origin in (typing.Union, types.UnionType):  # optional: what is not wanted is left out of a TOML file
        (hint,) = (part for part in typing.get_args(hint) if part is not type(None))
        return _fitting(hint, value, key)
    if dataclasses.is_dataclass(hint):
        return filled(typing.cast(type[Any], hint), value, within=key)
    if not _has(hint, value):
        raise InputError(f"'{key}' must be {_called(hint)}, got {value!r}")
    return value


def _has(hint: Any, value: Any) -> bool:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is collections.abc.Sequence:
        return isinstance(value, list | tuple) and all(_has(inner[0], each) for each in value)
    if origin is collections.abc.Mapping:
        return isinstance(value, Mapping) and all(_has(inner[1], each) for each in value.values())
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, hint) and not (isinstance(value, bool) and hint is not bool)


def _called(hint: Any, *, many: bool = False) -> str:
    """A type in words.

    >>> _called(collections.abc.Mapping[str, collections.abc.Sequence[str]])
    "a table of lists of texts: NAME = ['text', …]"
    """
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is collections.abc.Sequence:
        return f"{'lists' if many else 'a list'} of {_called(inner[0], many=True)}"
    if origin is collections.abc.Mapping:
        example = "" if many else f": NAME = {_example(inner[1])}"
        return f"{'tables' if many else 'a table'} of {_called(inner[1], many=True)}{example}"
    words = {str: ("a text", "texts"), int: ("a whole number", "whole numbers"), float: ("a number", "numbers")}
    return words[hint][many]


def _example(hint: Any) -> str:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin is collections.abc.Sequence:
        return f"[{_example(inner[0])}, …]"
    return "{…}" if origin is collections.abc.Mapping else {str: "'text'", int: "10", float: "1.5"}[hint]
