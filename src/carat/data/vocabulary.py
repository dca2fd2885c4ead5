"""Entities and their ids.

An id is local to its domain. Two ids are reserved in every domain, so that masks need no look-up:
`MISSING` (0: a null; not an entity, never counted, never proposed) and `UNSEEN` (1: an entity that training
never met). Entities follow from `FIRST` (2), the most frequent first, ties by text: the same table gives the
same ids whatever the order of its rows.

An id never moves. Entities that come with an update are appended, so they no longer follow frequency. One that was
forgotten keeps its id and loses its text: to whoever reads a table it is unseen.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data.binning import Bins
from carat.data.text import read_numbers, to_text, truth

MISSING = 0
UNSEEN = 1
FIRST = 2


@dataclass(frozen=True)
class Domain:
    """One domain: its name, its entities in the order of their ids, and how often each was seen.

    `counts` holds a number for every entity; `bins` is there for a numeric domain only. `learned` is how many of the
    entities, the first ones, there were when networks were trained; None is all of them. The text of a forgotten entity
    is null.
    """

    name: str
    entities: pa.Array
    counts: np.ndarray
    bins: Bins | None = None
    learned: int | None = None

    @property
    def size(self) -> int:
        """Number of ids, the two reserved ones included."""
        return FIRST + len(self.entities)

    @property
    def in_use(self) -> int:
        """Number of entities that are not forgotten."""
        return len(self.entities) - int(self.entities.null_count)

    def most_frequent(self, limit: int) -> np.ndarray:
        """Ids of the entities seen most often, of equals the lower id first; none that was forgotten."""
        there = np.flatnonzero(self.entities.is_valid().to_numpy(zero_copy_only=False))
        order = np.argsort(-self.counts[there], kind="stable")[:limit]
        found: np.ndarray = there[order] + FIRST
        return found

    def extended(self, texts: pa.Array) -> Domain:
        """The same with new entities at the end, not counted yet; `learned` stays where it was."""
        learned = len(self.entities) if self.learned is None else self.learned
        counts = np.concatenate([self.counts, np.zeros(len(texts), dtype=np.int64)])
        return replace(self, entities=pa.concat_arrays([self.entities, texts]), counts=counts, learned=learned)

    def recounted(self, counts: np.ndarray) -> Domain:
        """The same with other counts; an entity that no record holds any more is forgotten."""
        gone = (counts <= 0) & (self.counts > 0)
        if self.bins is not None or not gone.any():  # a range of numbers is nobody's
            return replace(self, counts=counts)
        entities = pc.if_else(pa.array(gone), pa.scalar(None, pa.string()), self.entities)
        return replace(self, entities=entities, counts=counts)

    def encode(self, array: pa.Array) -> tuple[np.ndarray, pa.Array]:
        """Ids (int32 [n]) of a column, and its text where the id is `UNSEEN` (null elsewhere is of no meaning)."""
        if self.bins is not None:
            values, odd = read_numbers(array, self.name)
            found = self.bins.index(values)
            ids = np.where(found < 0, MISSING, found + FIRST).astype(np.int32)
            if odd is not None:  # no number, but not nothing either: a value that nobody has ever seen
                ids[odd.is_valid().to_numpy(zero_copy_only=False)] = UNSEEN
            return ids, odd
        if pa.types.is_nested(array.type):
            to_text(array, self.name)  # refuses it by name
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        text = to_text(coded.dictionary, self.name)
        place = self.places(text)
        ids = pc.add(pc.fill_null(place, UNSEEN - FIRST), FIRST)
        ids = pc.if_else(pc.is_null(text), MISSING, ids)
        # A null index becomes the extra last row, which is MISSING.
        table = np.append(ids.to_numpy(zero_copy_only=False), MISSING).astype(np.int32)
        index = pc.fill_null(coded.indices.cast(pa.int32()), len(text)).to_numpy(zero_copy_only=False)
        return table[index], text.take(coded.indices)

    def places(self, texts: pa.Array) -> pa.Array:
        """Where texts are among the entities, int32 [n]; null where they are not."""
        place = pc.index_in(texts, value_set=self.entities)
        if place.null_count and self._is_boolean():  # pandas writes True, spreadsheets TRUE, and databases 1
            place = pc.coalesce(place, pc.index_in(truth(texts), value_set=truth(self.entities), skip_nulls=True))
        return place

    def _is_boolean(self) -> bool:
        """Whether the entities are true and false, each spelt in one way."""
        words = pc.utf8_lower(self.entities.drop_null()).to_pylist()
        return bool(words) and len(set(words)) == len(words) and set(words) <= {"true", "false"}


@dataclass(frozen=True)
class Vocabulary:
    """All domains of a table, and the layout of tensors that hold one row for every id of every domain.

    Such a tensor has `total` rows; the rows of domain d start at `offsets[d]`, so that `ids + offsets` are rows.
    """

    domains: tuple[Domain, ...]
    sizes: Tensor = field(init=False, repr=False, compare=False)
    offsets: Tensor = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        sizes = [domain.size for domain in self.domains]
        object.__setattr__(self, "sizes", torch.tensor(sizes, dtype=torch.int64))
        starts = list(itertools.accumulate(sizes, initial=0))[:-1]
        object.__setattr__(self, "offsets", torch.tensor(starts, dtype=torch.int64))

    def __len__(self) -> int:
        return len(self.domains)

    @property
    def names(self) -> list[str]:
        """The domains' names, in order."""
        return [domain.name for domain in self.domains]

    @property
    def total(self) -> int:
        """Number of ids of all domains together, reserved ones included."""
        return int(self.sizes.sum())

    @property
    def entities(self) -> int:
        """Number of entities of all domains together."""
        return self.total - FIRST * len(self)

    @property
    def in_use(self) -> int:
        """Number of entities of all domains together that are not forgotten."""
        return sum(domain.in_use for domain in self.domains)

    @property
    def learned(self) -> Vocabulary:
        """As networks know it: without what came after they were trained. The same ids mean the same entities."""
        if all(domain.learned is None for domain in self.domains):
            return self
        return Vocabulary(
            tuple(
                replace(domain, entities=domain.entities[: domain.learned], counts=domain.counts[: domain.learned])
                for domain in self.domains
            )
        )

    @property
    def gone(self) -> Tensor:
        """Which entities were forgotten, bool [total]."""
        parts = [np.append([False, False], ~d.entities.is_valid().to_numpy(zero_copy_only=False)) for d in self.domains]
        return torch.from_numpy(np.concatenate([np.empty(0, dtype=bool), *parts]))

    def extended(self, texts: Mapping[str, pa.Array]) -> Vocabulary:
        """The same with new entities at the end of some domains, by name."""
        none = pa.array([], pa.string())
        return Vocabulary(tuple(domain.extended(texts.get(domain.name, none)) for domain in self.domains))

    def recounted(self, counts: Tensor) -> Vocabulary:
        """The same with other counts, int64 [total]; what no record holds any more is forgotten."""
        parts = counts.split(self.sizes.tolist())
        return Vocabulary(
            tuple(domain.recounted(part[FIRST:].numpy()) for domain, part in zip(self.domains, parts, strict=True))
        )

    def counted(self, ids: Tensor) -> Tensor:
        """How often each entity occurs in records ids [n, m], int64 [total]; 0 at the reserved ids."""
        rows = (ids.to(torch.int64) + self.offsets)[ids >= FIRST]
        return torch.bincount(rows, minlength=self.total)

    def counts(self) -> Tensor:
        """How often each entity was seen, int64 [total]; 0 at the reserved ids."""
        parts = [torch.from_numpy(np.concatenate([[0, 0], d.counts]).astype(np.int64)) for d in self.domains]
        return torch.cat(parts)

    def encode(self, texts: Sequence[Mapping[str, str | None]]) -> Tensor:
        """Ids (int32 [n, m]) of a few records given as dictionaries; for tables see `Table.read`."""
        columns = [
            domain.encode(pa.array([row.get(domain.name) for row in texts], pa.string()))[0] for domain in self.domains
        ]
        return torch.from_numpy(np.stack(columns, axis=1)) if columns else torch.empty(len(texts), 0)

    def decode(self, ids: Tensor) -> dict[str, pa.Array]:
        """Text of every domain for ids [n, m]; null where missing or unseen."""
        columns = {}
        for domain, column in zip(self.domains, ids.cpu().numpy().T, strict=True):
            index = pa.array(column.astype(np.int64) - FIRST, mask=column < FIRST)
            columns[domain.name] = domain.entities.take(index)
        return columns

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back."""
        return {
            domain.name: {
                "entities": domain.entities.to_pylist(),
                "counts": domain.counts.tolist(),
                **({"cuts": list(domain.bins.cuts)} if domain.bins else {}),
                **({"learned": domain.learned} if domain.learned is not None else {}),
            }
            for domain in self.domains
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Vocabulary:
        """The inverse of `to_json`."""
        return cls(
            tuple(
                Domain(
                    name,
                    pa.array(part["entities"], pa.string()),
                    np.asarray(part["counts"], dtype=np.int64),
                    Bins(tuple(part["cuts"])) if "cuts" in part else None,
                    part.get("learned"),
                )
                for name, part in data.items()
            )
        )
