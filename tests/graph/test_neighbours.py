"""Nearest entities, against every one of them scored."""

from __future__ import annotations

import sys
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
import torch

from carat.data import FIRST, MISSING, UNSEEN
from carat.graph import KnowledgeGraph, Neighbours, neighbours
from carat.graph.neighbours import RECALL, _enough, _index
from tests.support.small import training_data

CHAIN = [["A", "B", "C"]]


def table(rows: int = 900, sizes: tuple[int, int, int] = (6, 30, 10)) -> pa.Table:
    rng = np.random.default_rng(0)
    columns = {
        name: [f"{name}{value}" for value in rng.integers(0, size, rows)]
        for name, size in zip("ABC", sizes, strict=True)
    }
    # An entity of each domain that is only ever alone: it has no edge.
    for place, name in enumerate("ABC"):
        for other in "ABC":
            columns[other].append(f"{name}-alone" if other == name else None)  # type: ignore[arg-type]
        assert len(columns["ABC"[place]]) == rows + place + 1
    return pa.table(columns)


@cache
def graph() -> KnowledgeGraph:
    data = training_data(pa.concat_tables([table()]))
    return KnowledgeGraph(metapaths=CHAIN, epochs=3, dim=16).fit(data)


def alone(domain: int) -> int:
    """Its id; found among those without an edge."""
    made = graph()
    relation = int(made.relations_.number[domain, 1 if domain != 1 else 0])
    start = int(made.offsets_[domain])
    linked = made.linked_[relation, start + FIRST : start + made.sizes_[domain]]
    (place,) = torch.nonzero(~linked).flatten().tolist()
    return FIRST + int(place)


def brute(entity: int, near: int, domain: int, k: int, through: int | None) -> list[tuple[int, float]]:
    made = graph()
    vectors, relations = made.network_.entities.detach().double(), made.network_.relations.detach().double()
    step = relations[int(made.relations_.number[near, domain if through is None else through])]
    if through is not None:
        step = step * relations[int(made.relations_.number[through, domain])]
    if entity in (MISSING, UNSEEN, alone(near)):
        return []
    query = vectors[int(made.offsets_[near]) + entity] * step
    scores = {
        other: float(query @ vectors[int(made.offsets_[domain]) + other])
        for other in range(FIRST, made.sizes_[domain])
        if other != alone(domain)
    }
    return sorted(scores.items(), key=lambda pair: -pair[1])[:k]


@pytest.mark.parametrize(
    ("near", "domain", "through"), [(0, 1, None), (1, 0, None), (2, 1, None), (0, 2, 1), (2, 0, 1)]
)
@pytest.mark.parametrize("k", [1, 4, 100])
@pytest.mark.parametrize("cells", [neighbours.CELLS, 50])
def test_exact_is_brute_force(
    near: int, domain: int, through: int | None, k: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "CELLS", cells)
    ids = torch.arange(graph().sizes_[near])
    found, scores = Neighbours(graph()).search(ids, near, domain, k, through=through)
    assert found.shape == scores.shape == (len(ids), k)
    for entity in ids.tolist():
        expected = brute(entity, near, domain, k, through)
        mine = found[entity].tolist()
        assert mine == [other for other, _ in expected] + [MISSING] * (k - len(expected))
        assert scores[entity, : len(expected)].tolist() == pytest.approx([value for _, value in expected], abs=1e-4)
        assert scores[entity, len(expected) :].isneginf().all()


@pytest.mark.parametrize("domain", [0, 1, 2])
def test_without_an_edge_nobodys_neighbour(domain: int) -> None:
    near = 1 if domain != 1 else 0
    ids = torch.arange(graph().sizes_[near])
    found, _ = Neighbours(graph()).search(ids, near, domain, 1000)
    assert alone(domain) not in found.tolist()[FIRST]
    assert not (found == alone(domain)).any()
    assert not (found == UNSEEN).any()
    own, scores = Neighbours(graph()).search(torch.tensor([alone(domain), MISSING, UNSEEN]), domain, near, 5)
    assert not own.any()
    assert scores.isneginf().all()


