"""Detectors that learn one vector for every entity."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.detectors.base import GridFittedDetector
from carat.protocols import Terms
from carat.training import History, Plan, Run, TrainableNetwork, train
from carat.training.box import Training


class EmbeddingNetwork(TrainableNetwork):
    """A vector for every id of every domain; the reserved ids' vectors are never used."""

    offsets: Tensor
    tables_of_weights: ClassVar[Mapping[str, str]] = {"vectors": "ids", "pair_weight": "domain pairs"}

    def __init__(self, vocabulary: Vocabulary, dim: int) -> None:
        super().__init__()
        self.register_buffer("offsets", vocabulary.offsets, persistent=False)
        self.vectors = torch.nn.Parameter(torch.randn(vocabulary.total, dim) * 0.1)

    def vectors_of(self, ids: Tensor, known: Tensor) -> Tensor:
        """[..., m] → [..., m, dim], zero where the entity is not known."""
        return self.vectors[ids + self.offsets] * known.unsqueeze(-1)

    def forward(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """Scores [...] of ids int64 [..., m]."""
        return self.relaxed(self.vectors[ids + self.offsets], known, present)

    @abstractmethod
    def relaxed(self, vectors: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """Scores [...] of a vector for each domain, [..., m, dim]: an entity's, or a mixture of several.

        Domains that are not `known`, bool [..., m], are skipped; `present` [...] is how many are.
        """

    @abstractmethod
    def terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        """The same taken apart for replacements; `known` excludes the replaced domains, `present` counts them."""


class EmbeddingDetector(GridFittedDetector):
    """Fitting, storing and moving for MEAD and APE; they differ in their networks alone."""

    network_: EmbeddingNetwork
    history_: History

    def __init__(self, *, dim: int, epochs: int, batch_size: int, learning_rate: float, negatives: int) -> None:
        self.dim = dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.negatives = negatives

    @abstractmethod
    def _network(self, vocabulary: Vocabulary, marginals: Tensor) -> EmbeddingNetwork:
        """A fresh network; `marginals` float32 [total] are the entities' shares in training."""

    def _plan(self, records: int) -> Plan:
        plan = Plan(epochs=self.epochs, batch_size=self.batch_size, learning_rate=self.learning_rate, patience=10)
        return plan.for_records(records)

    def trainings(self, data: TrainingData, run: Run) -> Iterator[Training]:
        """The one there is."""
        with run.seeded(self.name):
            network = self._network(data.vocabulary, data.marginals())
        yield Training(self.name, network, data.train, self._plan(len(data.train)), data.held_out)

    def _fit(self, data: TrainingData, run: Run) -> None:
        with run.seeded(self.name):
            self.network_ = self._network(data.vocabulary, data.marginals())
        self._started(self.network_, data.vocabulary)
        plan = self._plan(len(data.train))
        self.history_ = train(
            self.network_,
            data.train,
            plan,
            run,
            stage=self.name,
            label=f"detector, {self.name}",
            validation=data.held_out,
        )

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        scores: Tensor = self.network_(ids, known, present)
        return scores

    @torch.no_grad()
    def _terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        return self.network_.terms(ids, known, domains, entities, present)

    def tensors(self) -> dict[str, Tensor]:
        """The network's weights."""
        return dict(self.network_.state_dict())

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Rebuild the network around the weights."""
        learned = self._learned(vocabulary)
        self.network_ = self._network(learned, torch.full((learned.total,), 1.0))
        self.network_.load_state_dict(dict(tensors))
        self.network_.eval()

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.network_.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """Also how training went."""
        return {**super().facts(), "history": asdict(self.history_)}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self.history_ = History(**facts["history"])
