"""Where replacements come from: each source against the slow and obvious."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from functools import cache

import pytest
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.explain import TransformerExplainer
from carat.graph import KnowledgeGraph
from carat.protocols import Candidates, CandidateSource
from carat.recourse.candidates import FLOOR, ContextSource, CountsSource, GraphSource, UnionSource, Weigher
from tests.support.fitted import base, training_data, twice_corrupted
from tests.support.planted import DOMAINS, corrupted


def transformer() -> TransformerExplainer:
    explainer = base().explainer
    assert isinstance(explainer, TransformerExplainer)
    return explainer


def graph() -> KnowledgeGraph:
    found = base().graph
    assert found is not None
    return found


@cache
def chained() -> KnowledgeGraph:
    return KnowledgeGraph(metapaths=[["Port", "Good", "Carrier", "Buyer"]], epochs=2).fit(training_data())


def some() -> tuple[Tensor, Tensor]:
    """Records, some with holes, and random targets among what is there."""
    ids = base().vocabulary.encode([*corrupted()[0], *twice_corrupted()]).long()
    generator = torch.Generator().manual_seed(0)
    draw = torch.rand(ids.shape, generator=generator)
    ids[draw < 0.15], ids[draw > 0.9] = MISSING, UNSEEN
    targets = (torch.rand(ids.shape, generator=generator) < 0.4) & (ids != MISSING)
    return ids, targets


def listed(found: Candidates, row: int, domain: int) -> dict[int, float]:
    mask = found.mask[row, domain]
    ids = found.ids[row, domain, mask].tolist()
    assert len(set(ids)) == len(ids), "each entity once"
    return dict(zip(ids, found.log_weight[row, domain, mask].tolist(), strict=True))


class SlowGraph:
    """Vectors as lists, edges as a set."""

    def __init__(self, fitted: KnowledgeGraph) -> None:
        self.vocabulary, self.graph = base().vocabulary, fitted
        self.offset, self.size = self.vocabulary.offsets.tolist(), self.vocabulary.sizes.tolist()
        self.near: dict[int, list[int]] = {domain: [] for domain in range(len(DOMAINS))}
        for low, high in fitted.relations_.ends.tolist():
            self.near[low].append(high)
            self.near[high].append(low)
        train = training_data().train.tolist()
        self.seen = {
            (i, row[i], j, row[j]) for row in train for i in range(4) for j in range(4) if min(row[i], row[j]) >= FIRST
        }

    def linked(self, domain: int, entity: int, other: int) -> bool:
        return any((domain, entity, other, each) in self.seen for each in range(FIRST, self.size[other]))

    def vector(self, domain: int, entity: int) -> Tensor:
        return self.graph.network_.entities.detach()[self.offset[domain] + entity]

    def relation(self, left: int, right: int) -> Tensor:
        return self.graph.network_.relations.detach()[int(self.graph.relations_.number[left, right])]

    def weights(self, ids: list[int], near: int, domain: int, limit: int, way: list[int]) -> dict[int, float]:
        """Softmax over the nearest, through the domains of `way`."""
        if ids[near] < FIRST or not self.linked(near, ids[near], way[1]):
            return {}
        query = self.vector(near, ids[near])
        for left, right in itertools.pairwise(way):
            query = query * self.relation(left, right)
        allowed = [e for e in range(FIRST, self.size[domain]) if self.linked(domain, e, way[-2])]
        scores = {e: float(query @ self.vector(domain, e)) for e in allowed}
        best = sorted(scores, key=lambda e: -scores[e])[:limit]
        total = sum(math.exp(scores[e]) for e in best)
        return {e: math.exp(scores[e]) / total for e in best}

    def propose(self, ids: list[int], targets: list[bool], domain: int, limit: int) -> tuple[dict[int, float], str]:
        found = self.union(
            self.weights(ids, q, domain, limit, [q, domain]) for q in self.near[domain] if not targets[q]
        )
        if found:
            return found, "near"
        ways: dict[int, int] = {}
        for between in sorted(self.near[domain]):
            for far in sorted(self.near[between]):
                if far != domain and far not in self.near[domain]:
                    ways.setdefault(far, between)
        found = self.union(
            self.weights(ids, q, domain, limit, [q, between, domain]) for q, between in ways.items() if not targets[q]
        )
        if found:
            return found, "far"
        counts = self.vocabulary.domains[domain].counts[:limit]
        return {FIRST + place: float(count / counts.sum()) for place, count in enumerate(counts)}, "frequent"

    @staticmethod
    def union(parts: Iterable[dict[int, float]]) -> dict[int, float]:
        total: dict[int, float] = {}
        for part in parts:
            for entity, weight in part.items():
                total[entity] = total.get(entity, 0.0) + weight
        return total


@pytest.mark.parametrize("limit", [2, 100])
@pytest.mark.parametrize("kind", ["discovered", "chain"])
def test_graph_source_is_steps_2_and_3(kind: str, limit: int) -> None:
    fitted = graph() if kind == "discovered" else chained()
    slow, (ids, targets) = SlowGraph(fitted), some()
    found = GraphSource(fitted, base().vocabulary).propose(ids, targets, limit)
    ways = set()
    for row in range(len(ids)):
        for domain in range(4):
            mine = listed(found, row, domain)
            if not targets[row, domain]:
                assert mine == {}
                continue
            expected, way = slow.propose(ids[row].tolist(), targets[row].tolist(), domain, limit)
            ways.add(way)
            assert set(mine) == set(expected)
            assert {e: math.exp(w) for e, w in mine.items()} == pytest.approx(expected, rel=1e-3)
            if way != "frequent":
                assert list(mine.values()) == sorted(mine.values(), reverse=True)
    assert ways == {"near", "frequent"} | ({"far"} if kind == "chain" else ways & {"far"})


def test_counts_source_is_naive_bayes() -> None:
    """P(e) Π P(x | e), smoothed, over the kept entities, by going through the training records."""
    model, smoothing = base(), 0.1
    ids, targets = some()
    found = CountsSource.of(model.pairs, model.vocabulary, smoothing=smoothing).propose(ids, targets, 3)
    train = training_data().train.long()
    for row, domain in targets.nonzero().tolist()[:20]:
        value: dict[int, float] = {}
        for entity in range(FIRST, int(model.vocabulary.sizes[domain])):
            mine = train[:, domain] == entity
            value[entity] = math.log(max(int(mine.sum()), 0.5) / len(train))
            for other in range(4):
                if other != domain and not targets[row, other] and ids[row, other] >= FIRST:
                    theirs = train[:, other] == ids[row, other]
                    share = max(int(theirs.sum()), 0.5) / len(train)
                    together = int((mine & theirs).sum())
                    value[entity] += math.log((together + smoothing * share) / (int(mine.sum()) + smoothing))
        total = math.log(sum(math.exp(v) for v in value.values()))
        mine_found = listed(found, row, domain)
        best = sorted(value.values(), reverse=True)[:3]
        assert list(mine_found.values()) == pytest.approx([v - total for v in best], abs=1e-3)
        for entity, weight in mine_found.items():
            assert weight == pytest.approx(value[entity] - total, abs=1e-3)


def test_context_source_is_decoder_r_with_the_targets_masked() -> None:
    explainer = transformer()
    ids, targets = some()
    found = ContextSource(explainer).propose(ids, targets, 4)
    network = explainer.pretrained_
    for row, domain in targets.nonzero().tolist()[:20]:
        masked = ids[row : row + 1].masked_fill(targets[row : row + 1], MISSING)
        with torch.no_grad():
            _, z = network.encoder(masked)
            weight, bias = network.decoder.tables()[domain]
            hidden = network.decoder.hidden(z, network.encoder.domain)[0, domain]
            expected = (hidden @ weight.T + bias).log_softmax(dim=0)
        mine = listed(found, row, domain)
        assert list(mine.values()) == pytest.approx(expected.sort(descending=True).values[:4].tolist(), abs=1e-4)
        for entity, value in mine.items():
            assert value == pytest.approx(float(expected[entity - FIRST]), abs=1e-4)


@pytest.mark.parametrize("name", ["context", "counts"])
def test_dense_sources_weigh_what_others_propose(name: str) -> None:
    source = ContextSource(transformer()) if name == "context" else CountsSource.of(base().pairs, base().vocabulary)
    assert isinstance(source, Weigher)
    ids, targets = some()
    every = source.propose(ids, targets, 1000)
    for _, _, log_probability in source.log_probability(ids, targets):
        torch.testing.assert_close(log_probability.exp().sum(dim=1), torch.ones(len(log_probability)))
    shuffled = torch.randperm(every.ids.shape[2], generator=torch.Generator().manual_seed(0))
    weighed = source.weigh(ids, targets, every.ids[..., shuffled])
    torch.testing.assert_close(weighed, every.log_weight[..., shuffled])


@pytest.mark.parametrize("name", ["context", "counts"])
def test_records_in_parts_are_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ContextSource(transformer()) if name == "context" else CountsSource.of(base().pairs, base().vocabulary)
    ids, targets = some()
    whole = source.propose(ids, targets, 3)
    monkeypatch.setattr("carat.explain.naive_bayes.CELLS", 5 * base().vocabulary.total)
    monkeypatch.setattr("carat.explain.transformer.PART_ROWS", 5)
    parts = source.propose(ids, targets, 3)
    torch.testing.assert_close(parts.log_weight, whole.log_weight, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(source.weigh(ids, targets, whole.ids), whole.log_weight, rtol=1e-4, atol=1e-4)
    for row, domain in targets.nonzero().tolist():
        assert listed(parts, row, domain) == pytest.approx(listed(whole, row, domain), abs=1e-4)


def test_union_keeps_each_sources_weight() -> None:
    parts: dict[str, CandidateSource] = {
        "graph": GraphSource(graph(), base().vocabulary),
        "context": ContextSource(transformer()),
        "counts": CountsSource.of(base().pairs, base().vocabulary),
    }
    ids, targets = some()
    found = UnionSource(parts, weights={"context": 0.7, "counts": 0.3}).propose(ids, targets, 3)
    alone = {name: source.propose(ids, targets, 3) for name, source in parts.items()}
    everything = {name: source.propose(ids, targets, 1000) for name, source in parts.items()}
    assert set(found.by_source) == set(parts)
    for row in range(len(ids)):
        for domain in range(4):
            mine = listed(found, row, domain)
            proposed = {name: listed(each, row, domain) for name, each in alone.items()}
            assert set(mine) == set().union(*proposed.values())
            places = {int(e): p for p, e in enumerate(found.ids[row, domain].tolist()) if e}
            for entity, total in mine.items():
                own = {name: float(weight[row, domain, places[entity]]) for name, weight in found.by_source.items()}
                assert own["graph"] == pytest.approx(proposed["graph"].get(entity, -math.inf), abs=1e-5)
                for name in ("context", "counts"):
                    assert own[name] == pytest.approx(listed(everything[name], row, domain)[entity], abs=1e-4)
                expected = 0.7 * max(own["context"], FLOOR) + 0.3 * max(own["counts"], FLOOR)
                assert total == pytest.approx(expected, abs=1e-4)
    padding = ~found.mask
    assert found.log_weight[padding].isneginf().all()
    for weight in found.by_source.values():
        assert weight[padding].isneginf().all()


def test_a_source_with_a_weight_and_no_opinion_counts_as_the_floor() -> None:
    ids, targets = some()
    parts: dict[str, CandidateSource] = {
        "graph": GraphSource(graph(), base().vocabulary),
        "counts": CountsSource.of(base().pairs, base().vocabulary),
    }
    found = UnionSource(parts, weights={"graph": 0.5, "counts": 0.0}).propose(ids, targets, 2)
    own = found.by_source["graph"][found.mask]
    assert own.isneginf().any()
    torch.testing.assert_close(found.log_weight[found.mask], 0.5 * own.clamp(min=FLOOR))


def test_union_of_sources_without_opinions_takes_the_best() -> None:
    ids, targets = some()
    one, two = GraphSource(graph(), base().vocabulary), GraphSource(chained(), base().vocabulary)
    found = UnionSource({"one": one, "two": two}).propose(ids, targets, 2)
    first, second = one.propose(ids, targets, 2), two.propose(ids, targets, 2)
    for row, domain in targets.nonzero().tolist():
        mine, theirs = listed(first, row, domain), listed(second, row, domain)
        expected = {e: max(mine.get(e, -math.inf), theirs.get(e, -math.inf)) for e in {*mine, *theirs}}
        assert listed(found, row, domain) == pytest.approx(expected)


def test_union_minds_a_source_of_extremes() -> None:
    """A source that is a hundred times surer of only one value than of the next loses none of them."""

    class Extreme:
        def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
            entity = torch.arange(FIRST, FIRST + 4).expand(*ids.shape, 4)
            weight = torch.tensor([0.0, -150.0, -200.0, -500.0]).expand(*ids.shape, 4)
            return Candidates(
                entity.masked_fill(~targets[..., None], MISSING), weight.masked_fill(~targets[..., None], -torch.inf)
            )

    ids, targets = some()
    found = UnionSource({"extreme": Extreme()}).propose(ids, targets, 4)
    for row, domain in targets.nonzero().tolist():
        assert listed(found, row, domain) == {2: 0.0, 3: -150.0, 4: -200.0, 5: -500.0}


@pytest.mark.parametrize("held", [0, 1 << 30])
def test_proposing_and_weighing_at_once_is_one_after_the_other(held: int) -> None:
    """Whether the probabilities fit what may be remembered or not."""
    ids, targets = some()
    for source in (ContextSource(transformer()), CountsSource.of(base().pairs, base().vocabulary)):
        found, weigh = source.opinion(ids, targets, 3, held=held)
        alone = source.propose(ids, targets, 3)
        assert torch.equal(found.ids, alone.ids)
        assert torch.equal(found.log_weight, alone.log_weight)
        others = torch.where(targets[..., None], torch.arange(FIRST, FIRST + 4).expand(*ids.shape, 4), MISSING)
        assert torch.equal(weigh(others), source.weigh(ids, targets, others))
