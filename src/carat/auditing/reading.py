"""From any data to the table that is audited, batch by batch: every column as text, in codes."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.auditing.options import AuditOptions
from carat.auditing.table import AuditColumn, AuditTable
from carat.data.scan import INDEX
from carat.data.sources import NotUtf8Error, Source, open_source
from carat.data.sources.frames import check_row
from carat.data.sources.watched import Watched
from carat.data.text import is_typed, to_text
from carat.datasets import Dataset
from carat.errors import InputError
from carat.observing import Observer, Silent
from carat.registry import named_data

NO_TEXT = "lists or structs"
BYTES = "bytes, not text"
PANDAS_INDEX = "the index of a pandas frame"
MERGED = 1 << 20
"""Different values that are held at least before those of several batches become one list."""


@dataclass(frozen=True)
class Reading:
    """A table as it was read.

    Args:
        table: its columns in codes.
        label: how messages call it.
        fingerprint: of names, values and codes; two tables that differ have different ones.
        names: what names the rows: the id column or the index of a pandas frame, [n]; None where the row number does.
        unread: columns that are not in `table` since they hold no text, and why.
        ambiguous: why the index of a pandas frame can't name the rows; None where it can.
        like: what was read, for its frame library.
        encoding: of a CSV file; None is UTF-8.
    """

    table: AuditTable
    label: str
    fingerprint: str
    names: pa.Array | None = None
    unread: tuple[tuple[str, str], ...] = ()
    ambiguous: str | None = None
    like: Any = field(default=None, repr=False, compare=False)
    encoding: str | None = None


def read_table(
    data: Any, options: AuditOptions | None = None, *, encoding: str | None = None, observer: Observer | None = None
) -> Reading:
    """Read a table once.

    Args:
        data: a frame (pandas, polars, pyarrow), a path, `-` for standard input, or the name of a dataset.
        options: which columns are named, and which one names the rows.
        encoding: of a CSV file; None is UTF-8.
        observer: is told how far it is.
    """
    chosen, data = options or AuditOptions(), named_data(data)
    check_row(data, ())
    if isinstance(data, Dataset):
        data = data.table
    try:
        source = open_source(data, encoding=encoding)
        chosen.check(source.names, source.label)
        watched = Watched(source, observer or Silent(), "reading the table")
        gathered, names, unread, rows = _gather(watched, chosen)
    except NotUtf8Error as error:
        if isinstance(data, str | Path) and Path(data).name.lower().endswith((".csv", ".csv.gz")):
            raise InputError(
                f"{data}: not UTF-8 text; say how it is written with `encoding`, such as latin-1, cp1252 or utf-16"
            ) from error
        raise
    if chosen.id is not None:
        _check_names(names, chosen.id, source.label)
    elif (index := getattr(source, "index", None)) is not None:
        names = index
    table = AuditTable(tuple(column.finish() for column in gathered), rows)
    ambiguous = getattr(source, "ambiguous", None)
    return Reading(table, source.label, fingerprint(table), names, unread, ambiguous, data, encoding)


def fingerprint(table: AuditTable) -> str:
    """A hash over names, values and codes, in hexadecimal signs."""
    found = hashlib.sha256()
    for column in table.columns:
        found.update(f"{len(column.values)} {column.name}\0".encode("utf-8", "surrogatepass"))
        for start in range(0, len(column.values), 65_536):  # never all values of a long list twice in memory
            found.update("\0".join(column.values[start : start + 65_536]).encode("utf-8", "surrogatepass"))
        found.update(np.ascontiguousarray(column.codes, dtype="<i4").data)
    return found.hexdigest()


def _gather(
    source: Source, options: AuditOptions
) -> tuple[list[_Gathered], pa.Array | None, tuple[tuple[str, str], ...], int]:
    """All batches of a source; a column that can't be text is passed over unless it is named."""
    columns: list[_Gathered] = []
    unread: dict[str, str] = {}
    ids: list[pa.Array] = []
    rows = 0
    for batch in source.batches(source.names):
        if not columns and not unread:
            for name, kind in zip(source.names, batch.schema.types, strict=True):
                why = None if name in options.named or name == options.id else _no_text(name, kind)
                if why is None:
                    columns.append(_Gathered(name, source.names.index(name)))
                else:
                    unread[name] = why
        for column in columns:
            column.add(batch.column(column.place))
        if options.id is not None:
            ids.append(_plain(batch.column(source.names.index(options.id))))
        rows += batch.num_rows
    if not rows:
        raise InputError(f"{source.label}: there are no rows to audit")
    return columns, _joined(ids), tuple(unread.items()), rows


def _no_text(name: str, kind: pa.DataType) -> str | None:
    if INDEX.match(name):
        return PANDAS_INDEX
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_nested(kind):
        return NO_TEXT
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        return BYTES
    return None


def _plain(array: pa.Array) -> pa.Array:
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array


def _joined(arrays: list[pa.Array]) -> pa.Array | None:
    return pa.concat_arrays(arrays) if arrays else None


def _check_names(names: pa.Array | None, id: str, label: str) -> None:
    """What names the rows must name every row, and each by a name of its own."""
    assert names is not None
    hint = "use another column, or omit `id` to use row numbers"
    texts = to_text(names, id)
    if texts.null_count:
        raise InputError(
            f"{label}: column '{id}' can't identify the rows: it is blank in {_rows(texts.null_count)}; {hint}"
        )
    counts = texts.value_counts()
    if len(counts) < len(texts):
        often = Counter(dict(zip(counts.field(0).to_pylist(), counts.field(1).to_pylist(), strict=True)))
        ((name, count),) = often.most_common(1)
        raise InputError(f"{label}: column '{id}' can't identify the rows: '{name}' appears in {_rows(count)}; {hint}")


def _rows(count: int) -> str:
    return f"{count:,} row{'' if count == 1 else 's'}"


class _Gathered:
    """One column while it is read: the codes of every batch, by a list of values that grows."""

    def __init__(self, name: str, place: int) -> None:
        self.name, self.place = name, place
        self._parts: list[pa.DictionaryArray] = []
        self._pending = 0
        self._typed = False

    def add(self, array: pa.Array) -> None:
        """The next cells."""
        self._typed = is_typed(array.type)
        coded = to_text(array, self.name).dictionary_encode()
        self._parts.append(coded)
        self._pending += len(coded.dictionary)
        if self._pending > MERGED:
            self._merge()

    def _merge(self) -> None:
        """One list of values for all batches so far; after it, a value is held once."""
        merged = pa.chunked_array(self._parts).unify_dictionaries()
        self._parts = list(merged.chunks)
        self._pending = 0

    def finish(self) -> AuditColumn:
        """The column, its values the most frequent first, ties by text."""
        if not self._parts:
            return AuditColumn(self.name, (), np.empty(0, np.int64), np.empty(0, np.int32))
        self._merge()
        texts = self._parts[0].dictionary
        raw = np.concatenate([part.indices.fill_null(-1).to_numpy(zero_copy_only=False) for part in self._parts])
        self._parts = []
        counts = np.bincount(raw[raw >= 0], minlength=len(texts)).astype(np.int64)
        order = pc.sort_indices(
            pa.table({"text": texts, "count": counts}), sort_keys=[("count", "descending"), ("text", "ascending")]
        )
        places = order.to_numpy(zero_copy_only=False).astype(np.int64)
        place = np.full(len(texts) + 1, -1, dtype=np.int32)  # the last is for blank cells
        place[places] = np.arange(len(texts), dtype=np.int32)
        return AuditColumn(self.name, tuple(texts.take(order).to_pylist()), counts[places], place[raw], self._typed)
