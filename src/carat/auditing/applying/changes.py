"""The log of what was changed in a table: enough to understand every change, and to take all of them back."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from carat.auditing.applying.content import Splice
from carat.auditing.applying.edits import Edit
from carat.errors import InputError

SCHEMA, VERSION = "carat.changes", 1
"""As docs/schema.md has it."""


@dataclass(frozen=True)
class Changes:
    """A log that was read.

    Args:
        about: its first line, about all of it.
        edits: the changes, by row and column.
        splices: the same in bytes, in formats of text.
    """

    about: Mapping[str, Any]
    edits: tuple[Edit, ...]
    splices: tuple[Splice, ...] | None


def changes_of(path: Path) -> Path:
    """The log beside a changed table."""
    return Path(f"{path}.changes.jsonl")


def write_changes(path: Path, about: Mapping[str, Any], changes: Iterable[Mapping[str, Any]]) -> None:
    """A line about the whole, then one line per change."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for line in ({"schema": SCHEMA, "version": VERSION, **about}, *changes):
            file.write(json.dumps(line, ensure_ascii=False) + "\n")


def bytes_of(splice: Splice) -> dict[str, Any]:
    """The bytes of a change for its line: where they begin in the new table, and both in base64."""
    return {
        "offset": splice.offset,
        "bytes_before": base64.b64encode(splice.before).decode(),
        "bytes_after": base64.b64encode(splice.after).decode(),
    }


def read_changes(path: Path) -> Changes:
    """A log as `carat apply` wrote it.

    Raises:
        InputError: where it is none, or not whole.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if not _is_log(path):
        raise InputError(f"{path}: no log of changes; `revert` takes the FILE.changes.jsonl of carat apply")
    about, *lines = _lines(path)
    if about.get("version") != VERSION:
        raise InputError(f"{path}: written by a newer version of carat ({about.get('carat')}); use that one")
    try:
        edits = tuple(Edit(one["row"], one["place"], one["before"], one["after"]) for one in lines)
        splices = tuple(
            Splice(one["offset"], base64.b64decode(one["bytes_before"]), base64.b64decode(one["bytes_after"]))
            for one in lines
            if "offset" in one
        )
    except (KeyError, TypeError, ValueError) as error:
        raise _damaged(path) from error
    if len(edits) != about.get("changes") or len(splices) not in (0, len(edits)):
        raise _damaged(path)
    return Changes(about, edits, splices if about.get("text") else None)


def _is_log(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            first = json.loads(file.readline(1 << 16))
        except ValueError:
            return False
    return isinstance(first, dict) and first.get("schema") == SCHEMA


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                found = json.loads(line)
                if not isinstance(found, dict):
                    raise _damaged(path)
                yield found
    except ValueError as error:
        raise _damaged(path) from error


def _damaged(path: Path) -> InputError:
    return InputError(f"{path}: the log of changes is damaged or cut off, so it can't undo them")
