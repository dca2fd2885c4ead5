"""Shared by the tests of the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest

INSTANT = ("--profile", "instant", "--device", "cpu")


def write_csv(path: Path, table: pa.Table) -> Path:
    """A table as a CSV file."""
    pyarrow.csv.write_csv(table, path)
    return path


def read_csv(path: Path) -> pa.Table:
    """A CSV file with its types guessed."""
    return pyarrow.csv.read_csv(path)


def give_stdin(monkeypatch: pytest.MonkeyPatch, records: Iterable[Mapping[str, Any]]) -> None:
    """Put records on standard input, as JSON lines."""
    lines = "".join(json.dumps(record) + "\n" for record in records)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(lines.encode())))


def snapshot(folder: Path) -> dict[Path, bytes | None]:
    """Everything in a folder, hidden entries included; None for a folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}
