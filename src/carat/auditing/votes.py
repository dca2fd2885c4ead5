"""What the other rows say about every cell: memory asked about each row with that row left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.auditing.table import AuditColumn, AuditTable
from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, Domain, Vocabulary
from carat.explain.lessons import Corruption, Lessons
from carat.explain.signals import TOLD, looks
from carat.explain.witnesses import SAMPLE, Witnesses
from carat.memory import Memory, Records, Weights
from carat.observing import Stage
from carat.training import Run


@dataclass(frozen=True)
class Learned:
    """What a match between two rows is worth, and what witnesses are; learned once from the table as it came.

    Args:
        weights: of the vote.
        heard: the columns that each column listens to, int64 [m, J].
        witnesses: log-likelihood ratios, by column, listened-to column and classes of counts.
    """

    weights: Weights
    heard: Tensor
    witnesses: Tensor

    def tensors(self) -> dict[str, Tensor]:
        """For the folder of a killed audit."""
        return {**self.weights.tensors(), "heard": self.heard, "witnesses": self.witnesses}

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Learned:
        """The inverse of `tensors`."""
        return cls(Weights.from_tensors(tensors), tensors["heard"], tensors["witnesses"])


@dataclass(frozen=True)
class Voters:
    """The rows of a table as a memory, ready to be asked.

    Args:
        ids: the voted columns, int64 [n, m].
        memory: holds every row.
        witnesses: counts over every row.
    """

    ids: Tensor
    memory: Memory
    witnesses: Witnesses

    @classmethod
    def of(cls, columns: Sequence[AuditColumn], learned: Learned) -> Voters:
        """Of a table's voted columns, with what was learned before."""
        ids, vocabulary = encoded(columns)
        memory = Memory()
        memory.records_, memory.weights_ = Records.of(ids, vocabulary), learned.weights
        memory.device_ = torch.device("cpu")
        pairs = Pairs.of(ids, vocabulary)
        return cls(ids, memory, Witnesses(learned.heard, learned.witnesses, pairs, vocabulary.offsets))

    def look(self, rows: Tensor, stage: Stage | None = None) -> tuple[Tensor, Tensor]:
        """Signals of some rows, float32 [r, m, TOLD], and whom both votes put first, int64 [r, m, 2]."""
        done = None if stage is None else lambda part: stage.advance(len(part))
        parts = looks(self.memory, self.witnesses, Lessons(self.ids[rows], row=rows), done)
        domains = self.ids.shape[1]
        told = torch.cat([torch.empty((0, domains, len(TOLD))), *(told for told, _ in parts)])
        return told, torch.cat([torch.empty((0, domains, 2), dtype=torch.int64), *(best for _, best in parts)])


def encoded(columns: Sequence[AuditColumn]) -> tuple[Tensor, Vocabulary]:
    """Ids int64 [n, m] of some columns, blank as `MISSING`, and their vocabulary."""
    domains = [Domain(column.name, pa.array(column.values, pa.string()), column.counts) for column in columns]
    ids = [np.where(column.codes < 0, MISSING, column.codes + FIRST) for column in columns]
    return torch.from_numpy(np.stack(ids, axis=1).astype(np.int64)), Vocabulary(tuple(domains))


def learn_votes(table: AuditTable, voted: Sequence[int], run: Run) -> Learned:
    """Learn what a match is worth from the table itself, each row foretold by the others."""
    ids, vocabulary = encoded([table.columns[place] for place in voted])
    data = TrainingData(ids.to(torch.int32), ids[:0].to(torch.int32), vocabulary)
    memory = Memory().fit(data, run)
    generator = torch.Generator().manual_seed(run.seed_of("audit witnesses"))
    sample = ids[torch.randperm(len(ids), generator=generator)[:SAMPLE]]
    changed, wrong = Corruption(untouched=0.0, unseen=0.0, blank=0.0).corrupt(sample, data, generator)
    heard = memory.heard()
    found = Witnesses.of(sample, changed, wrong, heard, data.pairs, vocabulary)
    return Learned(memory.weights_.to("cpu"), heard, found.table)
