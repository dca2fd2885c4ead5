"""Lists and tables for the tests of applying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv

COLUMNS = ("record", "column", "value", "kind", "error", "proposal", "confidence", "reason", "group", "decision")


def row(record: Any, column: str, value: str | None = None, proposal: str | None = None, **more: Any) -> dict[str, Any]:
    """A row of a list, as an audit writes it; `more` has what differs."""
    given = {
        "record": str(record),
        "column": column,
        "value": value,
        "kind": "typo",
        "error": 0.97,
        "proposal": proposal,
        "confidence": 0.0 if proposal is None else 0.95,
        "reason": "why",
        "group": None,
        "decision": None,
    }
    return {**given, **more}


def added(record: Any, column: str, decision: str) -> dict[str, Any]:
    """A row that a person added."""
    return {**dict.fromkeys(COLUMNS), "record": str(record), "column": column, "decision": decision}


def listed(*rows: dict[str, Any]) -> pa.Table:
    """Rows as a table."""
    kinds = {"error": pa.float64(), "confidence": pa.float64(), "group": pa.int64()}
    return pa.table({name: pa.array([one[name] for one in rows], kinds.get(name, pa.string())) for name in COLUMNS})


def write_list(path: Path, *rows: dict[str, Any]) -> Path:
    """A list as a CSV file."""
    pyarrow.csv.write_csv(listed(*rows), path)
    return path
