"""`carat.toml`: the table's columns and their roles, checked before anything is read."""

from __future__ import annotations

import collections.abc
import dataclasses
import types
import typing
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field, ValidationError, create_model

from carat.data.columns import Columns
from carat.data.toml import read_toml
from carat.errors import InputError, nearest

_STRICT = ConfigDict(extra="forbid", strict=True)
_PLAIN: dict[Any, Any] = {collections.abc.Sequence: list, collections.abc.Mapping: dict}


def _as_toml(hint: Any) -> Any:
    """A type as a TOML file can give it: sequences are lists, mappings are tables."""
    origin, inner = typing.get_origin(hint), tuple(_as_toml(part) for part in typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        return typing.Union[inner]  # noqa: UP007 - made of a tuple
    return types.GenericAlias(_PLAIN[origin], inner) if origin in _PLAIN else hint


def _default(option: dataclasses.Field[Any]) -> Any:
    made = option.default_factory() if option.default_factory is not dataclasses.MISSING else option.default
    return list(made) if isinstance(made, tuple) else made


_HINTS = typing.get_type_hints(Columns)
_FIELDS: dict[str, Any] = {
    option.name: (_as_toml(_HINTS[option.name]), _default(option)) for option in dataclasses.fields(Columns)
}
# The options of `Columns` and a threshold: what is spelled there need not be spelled here.
TableConfig = create_model(
    "TableConfig", __config__=_STRICT, **_FIELDS, threshold=(float | None, Field(default=None, gt=0, lt=1))
)
Config = create_model("Config", __config__=_STRICT, table=(TableConfig, Field(default_factory=TableConfig)))


@dataclasses.dataclass(frozen=True)
class TableOptions:
    """What a `carat.toml` says about a table.

    Args:
        columns: which columns take part.
        threshold: a quantile; None where nothing is said.
    """

    columns: Columns = dataclasses.field(default_factory=Columns)
    threshold: float | None = None


def read_config(path: Path) -> TableOptions:
    """Read and check a configuration file; every complaint is one line that names the key."""
    data = read_toml(path)
    try:
        table = Config.model_validate(data).model_dump()["table"]
        threshold = table.pop("threshold")
        return TableOptions(Columns(**table), threshold)
    except ValidationError as error:
        raise InputError(f"{path}: {_first_complaint(error)}") from error
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _first_complaint(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    key = ".".join(where)
    if first["type"] == "extra_forbidden":
        inside = where[0] == "table" and len(where) > 1
        known = [*(option.name for option in dataclasses.fields(Columns)), "threshold"] if inside else ["table"]
        return f"unknown key '{key}'; {nearest(where[-1], known)}"
    return f"'{key}': {first['msg'][0].lower()}{first['msg'][1:]}, got {first['input']!r}"
