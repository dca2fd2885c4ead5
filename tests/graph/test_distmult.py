"""DistMult: the loss, the gradients, and what the vectors know."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.data import FIRST
from carat.errors import InputError, NotFittedError
from carat.graph import KnowledgeGraph, Neighbours, Relations
from carat.graph.distmult import DistMultNetwork
from carat.training import Run
from tests.support.planted import DOMAINS, planted_table
from tests.support.small import training_data


@cache
def fitted() -> KnowledgeGraph:
    return KnowledgeGraph(epochs=20).fit(training_data(planted_table()))


def network(negatives: int = 7) -> tuple[DistMultNetwork, torch.Tensor]:
    data = training_data(planted_table())
    relations = Relations.of([["Port", "Good", "Carrier"], ["Carrier", "Buyer"]], data.vocabulary)
    torch.manual_seed(0)
    made = DistMultNetwork(data.vocabulary, relations, dim=5, negatives=negatives)
    return made, relations.edges(data.pairs, data.vocabulary)


def test_loss_is_the_slow_loop() -> None:
    """Softmax of the true tail, and of the true head, among the drawn ones of its own domain."""
    made, edges = network()
    edges = edges[torch.randperm(len(edges), generator=torch.Generator().manual_seed(1))[:20]]
    mine = float(made.loss(edges, torch.Generator().manual_seed(5)).detach())
    domains = torch.arange(4)[:, None].expand(-1, 7)
    drawn = made.noise.draw(domains, torch.Generator().manual_seed(5)).tolist()
    vectors, relations = made.entities.tolist(), made.relations.tolist()

    def score(h: int, r: int, t: int) -> float:
        return float(sum(a * b * c for a, b, c in zip(vectors[h], relations[r], vectors[t], strict=True)))

    masked, total = 0, 0.0
    for head, relation, tail in edges.tolist():
        low, high = made.ends[relation].tolist()
        true = score(head, relation, tail)
        for domain, known in ((high, tail), (low, head)):
            others = [int(made.offsets[domain]) + entity for entity in drawn[domain]]
            masked += sum(other == known for other in others)
            wrong = [
                score(head, relation, other) if known == tail else score(other, relation, tail)
                for other in others
                if other != known
            ]
            total += math.log(math.exp(true) + sum(math.exp(value) for value in wrong)) - true
    assert masked, "some of the drawn are the truth itself, and do not count"
    assert mine == pytest.approx(total / (2 * len(edges)), rel=1e-5)


def test_every_parameter_gets_gradient() -> None:
    made, edges = network(negatives=200)
    made.loss(edges, torch.Generator().manual_seed(0)).backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None, name
        rows = (parameter.grad != 0).any(dim=1)
        if name == "entities":
            reserved = torch.cat([made.offsets, made.offsets + 1])
            assert not rows[reserved].any(), "nobody draws what is reserved"
            rows[reserved] = True
        assert rows.all(), name


def test_loss_falls() -> None:
    losses = fitted().history_.train
    assert len(losses) == 20
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.parametrize("near", DOMAINS)
def test_neighbours_are_of_the_same_group(near: str) -> None:
    graph, vocabulary = fitted(), training_data(planted_table()).vocabulary
    number = DOMAINS.index(near)
    texts = vocabulary.domains[number].entities.to_pylist()
    ids = torch.arange(FIRST, FIRST + len(texts))
    for domain in graph.relations_.neighbours(number):
        others = vocabulary.domains[domain].entities.to_pylist()
        own = {text: sum(other.split("-")[1][0] == text.split("-")[1][0] for other in others) for text in texts}
        found, _ = Neighbours(graph).search(ids, number, domain, max(own.values()))
        right = [
            others[entity - FIRST].split("-")[1][0] == text.split("-")[1][0]
            for text, row in zip(texts, found.tolist(), strict=True)
            for entity in row[: own[text]]
        ]
        assert sum(right) >= 0.95 * len(right)


def test_same_seed_same_bits() -> None:
    data = training_data(planted_table())
    one, two, other = (KnowledgeGraph(epochs=2).fit(data, Run(seed=seed)) for seed in (4, 4, 5))
    assert torch.equal(one.network_.entities, two.network_.entities)
    assert torch.equal(one.network_.relations, two.network_.relations)
    assert one.metapaths_ == two.metapaths_
    assert not torch.equal(one.network_.entities, other.network_.entities)


def test_fitting_leaves_the_users_randomness_alone() -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    KnowledgeGraph(epochs=1).fit(training_data(planted_table()))
    assert torch.equal(torch.rand(3), expected)


def test_survives_saving(tmp_path: Path) -> None:
    model = carat.fit(planted_table(), detector="counts", explainer="counts", graph=KnowledgeGraph(epochs=2, dim=12))
    model.save(tmp_path / "model")
    loaded = carat.load(tmp_path / "model")
    assert model.graph is not None
    assert loaded.graph is not None
    assert loaded.graph.params() == model.graph.params()
    assert loaded.graph.metapaths_ == model.graph.metapaths_
    assert loaded.graph.facts() == model.graph.facts()
    assert torch.equal(loaded.graph.linked_, model.graph.linked_)
    ids = torch.arange(FIRST, 8)
    for mine, theirs in zip(*(Neighbours(g).search(ids, 0, 1, 5) for g in (model.graph, loaded.graph)), strict=True):
        assert torch.equal(mine, theirs)


def test_a_model_without_a_graph_loads_without(tmp_path: Path) -> None:
    model = carat.fit(planted_table(), profile="instant")
    assert model.graph is None
    model.save(tmp_path / "model")
    assert carat.load(tmp_path / "model").graph is None


def test_linked_are_those_with_an_edge() -> None:
    graph, data = fitted(), training_data(planted_table())
    edges = graph.relations_.edges(data.pairs, data.vocabulary).tolist()
    for relation in range(len(graph.relations_)):
        expected = {row for h, r, t in edges if r == relation for row in (h, t)}
        assert set(torch.nonzero(graph.linked_[relation]).flatten().tolist()) == expected


def test_vectors_of_a_domain() -> None:
    graph = fitted()
    vectors = torch.cat([graph.vectors_of(domain) for domain in range(4)])
    assert torch.equal(vectors, graph.network_.entities.detach())
    assert not vectors.requires_grad
    with pytest.raises(NotFittedError):
        KnowledgeGraph().vectors_of(0)


def test_no_edge_at_all_is_an_error() -> None:
    """A is there where B is not."""
    table = pa.table(
        {"A": ["a", None, "b", None] * 20, "B": [None, "c", None, "d"] * 20, "C": ["x", "y", "x", "z"] * 20}
    )
    with pytest.raises(InputError, match="metapaths"):
        KnowledgeGraph(metapaths=[["A", "B"]], epochs=1).fit(training_data(table))
