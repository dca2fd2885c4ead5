"""The second pass: records as ids."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data.schema import Schema
from carat.data.sources import Source, StretchSource
from carat.data.vocabulary import FIRST, UNSEEN, Vocabulary


@dataclass(frozen=True)
class Unseen:
    """The entities of a table that training never met: three parallel columns."""

    row: np.ndarray
    domain: np.ndarray
    text: pa.Array

    def by_name(self, vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
        """For each domain that has any: its unseen entities, and in how many records each is."""
        report: dict[str, dict[str, int]] = {}
        for number, name in enumerate(vocabulary.names):
            texts = self.text.filter(pa.array(self.domain == number))
            if len(texts):
                report[name] = {pair["values"]: pair["counts"] for pair in texts.value_counts().to_pylist()}
        return report

    @classmethod
    def join(cls, parts: list[Unseen]) -> Unseen:
        """Several as one."""
        none = np.empty(0, dtype=np.int64)
        return cls(
            np.concatenate([none, *(part.row for part in parts)]),
            np.concatenate([none, *(part.domain for part in parts)]),
            pa.concat_arrays([pa.array([], pa.string()), *(part.text for part in parts)]),
        )


@dataclass(frozen=True)
class Table:
    """Records as ids.

    Args:
        ids: int32 [n, m].
        vocabulary: what the ids mean.
        unseen: the text behind every `UNSEEN` id.
        record: the id column, if the schema has one; [n].
        time: the time column, if the schema has one; [n].
        start: number of the first row, for a table that is a part of a longer one.
    """

    ids: Tensor
    vocabulary: Vocabulary
    unseen: Unseen
    record: pa.Array | None = None
    time: pa.Array | None = None
    start: int = 0

    def __len__(self) -> int:
        return len(self.ids)

    @classmethod
    def read(cls, source: Source, schema: Schema, vocabulary: Vocabulary, rows: int | None = None) -> Table:
        """All rows of a source; where their number is known, the ids are written straight to their place."""
        ids = None if rows is None else torch.empty((rows, len(vocabulary)), dtype=torch.int32)
        parts: list[Table] = []
        for part in cls.stream(source, schema, vocabulary):
            kept = replace(part, unseen=replace(part.unseen, row=part.unseen.row + part.start))
            if ids is not None:
                ids[part.start : part.start + len(part)] = part.ids
                kept = replace(kept, ids=part.ids[:0].clone())
            parts.append(kept)
        if ids is None:
            ids = torch.cat([torch.empty((0, len(vocabulary)), dtype=torch.int32), *(part.ids for part in parts)])
        return cls(
            ids,
            vocabulary,
            Unseen.join([part.unseen for part in parts]),
            _concat([part.record for part in parts]),
            _concat([part.time for part in parts]),
        )

    @classmethod
    def stream(cls, source: Source, schema: Schema, vocabulary: Vocabulary) -> Iterator[Table]:
        """The rows of a source in parts, each of them a table."""
        # The time column serves the split at training; a table to score need not have it.
        time = schema.time if schema.time in source.names else None
        names = list(dict.fromkeys([*vocabulary.names, *(name for name in (schema.id, time) if name)]))
        # A pandas frame that was shuffled or filtered has names for its rows; its places say nothing of the whole.
        index = None if schema.id else getattr(source, "index", None)
        start = 0
        for batch in source.batches(names):
            start = source.place if isinstance(source, StretchSource) else start
            ids, unseen = _encode(batch, vocabulary)
            columns = {
                role: _plain(batch.column(names.index(name)))
                for role, name in (("record", schema.id), ("time", time))
                if name is not None
            }
            if index is not None:
                columns["record"] = index.slice(start, batch.num_rows)
            yield cls(torch.from_numpy(ids), vocabulary, unseen, **columns, start=start)
            start += batch.num_rows

    @classmethod
    def join(cls, tables: list[Table]) -> Table:
        """Several tables of one vocabulary as one, every record keeping its name."""
        starts = np.cumsum([0, *(len(table) for table in tables)])
        unseen = [
            replace(table.unseen, row=table.unseen.row + start) for table, start in zip(tables, starts, strict=False)
        ]
        times = [table.time for table in tables]
        return cls(
            torch.cat([table.ids for table in tables]),
            tables[0].vocabulary,
            Unseen.join(unseen),
            pa.concat_arrays([table.names_of_records() for table in tables]),
            None if None in times else _concat(times),
        )

    def take(self, index: Tensor) -> Table:
        """The rows with these numbers, each at most once, in this order."""
        place = torch.full((len(self),), -1, dtype=torch.int64)
        place[index] = torch.arange(len(index))
        row = place[torch.from_numpy(self.unseen.row)].numpy()
        kept = row >= 0
        where = pa.array(index.numpy())
        record = self.record.take(where) if self.record is not None else pa.array(index.numpy() + self.start)
        return Table(
            self.ids[index],
            self.vocabulary,
            Unseen(row[kept], self.unseen.domain[kept], self.unseen.text.filter(pa.array(kept))),
            record,
            None if self.time is None else self.time.take(where),
        )

    def names_of_records(self) -> pa.Array:
        """What names each record in the outputs: the id column, else the row number."""
        if self.record is not None:
            return self.record
        return pa.array(np.arange(self.start, self.start + len(self), dtype=np.int64))

    def complete(self) -> Tensor:
        """Which records have a known entity in every domain, bool [n]."""
        return (self.ids >= FIRST).all(dim=1)

    def decode(self) -> pa.Table:
        """The records as text: missing is null, unseen entities read as they came."""
        columns = self.vocabulary.decode(self.ids)
        for number, name in enumerate(columns):
            mine = self.unseen.domain == number
            if mine.any():
                text = np.array(columns[name].to_pylist(), dtype=object)
                text[self.unseen.row[mine]] = self.unseen.text.filter(pa.array(mine)).to_pylist()
                columns[name] = pa.array(text, pa.string())
        return pa.table(columns)


def _encode(batch: pa.RecordBatch, vocabulary: Vocabulary) -> tuple[np.ndarray, Unseen]:
    ids = np.empty((batch.num_rows, len(vocabulary)), dtype=np.int32)
    found = []
    for number, domain in enumerate(vocabulary.domains):
        ids[:, number], text = domain.encode(batch.column(number))
        rows = np.flatnonzero(ids[:, number] == UNSEEN)
        if len(rows):
            found.append(Unseen(rows, np.full(len(rows), number), text.take(pa.array(rows))))
    return ids, Unseen.join(found)


def _plain(array: pa.Array) -> pa.Array:
    return array.dictionary.take(array.indices) if pa.types.is_dictionary(array.type) else array


def _concat(arrays: list[pa.Array | None]) -> pa.Array | None:
    present = [array for array in arrays if array is not None]
    return pa.concat_arrays(present) if present else None


class Fingerprint:
    """Of the ids of records in their order, taken piece by piece; two tables that differ have different ones."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, ids: Tensor) -> Self:
        """The next records, int32 [n, m]."""
        self._hash.update(_bytes(ids))
        return self

    def merge(self, later: Imprint) -> Self:
        """The records that come after these."""
        for part in later.parts:
            self._hash.update(part)
        return self

    def text(self) -> str:
        """In hexadecimal signs."""
        return self._hash.hexdigest()


class Imprint:
    """What a fingerprint will need of a stretch of records; a hash can't begin before it knows what came first."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def add(self, ids: Tensor) -> Self:
        """The next records, int32 [n, m]."""
        self.parts.append(_bytes(ids))
        return self

    def merge(self, later: Imprint) -> Self:
        """The records that come after these."""
        self.parts += later.parts
        return self

    def text(self) -> str:
        """Of this stretch by itself."""
        return Fingerprint().merge(self).text()


def _bytes(ids: Tensor) -> bytes:
    return ids.to("cpu", torch.int32).contiguous().numpy().tobytes()
