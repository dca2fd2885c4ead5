"""What is adjacent, and the edges, against lists written out."""

from __future__ import annotations

import pyarrow as pa
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.data import FIRST, MISSING, UNSEEN, Pairs, Vocabulary
from carat.graph import Relations
from tests.support.small import training_data

NAMES = ("A", "B", "C", "D", "E")


def vocabulary() -> Vocabulary:
    return training_data(pa.table({name: [f"{name}{i % 4}" for i in range(40)] for name in NAMES})).vocabulary


VOCABULARY = vocabulary()
PATHS = st.lists(
    st.permutations(NAMES).flatmap(lambda p: st.integers(2, 5).map(lambda n: list(p[:n]))), min_size=1, max_size=4
)


@given(PATHS)
def test_one_relation_for_every_two_adjacent_domains(paths: list[list[str]]) -> None:
    made = Relations.of(paths, VOCABULARY)
    expected = {frozenset((path[i], path[i + 1])) for path in paths for i in range(len(path) - 1)}
    assert {frozenset((NAMES[low], NAMES[high])) for low, high in made.ends.tolist()} == expected
    assert len(made) == len(expected)
    assert all(low < high for low, high in made.ends.tolist())
    for i, left in enumerate(NAMES):
        for j, right in enumerate(NAMES):
            number = int(made.number[i, j])
            assert (number >= 0) == (frozenset((left, right)) in expected and left != right)
            if number >= 0:
                assert sorted((i, j)) == made.ends[number].tolist()
        assert made.neighbours(i) == [
            j for j, right in enumerate(NAMES) if frozenset((left, right)) in expected and i != j
        ]


@given(PATHS)
def test_order_does_not_matter(paths: list[list[str]]) -> None:
    turned = [path[::-1] for path in reversed(paths)]
    assert torch.equal(Relations.of(paths, VOCABULARY).ends, Relations.of(turned, VOCABULARY).ends)


@given(PATHS)
def test_two_steps(paths: list[list[str]]) -> None:
    made = Relations.of(paths, VOCABULARY)
    for domain in range(5):
        near = made.neighbours(domain)
        found = dict(made.two_steps(domain))
        for far, between in found.items():
            assert far != domain
            assert far not in near
            assert between in near
            assert far in made.neighbours(between)
        expected = {far for between in near for far in made.neighbours(between)} - {domain, *near}
        assert set(found) == expected
        assert made.two_steps(domain) == sorted(made.two_steps(domain))


def test_two_steps_along_a_chain() -> None:
    chain = Relations.of([list(NAMES)], VOCABULARY)
    assert chain.two_steps(0) == [(2, 1)]
    assert chain.two_steps(2) == [(0, 1), (4, 3)]


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 5), max_size=12), PATHS)
def test_edges_are_the_pairs_seen(rows: list[tuple[int, ...]], paths: list[list[str]]) -> None:
    ids = torch.tensor(rows, dtype=torch.int64).reshape(-1, 5)
    made = Relations.of(paths, VOCABULARY)
    offsets = VOCABULARY.offsets.tolist()
    expected = set()
    for row in rows:
        for number, (low, high) in enumerate(made.ends.tolist()):
            if min(row[low], row[high]) >= FIRST:
                expected.add((offsets[low] + row[low], number, offsets[high] + row[high]))
    edges = made.edges(Pairs.of(ids, VOCABULARY), VOCABULARY)
    assert edges.dtype == torch.int64
    assert len(edges) == len(expected), "how often does not matter"
    assert {tuple(edge) for edge in edges.tolist()} == expected


def test_missing_and_unseen_have_no_edge() -> None:
    ids = torch.tensor([[MISSING, 2, UNSEEN, 3, 2]])
    edges = Relations.of([list(NAMES)], VOCABULARY).edges(Pairs.of(ids, VOCABULARY), VOCABULARY)
    assert edges.tolist() == [[int(VOCABULARY.offsets[3]) + 3, 3, int(VOCABULARY.offsets[4]) + 2]]
