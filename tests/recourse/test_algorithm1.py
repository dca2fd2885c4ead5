"""Algorithm 1, step by step, against dictionaries and loops."""

from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache

import pytest
import torch

import carat
from carat.data import FIRST
from carat.explain import TransformerExplainer
from carat.graph import KnowledgeGraph
from carat.recourse import Constraints, Settings
from tests.support.fitted import model_of, training_data, twice_corrupted
from tests.support.planted import corrupted, record

Record = tuple[int, ...]


def graph_of(model: carat.Model) -> KnowledgeGraph:
    assert model.graph is not None
    return model.graph


class Slow:
    """The algorithm as the paper tells it, one record at a time."""

    def __init__(self, model: carat.Model) -> None:
        graph = graph_of(model)
        self.model, self.names = model, model.vocabulary.names
        self.ways: set[str] = set()
        self.paths = [[self.names.index(name) for name in path] for path in graph.metapaths_]
        self.entity = graph.network_.entities.detach().double().tolist()
        ends = [tuple(pair) for pair in graph.relations_.ends.tolist()]
        self.relation = dict(zip(ends, graph.network_.relations.detach().double().tolist(), strict=True))
        self.offset = model.vocabulary.offsets.tolist()
        total = model.pairs.total
        self.edges = {(key // total, key % total) for key in model.pairs.keys.tolist()}

    def flagged(self, ids: Record) -> list[int]:
        explainer = self.model.explainer
        assert isinstance(explainer, TransformerExplainer)
        likelihood = explainer.frozen.likelihood(torch.tensor([ids]))[0].tolist()
        present = [domain for domain in range(len(ids)) if likelihood[domain] == likelihood[domain]]
        low = [domain for domain in present if likelihood[domain] < 0.5]
        return low or sorted(present, key=lambda domain: likelihood[domain])[:1]

    def adjacent(self, domain: int) -> set[int]:
        found = set()
        for path in self.paths:
            for left, right in itertools.pairwise(path):
                if domain in (left, right):
                    found.add(left + right - domain)
        return found

    def rows(self, domain: int) -> range:
        """Rows of its entities."""
        start = self.offset[domain] + FIRST
        return range(start, start + len(self.model.vocabulary.domains[domain].entities))

    def linked(self, row: int, domain: int) -> bool:
        """Whether an entity was ever seen with one of the domain."""
        return any((min(row, other), max(row, other)) in self.edges for other in self.rows(domain))

    def nearest(self, ids: Record, near: int, domain: int, n: int, through: int | None = None) -> list[int]:
        """The n entities of `domain` with the largest Σ e · r · t."""
        row = self.offset[near] + ids[near]
        step = [1.0] * len(self.entity[0])
        ways = [(near, domain)] if through is None else [(near, through), (through, domain)]
        for left, right in ways:
            step = [a * b for a, b in zip(step, self.relation[min(left, right), max(left, right)], strict=True)]
        if ids[near] < FIRST or not self.linked(row, ways[0][1]):
            return []
        scores = {
            other - self.offset[domain]: sum(
                a * b * c for a, b, c in zip(self.entity[row], step, self.entity[other], strict=True)
            )
            for other in self.rows(domain)
            if self.linked(other, ways[-1][0])
        }
        return sorted(scores, key=lambda entity: -scores[entity])[:n]

    def candidates(self, ids: Record, domain: int, chosen: list[int], n: int) -> set[int]:
        outside = [q for q in self.adjacent(domain) if q not in chosen]
        found = {entity for q in outside for entity in self.nearest(ids, q, domain, n)}
        self.ways.add("near")
        if not found:
            self.ways.add("far")
            ways: dict[int, int] = {}
            for between in sorted(self.adjacent(domain)):
                for far in sorted(self.adjacent(between) - self.adjacent(domain) - {domain}):
                    ways.setdefault(far, between)
            found = {e for q, way in ways.items() if q not in chosen for e in self.nearest(ids, q, domain, n, way)}
        if not found:
            self.ways.add("frequent")
            found = set(range(FIRST, FIRST + min(n, len(self.rows(domain)))))
        return found - {ids[domain]}

    def best(self, ids: Record, n: int, k: int) -> list[tuple[float, Record]]:
        chosen = self.flagged(ids)
        lists = [sorted(self.candidates(ids, domain, chosen, n)) for domain in chosen]
        made = []
        for combination in itertools.product(*lists):
            new = dict(zip(chosen, combination, strict=True))
            made.append(tuple(new.get(domain, old) for domain, old in enumerate(ids)))
        scores = self.model.detector.score(torch.tensor(made)).tolist() if made else []
        return sorted(zip(scores, made, strict=True), key=lambda pair: -pair[0])[:k]


@cache
def chained() -> KnowledgeGraph:
    """Only neighbours in the chain share a relation: some targets have no kept neighbour."""
    return KnowledgeGraph(metapaths=[["Port", "Good", "Carrier", "Buyer"]], epochs=3).fit(training_data())


def check(model: carat.Model, records: list[dict[str, str]], *, n: int, k: int, slow: Slow | None = None) -> list[int]:
    """The method and the loops agree; gives the number of targets of each record."""
    slow = slow or Slow(model)
    ids = model.vocabulary.encode(records)
    outcome = model.method("carat").find(ids, Settings(k=k, neighbours=n))
    assert outcome.exhausted.all()
    targets = []
    for row, record_ids in enumerate(ids.tolist()):
        own = tuple(record_ids)
        expected = slow.best(own, n, k)
        mask = outcome.mask[row]
        assert mask.tolist() == [True] * len(expected) + [False] * (k - len(expected))
        score = [value for value, _ in expected]
        assert outcome.score[row, mask].tolist() == pytest.approx(score, rel=1e-4, abs=1e-4)
        found = [tuple(each) for each in outcome.counterfactuals[row, mask].tolist()]
        assert len(set(found)) == len(found), "no counterfactual twice"
        # Equal scores may come in either order, and at the end of the list either may be cut off.
        clear = [each for value, each in expected if value > score[-1] + 1e-3]
        assert set(clear) <= set(found)
        targets.append(len(slow.flagged(own)))
    return targets


@pytest.mark.parametrize("detector", ["mead", "ape", "counts", "context", "isolation forest"])
@pytest.mark.parametrize(("n", "k"), [(3, 5), (100, 20)])
def test_one_target(detector: str, n: int, k: int) -> None:
    assert check(model_of(detector), corrupted()[0][:8], n=n, k=k) == [1] * 8


@pytest.mark.parametrize("detector", ["mead", "ape", "counts"])
@pytest.mark.parametrize(("n", "k"), [(3, 5), (100, 20)])
def test_two_targets(detector: str, n: int, k: int) -> None:
    records = [*twice_corrupted()[:3], *twice_corrupted()[6:8]]
    assert check(model_of(detector), records, n=n, k=k) == [2] * 5


def test_two_targets_of_a_detector_without_a_closed_form() -> None:
    """Few enough that all of them are scored one by one."""
    assert check(model_of("context"), twice_corrupted()[:2], n=6, k=10) == [2] * 2


def test_the_single_lowest_where_none_is_flagged() -> None:
    records = [record(Port=g, Good=g, Carrier=g, Buyer=g) for g in range(3)]
    assert check(model_of("ape"), records, n=4, k=10) == [1] * 3


@pytest.mark.parametrize("detector", ["mead", "ape"])
def test_fallbacks(detector: str) -> None:
    """Along a chain: kept neighbours, two relations away, and nobody at all."""
    model = replace(model_of(detector), graph=chained())
    slow = Slow(model)
    assert slow.adjacent(0) == {1}
    records = [*corrupted()[0][:4], *twice_corrupted()[:2], *twice_corrupted()[6:8]]
    records += [record(Port=0, Good=2, Carrier=3, Buyer=5), record(Port=1, Good=4, Carrier=0, Buyer=3)]
    records += [{"Port": "Port-1a", "Carrier": "Carrier-4a"}, {"Good": "Good-1a", "Buyer": "Buyer-3a"}]
    records += [{"Port": "Port-1a", "Good": "Good-3a"}, {"Buyer": "Buyer-1a", "Port": "Port-3a"}]
    targets = check(model, records, n=3, k=6, slow=slow)
    assert {1, 2, 3} <= set(targets)
    assert slow.ways == {"near", "far", "frequent"}


@pytest.mark.parametrize(("names", "way"), [(("Port", "Good"), "near"), (("Port", "Carrier"), "far"), (("Port",), "")])
def test_each_fallback_alone(names: tuple[str, ...], way: str) -> None:
    """Port is the only domain that may change, and little else is known of the record."""
    model = replace(model_of("ape"), graph=chained())
    slow = Slow(model)
    text = {name: f"{name}-{1 if name == 'Port' else 4}a" for name in names}
    ids = model.vocabulary.encode([text])
    constraints = Constraints(immutable=["Good", "Carrier", "Buyer"])
    outcome = model.method("carat").find(ids, Settings(k=10, neighbours=2, constraints=constraints))
    found = {each[0] for each in outcome.counterfactuals[0, outcome.mask[0]].tolist()}
    own = tuple(ids[0].tolist())
    expected = {
        "near": lambda: slow.nearest(own, 1, 0, 2),
        "far": lambda: slow.nearest(own, 2, 0, 2, through=1),
        "": lambda: [FIRST, FIRST + 1],
    }[way]()
    assert found == set(expected) - {own[0]}
    assert found


def test_the_present_entity_is_never_proposed() -> None:
    model = model_of("ape")
    records = corrupted()[0]
    ids = model.vocabulary.encode(records)
    outcome = model.method("carat").find(ids, Settings(k=50))
    changed = outcome.counterfactuals != ids[:, None]
    assert changed.any(dim=2)[outcome.mask].all()
    assert (outcome.counterfactuals >= FIRST)[outcome.mask].all()
