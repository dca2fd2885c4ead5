"""What every source of rows shares: the contract, its columns, and how its faults are told."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from carat.errors import COLUMNS, InputError, nearest

BATCH_ROWS = 131_072


class Source(Protocol):
    """A table that can be read in batches, any number of times."""

    label: str
    """How messages call it."""
    names: list[str]
    """Its columns."""

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in order, with these columns in this order."""
        ...

    def about_rows(self) -> int | None:
        """How many rows there are, roughly, for a progress bar; None where only reading them would tell."""
        ...


def check_names(names: Sequence[str], label: str) -> list[str]:
    """Column names must be there and differ."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise InputError(f"{label}: there are {names.count(twice[0])} columns named '{twice[0]}'; rename all but one")
    if not names:
        raise InputError(f"{label}: there are no columns")
    return list(names)


def check_columns(source: Source, columns: Sequence[str], *, argument: str | None = None) -> None:
    """Every wanted column must be there; a near miss is named.

    Args:
        source: what should have them.
        columns: that are wanted.
        argument: what named them; None where nothing that a user gave did.
    """
    for column in columns:
        if column not in source.names:
            near, hint = nearest(column, source.names, listed=COLUMNS), _hint(source)
            if hint and near.endswith("?"):
                hint = f" {hint[2].upper()}{hint[3:]}"
            lacks = f"{source.label}: no" if argument is None else f"`{argument}`: {source.label} has no"
            raise InputError(f"{lacks} column '{column}'; {near}{hint}")


def _hint(source: Source) -> str:
    hint: str = getattr(source, "hint", "")
    return hint


def about_lines(path: Path) -> int:
    """Lines of a file, as its size and its first lines let one guess."""
    with path.open("rb") as file:
        start = file.read(1 << 16)
    return max(1, path.stat().st_size * start.count(b"\n") // max(len(start), 1))


class NotUtf8Error(InputError):
    """A file is text in another encoding, or none at all."""


def not_utf8(label: str, hint: str = "save it as UTF-8") -> NotUtf8Error:
    """The error for text in another encoding."""
    return NotUtf8Error(f"{label}: not UTF-8 text; {hint}")


def first_line(error: BaseException) -> str:
    """What an error says, cut to what fits a line."""
    return str(error).strip().splitlines()[0][:200] if str(error).strip() else type(error).__name__
