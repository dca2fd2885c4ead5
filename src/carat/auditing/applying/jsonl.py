"""Change values of a file of JSON lines and no other byte of it."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from carat.auditing.applying.content import Copy, Splice
from carat.auditing.applying.csv import changed_meanwhile
from carat.auditing.applying.edits import Edit
from carat.errors import InputError

Kind = Literal["text", "numbers", "true/false"]
UTF8 = ("utf-8", "surrogatepass")
"""How the reader, too, takes the bytes of a line: half a character in a cell that nobody changes does no harm."""
SPACE = re.compile(r"[ \t\n\r]*")
NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
WHITE = np.array([byte in b" \t\n\r\x0b\x0c" for byte in range(256)])
"""Bytes of which a blank line may consist."""


def patch_jsonl(
    copy: Copy, names: Sequence[str], label: str, edits: Sequence[Edit], kinds: dict[str, Kind]
) -> list[Splice]:
    """Copy a file of JSON lines with some values changed.

    Args:
        copy: from the table to the new file.
        names: of the columns.
        label: how messages call the table.
        edits: by row and column, each cell at most once.
        kinds: what a column holds, for cells that hold nothing.

    Returns:
        What was replaced, in the order of `edits`.
    """
    rows = np.array([edit.row for edit in edits], dtype=np.int64)
    made: list[Splice | None] = [None] * len(edits)
    held, row, final = b"", 0, False
    while not final:
        piece = copy.read()
        final = not piece
        held += piece
        starts, ends, told = _lines(held, final=final)
        changes: list[tuple[int, int, bytes]] = []
        order: list[int] = []
        at, last = np.searchsorted(rows, [row, row + len(starts)]).tolist()
        while at < last:
            number = edits[at].row
            after = int(np.searchsorted(rows, number, "right"))
            start, end = int(starts[number - row]), int(ends[number - row])
            for first, stop, new, number in _line(held[start:end], names, label, edits[at:after], kinds):
                changes.append((start + first, start + stop, new))
                order.append(at + number)
            at = after
        for number, splice in zip(order, copy.splice(held, told, changes), strict=True):
            made[number] = splice
        held, row = held[told:], row + len(starts)
    found = [splice for splice in made if splice is not None]
    if len(found) < len(edits):
        raise changed_meanwhile(label)
    return found


def kinds_of(path: Path, columns: Iterable[str]) -> dict[str, Kind]:
    """What some columns hold, by the first value of each."""
    wanted, found = set(columns), dict[str, Kind]()
    with path.open("rb") as lines:
        for line in lines:
            if wanted <= found.keys():
                break
            row = json.loads(line) if line.strip() else {}
            found = {name: _kind(row[name]) for name in wanted & row.keys() if row[name] is not None} | found
    return found


def _lines(text: bytes, *, final: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """Where lines that are not blank begin and end, and how far all is told."""
    units = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(units == ord("\n"))
    told = int(ends[-1]) + 1 if len(ends) else 0
    if final and told < len(text):
        ends, told = np.append(ends, len(text)), len(text)
    if not len(ends):
        return ends, ends, told
    starts = np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1] + 1])
    # The first byte tells, save for lines that begin with white space.
    filled = (ends > starts) & ~WHITE[units[np.minimum(starts, len(units) - 1)]]
    for place in np.flatnonzero((ends > starts) & ~filled).tolist():
        filled[place] = bool(text[starts[place] : ends[place]].strip())
    return starts[filled], ends[filled], told


def _line(
    raw: bytes, names: Sequence[str], label: str, edits: Sequence[Edit], kinds: dict[str, Kind]
) -> list[tuple[int, int, bytes, int]]:
    """Start, end and new bytes of the values to change in one line, in order, and which edit each is."""
    mark = codecs.BOM_UTF8 if raw.startswith(codecs.BOM_UTF8) else b""
    text = str(raw[len(mark) :], *UTF8)
    places, end = _values(text)
    space = " " if not places or re.search(r'":\s', text) else ""
    first = not places
    changes: list[tuple[int, int, str, int]] = []
    for number, edit in enumerate(edits):
        name = names[edit.column]
        start, stop, old = places.get(name, (end, end, None))
        if _read(old) != (edit.before or ""):
            raise changed_meanwhile(label)
        if _read(old) == (edit.after or ""):
            new = text[start:stop]
        elif name in places:
            new = _written(edit, name, label, kinds if old is None else {name: _kind(old)})
        else:  # a column that is missing from the line is added at its end
            pair = f"{json.dumps(name, ensure_ascii=False)}:{space}{_written(edit, name, label, kinds)}"
            new, first = (pair if first else f",{space}{pair}"), False
        changes.append((start, stop, new, number))
    changes.sort(key=lambda change: change[0])
    return [
        (len(mark) + len(text[:start].encode(*UTF8)), len(mark) + len(text[:stop].encode(*UTF8)), new.encode(), number)
        for start, stop, new, number in changes
    ]


def _values(text: str) -> tuple[dict[str, tuple[int, int, Any]], int]:
    """Where the values of an object stand, and where its last one ends; of two with one name, the last counts."""
    decode, places = json.JSONDecoder().raw_decode, dict[str, tuple[int, int, Any]]()
    at = _skip(text, text.index("{") + 1)
    end = at
    while text[at] != "}":
        if text[at] == ",":
            at = _skip(text, at + 1)
        name, at = decode(text, at)
        start = _skip(text, _skip(text, at) + 1)
        value, end = decode(text, start)
        places[name] = (start, end, value)
        at = _skip(text, end)
    return places, end


def _skip(text: str, at: int) -> int:
    match = SPACE.match(text, at)
    assert match is not None  # no space is a match too
    return match.end()


def _kind(value: Any) -> Kind:
    if isinstance(value, bool):
        return "true/false"
    return "numbers" if isinstance(value, int | float) else "text"


def _read(value: Any) -> str:
    """A value as the reader takes it; "" where it is missing."""
    if value is None or (isinstance(value, float) and value != value):  # noqa: PLR0124 - NaN is missing
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if isinstance(value, str) else repr(value)


def _written(edit: Edit, name: str, label: str, kinds: dict[str, Kind]) -> str:
    """The new value in JSON, of the kind that its column holds."""
    text = edit.after
    if not text:
        return "null"
    kind = kinds.get(name, "text")
    if kind == "text":
        return json.dumps(text, ensure_ascii=False)
    if kind == "true/false" and text.lower() in ("true", "false"):
        return text.lower()
    if kind == "numbers" and NUMBER.fullmatch(text):
        return text
    raise InputError(f"{label}: column '{name}' holds {kind}, so '{text}' can't be put into row {edit.row}")
