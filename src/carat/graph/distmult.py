"""DistMult: a vector for every entity and every relation, so that entities seen together score high (Yang, 2015)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, ClassVar, Literal, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.errors import InputError, NotFittedError
from carat.graph.metapaths import discover
from carat.graph.relations import Relations
from carat.training import History, Plan, Run, TrainableNetwork, train
from carat.training.box import Training
from carat.training.fitted import Fitted
from carat.training.negatives import UniformEntities
from carat.training.start import Start


class DistMultNetwork(TrainableNetwork):
    """Score of a triple: Σ h · r · t.

    Args:
        vocabulary: sizes of the domains.
        relations: what is adjacent to what.
        dim: size of a vector.
        negatives: entities drawn for each domain and step, shared by all triples of the batch.
    """

    ends: Tensor
    offsets: Tensor
    tables_of_weights: ClassVar[Mapping[str, str]] = {"entities": "ids"}

    def __init__(self, vocabulary: Vocabulary, relations: Relations, *, dim: int, negatives: int) -> None:
        super().__init__()
        self.negatives = negatives
        self.entities = torch.nn.Parameter(torch.randn(vocabulary.total, dim) * dim**-0.5)
        self.relations = torch.nn.Parameter(torch.ones(len(relations), dim) + 0.1 * torch.randn(len(relations), dim))
        self.noise = UniformEntities(vocabulary)
        self.register_buffer("ends", relations.ends, persistent=False)
        self.register_buffer("offsets", vocabulary.offsets, persistent=False)

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy of the true tail, and of the true head, among entities drawn from its domain.

        The draws are shared by the batch: all triples against all draws is one matrix product, of which each triple
        uses the block of its own domain.

        Args:
            ids: triples (row, relation, row), [b, 3].
            generator: of the draws.
        """
        (ids,) = self.team.rows(ids)  # the draws are the batch's, whoever computes which of its triples
        head_row, relation, tail_row = ids.unbind(dim=1)
        head, tail, between = self.entities[head_row], self.entities[tail_row], self.relations[relation]
        true = (head * between * tail).sum(dim=1, keepdim=True)
        domains = torch.arange(len(self.offsets), device=ids.device)[:, None].expand(-1, self.negatives)
        drawn = self.noise.draw(domains, generator) + self.offsets[:, None]  # [m, S]
        vectors = self.entities[drawn.flatten()]
        loss = torch.zeros((), device=ids.device)
        for query, answer, side in ((head * between, tail_row, 1), (tail * between, head_row, 0)):
            domain = self.ends[relation, side]
            scores = (query @ vectors.T).view(len(ids), *drawn.shape)
            scores = scores.gather(1, domain[:, None, None].expand(-1, 1, drawn.shape[1])).squeeze(1)  # [b, S]
            scores = scores.masked_fill(drawn[domain] == answer[:, None], -torch.inf)
            loss = loss + self.team.mean(torch.cat([true, scores], dim=1).logsumexp(dim=1, keepdim=True) - true)
        return loss / 2


