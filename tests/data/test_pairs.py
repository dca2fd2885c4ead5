"""Co-occurrence counts against counting by hand."""

from __future__ import annotations

import itertools
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.data import FIRST, MISSING, UNSEEN, Pairs
from tests.support.sources import vocabulary_of

VOCABULARY = vocabulary_of(Port=["A", "B", "C"], Good=["A", "B"], Buyer=["x", "y", "z", "w"])
records = st.lists(st.tuples(*(st.integers(0, size - 1) for size in VOCABULARY.sizes.tolist())), max_size=20)


def ids_of(records: list[tuple[int, ...]]) -> torch.Tensor:
    return torch.tensor(records, dtype=torch.int32).reshape(-1, len(VOCABULARY))


@given(records=records)
def test_counts_are_those_of_a_dictionary(records: list[tuple[int, ...]]) -> None:
    pairs = Pairs.of(ids_of(records), VOCABULARY)
    together: Counter[tuple[int, int]] = Counter()
    alone: Counter[int] = Counter()
    for record in records:
        known = [
            entity + offset
            for entity, offset in zip(record, VOCABULARY.offsets.tolist(), strict=True)
            if entity not in (MISSING, UNSEEN)
        ]
        alone.update(known)
        together.update(itertools.combinations(known, 2))
    total = VOCABULARY.total
    assert pairs.total == total
    assert pairs.records == len(records)
    assert pairs.singles.tolist() == [alone[row] for row in range(total)]
    assert pairs.keys.tolist() == sorted(low * total + high for low, high in together)
    low, high = torch.triu_indices(total, total, 1)
    expected = [together[pair] for pair in zip(low.tolist(), high.tolist(), strict=True)]
    assert pairs.count(low, high).tolist() == expected
    assert pairs.count(high, low).tolist() == expected, "the order of the two does not matter"


def test_missing_and_unseen_never_count() -> None:
    pairs = Pairs.of(ids_of([(MISSING, FIRST, UNSEEN), (UNSEEN, FIRST, MISSING)]), VOCABULARY)
    assert len(pairs.keys) == 0
    assert pairs.singles.sum() == 2
    rows = torch.arange(VOCABULARY.total)
    assert pairs.count(rows[:, None], rows[None, :]).sum() == 0


def test_shapes_are_broadcast() -> None:
    pairs = Pairs.of(ids_of([(2, 2, 2), (2, 2, 3), (3, 2, 2)]), VOCABULARY)
    ports, good = torch.tensor([[2], [3], [4]]), torch.tensor([7, 8])
    assert pairs.count(ports, good).tolist() == [[2, 0], [1, 0], [0, 0]]


def test_stored_and_back() -> None:
    pairs = Pairs.of(ids_of([(2, 2, 2), (3, 2, 5)]), VOCABULARY)
    again = Pairs.from_tensors(pairs.tensors())
    assert again.records == 2
    assert all(torch.equal(again.tensors()[name], tensor) for name, tensor in pairs.tensors().items())


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.cuda)])
def test_counts_move_to_a_device(device: str) -> None:
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    pairs = Pairs.of(ids_of([(2, 2, 2), (3, 2, 5)]), VOCABULARY)
    moved = pairs.to(device)
    rows = torch.arange(VOCABULARY.total)
    grid = moved.count(rows[:, None].to(device), rows[None, :].to(device))
    assert grid.device.type == device
    assert grid.cpu().equal(pairs.count(rows[:, None], rows[None, :]))
