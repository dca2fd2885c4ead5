"""`carat.toml`: the table's roles and columns, checked before anything is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from carat.data.toml import read_toml
from carat.errors import InputError, nearest


class TableConfig(BaseModel):
    """The section `[table]`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    domains: list[str] | None = None
    also: list[str] = Field(default_factory=list)
    without: list[str] = Field(default_factory=list)
    numeric: dict[str, int] = Field(default_factory=dict)
    id: str | None = None
    time: str | None = None
    metapaths: list[list[str]] | None = None
    threshold: float | None = Field(default=None, gt=0, lt=1)
    min_count: int = Field(default=1, ge=1)


class Config(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    table: TableConfig = Field(default_factory=TableConfig)


def read_config(path: Path) -> Config:
    """Read and check a configuration file; every complaint is one line that names the key."""
    data = read_toml(path)
    try:
        return Config.model_validate(data)
    except ValidationError as error:
        raise InputError(f"{path}: {_first_complaint(error)}") from error


def _first_complaint(error: ValidationError) -> str:
    first: Any = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    key = ".".join(where)
    if first["type"] == "extra_forbidden":
        known = TableConfig.model_fields if where[0] == "table" and len(where) > 1 else Config.model_fields
        return f"unknown key '{key}'; {nearest(where[-1], known)}"
    return f"'{key}': {first['msg'][0].lower()}{first['msg'][1:]}, got {first['input']!r}"
