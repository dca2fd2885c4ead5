"""`carat.toml`: the table's columns and their roles, checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from carat.data.columns import Columns
from carat.data.toml import filled, read_toml
from carat.errors import InputError, nearest


@dataclass(frozen=True)
class TableOptions:
    """What a `carat.toml` says about a table.

    Args:
        columns: which columns take part.
        threshold: a quantile; None where nothing is said.
    """

    columns: Columns = field(default_factory=Columns)
    threshold: float | None = None


def read_config(path: Path) -> TableOptions:
    """Read and check a configuration file: the section `[table]` has the options of `Columns`, and a threshold."""
    data = read_toml(path)
    try:
        for key in data:
            if key != "table":
                raise InputError(f"unknown key '{key}'; {nearest(key, ['table'])}")
        table = data.get("table", {})
        threshold = None
        if isinstance(table, dict) and "threshold" in table:
            threshold = _quantile(table["threshold"])
            table = {name: value for name, value in table.items() if name != "threshold"}
        return TableOptions(filled(Columns, table, within="table"), threshold)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _quantile(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise InputError(f"'table.threshold' must be a number between 0 and 1, got {value!r}")
    return float(value)
