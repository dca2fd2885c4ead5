"""Cells that a person has decided on: the records that they are of join a model as decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.auditing.result import AuditResult
from carat.data import MISSING, UNSEEN, Table, Unseen, Vocabulary, open_source
from carat.errors import InputError

NEEDED = ("record", "column", "decision")
BLANK = "<blank>"
"""How a file of cells writes a proposal of an empty cell."""


@dataclass
class Decided:
    """Decisions about cells, by record and domain.

    Args:
        cells: for each record, by the number of a domain, the text that the cell gets, None for an empty one; a cell
            that is right as it stands is not here, though its record is.
        met: records with a decision that came by.
    """

    cells: Mapping[str, Mapping[int, str | None]]
    met: int = field(default=0)

    @classmethod
    def read(cls, data: Any, vocabulary: Vocabulary) -> Decided:
        """From the cells of an audit (its result, a frame or a file); those without a decision say nothing."""
        source = open_source(data.to_file() if isinstance(data, AuditResult) else data)
        lacking = [name for name in NEEDED if name not in source.names]
        if lacking:
            raise InputError(
                f"the decisions have no column '{lacking[0]}'; give the cells that an audit listed, with `decision` "
                "filled in"
            )
        cells: dict[str, dict[int, str | None]] = {}
        # A list that was written by hand may do without proposals.
        wanted = [*NEEDED, *(name for name in ("proposal",) if name in source.names)]
        for batch in source.batches(wanted):
            columns = [batch.column(number).cast(pa.string()).to_pylist() for number in range(len(wanted))]
            for record, column, decision, *proposals in zip(*columns, strict=True):
                proposal = proposals[0] if proposals else None
                if decision is None or not decision.strip():
                    continue
                mine = cells.setdefault(str(record), {})
                if decision.strip() != "reject" and column in vocabulary.names:
                    mine[vocabulary.names.index(column)] = _text(decision, proposal)
        return cls(cells)

    def apply(self, table: Table) -> tuple[Table, Tensor]:
        """The records as decided, and which of them have a decision, bool [n]."""
        names = [str(name) for name in table.names_of_records().to_pylist()]
        found = torch.tensor([name in self.cells for name in names], dtype=torch.bool)
        self.met += int(found.sum())
        rows = [row for row in torch.nonzero(found).flatten().tolist() if self.cells[names[row]]]
        for number, domain in enumerate(table.vocabulary.domains):
            mine = [row for row in rows if number in self.cells[names[row]]]
            if mine:
                texts = pa.array([self.cells[names[row]][number] for row in mine], pa.string())
                table = _with(table, number, np.array(mine), *domain.encode(texts))
        return table, found

    def check_met(self, names: str | None) -> None:
        """Refuse a list of which no row came by.

        Args:
            names: the id column of the model; None where it names rows by their numbers.
        """
        if self.cells and not self.met:
            how = "by their numbers" if names is None else f"by the column '{names}'"
            rows = "the row" if len(self.cells) == 1 else f"none of the {len(self.cells):,} rows"
            missing = "is not in the data" if len(self.cells) == 1 else "is in the data"
            raise InputError(
                f"{rows} with a decision {missing}; the model names rows {how}, and the list must do so, too"
            )

    def in_words(self) -> str:
        """How many records were decided, for people."""
        rows = f"{self.met:,} row{'' if self.met == 1 else 's'}"
        missing = len(self.cells) - self.met
        return f"{rows} added as decided" + (f"; {missing:,} with a decision are not in the data" if missing else "")


def _text(decision: str, proposal: str | None) -> str | None:
    """What a cell gets: another value, or nothing where it is wrong and nobody knows better."""
    said = decision.strip()
    if said.startswith("="):
        return said[1:] or None
    if said == "accept":
        if proposal is None:
            raise InputError("a decision accepts a proposal where there is none; write =VALUE, or wrong")
        return None if proposal in (BLANK, "") else proposal
    if said == "wrong":
        return None
    raise InputError(f"a decision must be accept, reject, wrong or =VALUE, got '{said}'")


def _with(table: Table, domain: int, rows: np.ndarray, ids: np.ndarray, texts: pa.Array | None) -> Table:
    """A table with other entities in some rows of a domain."""
    changed = table.ids.clone()
    changed[torch.from_numpy(rows), domain] = torch.from_numpy(ids)
    before = table.unseen
    kept = ~((before.domain == domain) & np.isin(before.row, rows))
    unseen = Unseen(before.row[kept], before.domain[kept], before.text.filter(pa.array(kept)))
    new = np.flatnonzero(ids == UNSEEN)
    if len(new) and texts is not None:
        added = Unseen(rows[new], np.full(len(new), domain), texts.take(pa.array(new)))
        unseen = Unseen.join([unseen, added])
    assert MISSING < UNSEEN
    return replace(table, ids=changed, unseen=unseen)
