"""A table, or a copy of it with slips, as the networks of an audit read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.auditing.readers import SAID, Readers
from carat.auditing.shelf import Shelf
from carat.auditing.table import AuditColumn
from carat.data.vocabulary import FIRST, MISSING, UNSEEN
from carat.observing import Observer

PART = 20_000
"""Rows read between two steps that a killed audit need not repeat."""
AT_ONCE = 2_048


@dataclass(frozen=True)
class Pages:
    """The voted columns in the ids of the networks, and what these say of the table.

    Args:
        readers: the networks.
        ids: of the table or the copy, int64 [n, m]; `UNSEEN` for values that the table does not hold.
        places: by column, which entity of the networks each value is, int64 [V]; −1 for none.
        said: of the cells of the table itself, float32 [n, m, SAID].
        changed: rows that are not as in the table, bool [n].
    """

    readers: Readers
    ids: Tensor
    places: tuple[np.ndarray, ...]
    said: Tensor
    changed: Tensor

    @classmethod
    def of(cls, readers: Readers, ids: Tensor, observer: Observer, shelf: Shelf) -> Pages:
        """Read the table itself, ids int64 [n, m]."""
        stage = observer.stage("reading rows", len(ids))
        parts = [torch.empty((0, ids.shape[1], len(SAID)))]
        for number, rows in enumerate(torch.arange(len(ids)).split(PART)):
            held = shelf.read(f"said-{number}")
            if held is None:
                said = torch.cat([readers.tell(ids[some], some, stage) for some in rows.split(AT_ONCE)])
                shelf.write(f"said-{number}", {"said": said})
            else:
                said = held["said"]
                stage.advance(len(rows))
            parts.append(said)
        stage.finish()
        places = tuple(np.arange(size - FIRST) for size in readers.vocabulary.sizes.tolist())
        return cls(readers, ids, places, torch.cat(parts), torch.zeros(len(ids), dtype=torch.bool))

    def copied(self, columns: Sequence[AuditColumn]) -> Pages:
        """The pages of a copy, by its voted columns: only the rows that got a slip will be read anew."""
        places, ids = [], []
        for column, domain in zip(columns, self.readers.vocabulary.domains, strict=True):
            place = pc.index_in(pa.array(column.values, pa.string()), value_set=domain.entities)
            found = place.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
            by_code = np.append(np.where(found < 0, UNSEEN, found + FIRST), MISSING)  # −1, blank, is the last
            places.append(found)
            ids.append(by_code[column.codes])
        held = torch.from_numpy(np.stack(ids, axis=1))
        return replace(self, ids=held, places=tuple(places), changed=(held != self.ids).any(dim=1))

    def tell(self, rows: Tensor) -> Tensor:
        """What the networks say of the cells of some rows, int64 [r] → float32 [r, m, SAID]."""
        found = self.said[rows]
        anew = self.changed[rows].nonzero().flatten()
        for some in anew.split(AT_ONCE):
            found[some] = self.readers.tell(self.ids[rows[some]], rows[some])
        return found

    def fitting(self, rows: Tensor, hidden: Tensor, number: int) -> Tensor:
        """Probabilities of the values of one column in some rows [r], with what is hidden masked, [r, V].

        Values that the table does not hold have 0.
        """
        said = self.readers.fitting(self.ids[rows], rows, hidden, number).exp()
        return torch.cat([said, torch.zeros((len(rows), 1))], dim=1)[:, torch.from_numpy(self.places[number])]