def test_no_queries() -> None:
    found, scores = Neighbours(graph()).search(torch.empty(0, dtype=torch.int64), 0, 1, 3)
    assert found.shape == scores.shape == (0, 3)


@cache
def large() -> KnowledgeGraph:
    return KnowledgeGraph(metapaths=CHAIN, epochs=3, dim=16).fit(training_data(table(6000, (40, 600, 50))))


def test_faiss_agrees_for_most() -> None:
    pytest.importorskip("faiss")
    exact, quick = Neighbours(large()), Neighbours(large(), approximate_above=0)
    for near, domain, through in ((0, 1, None), (2, 1, None), (1, 0, None), (0, 2, 1)):
        ids = torch.arange(large().sizes_[near])
        (mine, mine_scores), (theirs, scores) = (each.search(ids, near, domain, 10, through) for each in (exact, quick))
        assert theirs.shape == mine.shape
        assert theirs.dtype == mine.dtype
        assert ((theirs == MISSING) == scores.isneginf()).all()
        usable = mine[:, 0] != MISSING
        assert not (theirs[~usable]).any()
        lists = zip(mine[usable].tolist(), theirs[usable].tolist(), strict=True)
        shared = [len(set(own) & set(approximate)) / len(own) for own, approximate in lists]
        assert sum(shared) / len(shared) > 0.95
        both = theirs[:, 0] == mine[:, 0]
        torch.testing.assert_close(scores[both & usable, 0], mine_scores[both & usable, 0], rtol=1e-4, atol=1e-4)
        again = quick.search(ids, near, domain, 10, through)
        assert torch.equal(again[0], theirs), "the index is built once"
    assert set(quick._indexes) == {(1, 0), (1, 1), (0, 0), (2, 1)}


def test_as_many_lists_as_it_takes() -> None:
    """Vectors in groups are found in a few lists, vectors without any order only in nearly all of them."""
    faiss = pytest.importorskip("faiss")
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn((20, 32), generator=generator)
    queries, looked = centres.numpy(), []
    for spread in (0.1, 10.0):
        near = torch.randn((10_000, 32), generator=generator)
        vectors = (centres.repeat(500, 1) + spread * near).numpy()
        index = _index(faiss, vectors)
        exact = torch.from_numpy(queries @ vectors.T).topk(100).indices.numpy()
        lists = _enough(faiss, index, queries, exact)
        _, found = index.search(queries, 100, params=faiss.SearchParametersIVF(nprobe=lists))
        hits = [len(set(a) & set(b)) for a, b in zip(found.tolist(), exact.tolist(), strict=True)]
        assert sum(hits) >= RECALL * exact.size
        looked.append(lists)
    assert looked[0] <= 24
    assert 48 <= looked[1] <= 100


def test_faiss_gives_all_there_are() -> None:
    """More wanted than a small domain has: the rest is padding."""
    pytest.importorskip("faiss")
    found, scores = Neighbours(graph(), approximate_above=0).search(torch.tensor([FIRST, MISSING]), 1, 0, 50)
    there = found[0] != MISSING
    assert 1 <= int(there.sum()) <= 6
    assert scores[0, ~there].isneginf().all()
    assert not found[1].any()


def test_faiss_where_a_relation_has_no_edge() -> None:
    """A meets B, but B never meets C."""
    pytest.importorskip("faiss")
    rows = pa.table(
        {"A": ["a", "b"] * 30, "B": ["c", "d", "c", None] * 15, "C": [*[None, None, None, "x"] * 14, *[None] * 3, "y"]}
    )
    made = KnowledgeGraph(metapaths=CHAIN, epochs=1, dim=4).fit(training_data(rows))
    for above in (10**9, 0):
        found, scores = Neighbours(made, approximate_above=above).search(torch.tensor([FIRST]), 0, 2, 3, through=1)
        assert not found.any()
        assert scores.isneginf().all()


def test_without_faiss_the_search_is_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    ids = torch.arange(graph().sizes_[0])
    mine, theirs = (Neighbours(graph(), approximate_above=above).search(ids, 0, 1, 4)[0] for above in (10**9, 0))
    assert torch.equal(mine, theirs)