class KnowledgeGraph(Fitted):
    """Entities as nodes, edges along metapaths, and vectors from which the nearest entities are read.

    Args:
        metapaths: paths of domains by name; None discovers them.
        dim: size of a vector.
        epochs: passes over the edges.
        batch_size: edges a step.
        learning_rate: peak of the one-cycle schedule, or the constant rate.
        schedule: `one-cycle` or `constant`.
        negatives: entities drawn for each domain and step.
    """

    name = "distmult"

    relations_: Relations
    network_: DistMultNetwork
    metapaths_: tuple[tuple[str, ...], ...]
    linked_: Tensor
    """Which entities have an edge in which relation, bool [R, total]."""
    history_: History

    def __init__(
        self,
        *,
        metapaths: Sequence[Sequence[str]] | None = None,
        dim: int = 64,
        epochs: int = 30,
        batch_size: int = 1024,
        learning_rate: float = 1e-2,
        schedule: Literal["one-cycle", "constant"] = "one-cycle",
        negatives: int = 128,
    ) -> None:
        self.metapaths = metapaths
        self.dim = dim
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.negatives = negatives

    def _discover(self, data: TrainingData, run: Run) -> tuple[tuple[str, ...], ...]:
        domains = len(data.vocabulary)
        stage = run.observer.stage("metapaths", domains * (domains - 1) // 2)
        return discover(data.train, data.vocabulary, seed=run.seed_of("metapaths"), advance=stage.advance)

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Find the metapaths where none are given, then train on the edges."""
        run = run or Run()
        self.device_ = run.device
        self.metapaths_ = tuple(tuple(path) for path in self.metapaths or self._discover(data, run))
        with run.seeded("graph"):
            self._build(data.vocabulary, data.pairs)
        self._started(self.network_, data.vocabulary)
        edges = self.relations_.edges(data.pairs, data.vocabulary)
        if not len(edges):
            raise InputError("no two values along the metapaths were ever seen together; choose other metapaths")
        self.history_ = train(self.network_, edges, self._plan(len(edges)), run, stage="graph")
        return self.to(run.device)

    def _plan(self, edges: int) -> Plan:
        plan = Plan(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            schedule=self.schedule,
            accelerate=True,
        )
        return plan.for_records(edges)

    def trainings(self, data: TrainingData, run: Run) -> Iterator[Training]:
        """The one there is; none where there are no edges, which `fit` will say."""
        apart = self.clone()
        # Discovery looks at a sample, so that doing it twice costs little.
        apart.metapaths_ = tuple(tuple(path) for path in self.metapaths or self._discover(data, run))
        with run.seeded("graph"):
            apart._build(data.vocabulary, data.pairs)
        edges = apart.relations_.edges(data.pairs, data.vocabulary)
        if len(edges):
            yield Training("graph", apart.network_, edges, self._plan(len(edges)))

    def start_from(self, other: Fitted, vocabulary: Vocabulary) -> Self:
        """Also the relations, where they will be the same: those of given metapaths."""
        super().start_from(other, vocabulary)
        same = isinstance(other, KnowledgeGraph) and tuple(map(tuple, self.metapaths or ())) == other.metapaths_
        if self.start_ is not None and not same:
            kept = {name: tensor for name, tensor in self.start_.tensors.items() if name != "relations"}
            self.start_ = Start(kept, vocabulary)
        return self

    def _build(self, vocabulary: Vocabulary, pairs: Pairs) -> None:
        self.offsets_, self.sizes_ = vocabulary.offsets, vocabulary.sizes.tolist()
        self.relations_ = Relations.of(self.metapaths_, vocabulary)
        self.network_ = DistMultNetwork(vocabulary, self.relations_, dim=self.dim, negatives=self.negatives)
        edges = self.relations_.edges(pairs, vocabulary)
        self.linked_ = torch.zeros((len(self.relations_), vocabulary.total), dtype=torch.bool)
        self.linked_[edges[:, 1], edges[:, 0]] = True
        self.linked_[edges[:, 1], edges[:, 2]] = True

    def vectors_of(self, domain: int) -> Tensor:
        """The vectors of a domain's ids, [size, dim]."""
        if not hasattr(self, "network_"):
            raise NotFittedError("KnowledgeGraph is not fitted; call fit first")
        start = int(self.offsets_[domain])
        return self.network_.entities.detach()[start : start + self.sizes_[domain]]

    def tensors(self) -> dict[str, Tensor]:
        """The vectors."""
        return dict(self.network_.state_dict())

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Rebuild relations and network around the vectors."""
        with torch.random.fork_rng(devices=[]):
            learned = self._learned(vocabulary)
            self._build(learned, pairs if learned is vocabulary else pairs.moved(vocabulary, learned))
        self.network_.load_state_dict(dict(tensors))
        self.network_.eval()

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.network_.to(self.device_)
        self.linked_ = self.linked_.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """The metapaths in use and how training went."""
        return {
            "metapaths": [list(path) for path in self.metapaths_],
            "discovered": not self.metapaths,
            "history": asdict(self.history_),
        }

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self.metapaths_ = tuple(tuple(path) for path in facts["metapaths"])
        self.history_ = History(**facts["history"])
