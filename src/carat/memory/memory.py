"""The memory of a model: its training records, and what a match with one of them is worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.graph.metapaths import SAMPLE, association
from carat.memory.learning import LISTENS, learn
from carat.memory.store import Records
from carat.memory.vote import Ballot, Weights
from carat.training import Run
from carat.training.fitted import Fitted

LIMIT = 1_024
"""Stored records that a question looks at, where not all of them are."""
EXACT = 4_096
"""Groups of identical records up to which every question looks at all of them."""


class Memory(Fitted):
    """Similar training records vote on what belongs where.

    Args:
        limit: stored records that a question looks at, at most, in a large memory.
        exact: up to so many groups of identical records, all of them are looked at.
    """

    name = "memory"

    records_: Records
    weights_: Weights

    def __init__(self, *, limit: int = LIMIT, exact: int = EXACT) -> None:
        self.limit = limit
        self.exact = exact

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Store the training records and learn what a match is worth."""
        run = run or Run()
        records = Records.of(data.train, data.vocabulary)
        self.records_, self.weights_ = records, learn(records, _listens(data, run), run)
        return self.to(run.device)

    def ask(self, ids: Tensor, hidden: Tensor, left_out: Tensor | None = None, asked: Tensor | None = None) -> Ballot:
        """The vote on records ids [b, m], on the memory's device.

        Args:
            ids: the records, int [b, m].
            hidden: for each question (second place), the domains that may not be looked at (third), bool [b, T, m].
            left_out: number of the training record that is left out of each vote, [b]; −1 for none.
            asked: the domains asked about, int64 [b, T]; None asks about all of them.
        """
        gone = None
        if left_out is not None:
            group = self.records_.group[left_out.clamp(min=0).cpu()].to(torch.int64)
            gone = torch.where(left_out.cpu() >= 0, group, -1).to(self.device_)
        limit = None if len(self.records_) <= self.exact else self.limit
        about, unseen = ids.to(self.device_), hidden.to(self.device_)
        domains = None if asked is None else asked.to(self.device_)
        return Ballot(self.records_, self.weights_, about, unseen, left_out=gone, limit=limit, asked=domains)

    def heard(self) -> Tensor:
        """The domains that each domain listens to, int64 [m, J]."""
        there = (self.weights_.match > 0).cpu()
        there.fill_diagonal_(False)
        # Stable, so that a domain that listens to all hears them in their order.
        order = there.int().argsort(dim=1, descending=True, stable=True)
        return order[:, : min(len(there) - 1, LISTENS)]

    def tensors(self) -> dict[str, Tensor]:
        """The records and the weights."""
        return {**self.records_.tensors(), **self.weights_.tensors()}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Take up what `tensors` gave."""
        self.records_, self.weights_ = Records.from_tensors(tensors, vocabulary), Weights.from_tensors(tensors)

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.records_, self.weights_ = self.records_.to(self.device_), self.weights_.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """How many records and groups there are."""
        return {"records": self.records_.total, "groups": len(self.records_)}


def _listens(data: TrainingData, run: Run) -> Tensor:
    """Every domain listens to all others; of more than 16, to those that tell most about it. bool [m, m]"""
    domains = len(data.vocabulary)
    listens = ~torch.eye(domains, dtype=torch.bool)
    if domains - 1 <= LISTENS:
        return listens
    generator = torch.Generator().manual_seed(run.seed_of("memory listens"))
    ids = data.train[torch.randperm(len(data.train), generator=generator)[:SAMPLE]]
    strength = association(ids, generator).masked_fill(~listens, -1.0)
    best = strength.argsort(dim=1, descending=True, stable=True)[:, :LISTENS]
    return torch.zeros_like(listens).scatter(1, best, True) & listens
