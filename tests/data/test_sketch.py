"""A sketch of the training records: copies are known again in any order, later records are not taken for them."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import Tensor

from carat import datasets
from carat.data import Columns, Fold, Gathered, Sketch, Table, TrainingData, Vocabulary, open_source, scan
from carat.data import sketch as module
from tests.support.planted import planted_table

TRAINED = 40_000


def gathered(ids: Tensor) -> Gathered:
    """In pieces, as a job reads them."""
    met = Gathered()
    for part in ids.split(3_001):
        met.add(part)
    return met


@pytest.fixture(scope="module")
def flights() -> tuple[Tensor, Vocabulary]:
    """The first 100,000 flights; the vocabulary is that of the training part."""
    data = datasets.flights()
    source = open_source(data.table.slice(0, TRAINED))
    found = scan(source, Columns(domains=data.schema.domains))
    rows = open_source(data.table.slice(0, 100_000))
    return Table.read(rows, found.schema, found.vocabulary).ids, found.vocabulary


@pytest.fixture(scope="module")
def sketch(flights: tuple[Tensor, Vocabulary]) -> Sketch:
    ids, vocabulary = flights
    made = Sketch.of(TrainingData.split(ids[:TRAINED], vocabulary))
    return Sketch.from_json(json.loads(json.dumps(made.to_json())))


def test_it_is_small_and_a_sample_by_hash_alone(flights: tuple[Tensor, Vocabulary], sketch: Sketch) -> None:
    assert len(sketch.once) + len(sketch.more) == module.SIZE
    assert len(json.dumps(sketch.to_json())) < 23_000
    ids, vocabulary = flights
    order = torch.randperm(TRAINED, generator=torch.Generator().manual_seed(0))
    fold = Fold.random(TRAINED)
    places = torch.empty_like(order)
    places[order] = torch.arange(TRAINED)
    moved = Fold(places[fold.train], places[fold.held_out])
    again = Sketch.of(TrainingData.split(ids[order], vocabulary, fold=moved))
    assert again.to_json() == sketch.to_json()


@pytest.mark.parametrize("rows", [TRAINED, 10_000, 1_000])
def test_training_records_are_known_again_in_any_order(
    flights: tuple[Tensor, Vocabulary], sketch: Sketch, rows: int
) -> None:
    ids = flights[0][:TRAINED]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(TRAINED)[:rows]
        met = gathered(ids[order])
        assert sketch.most_of(met)
        assert sketch.same_rows(met) == (rows == TRAINED)


def test_a_filter_does_not_hide_them(flights: tuple[Tensor, Vocabulary], sketch: Sketch) -> None:
    ids, vocabulary = flights[0][:TRAINED], flights[1]
    for name in ("Carrier", "Origin"):
        column = ids[:, vocabulary.names.index(name)]
        for entity in column.unique().tolist():
            part = ids[column == entity]
            assert sketch.most_of(gathered(part)) or len(part) < 1_000


def test_later_flights_are_not_taken_for_training_records(flights: tuple[Tensor, Vocabulary], sketch: Sketch) -> None:
    """One in four of them equals a training record, and of some aircraft or flight numbers nearly all do."""
    later = flights[0][TRAINED:]
    for size in (50, 100, 300, 1_000, 3_000, 10_000, len(later)):
        for part in later.split(size)[:200]:
            assert not sketch.most_of(gathered(part))
    for column in later.T:
        for entity in column.unique().tolist():
            assert not sketch.most_of(gathered(later[column == entity]))


def test_held_out_records_are_as_new_as_later_ones(flights: tuple[Tensor, Vocabulary], sketch: Sketch) -> None:
    assert not sketch.most_of(gathered(flights[0][Fold.random(TRAINED).held_out]))


def test_half_is_not_most(flights: tuple[Tensor, Vocabulary], sketch: Sketch) -> None:
    ids = flights[0]
    assert not sketch.most_of(gathered(torch.cat([ids[:5_000], ids[-5_000:]])))
    assert sketch.most_of(gathered(torch.cat([ids[:5_000], ids[-1_000:]])))


def test_where_all_records_repeat_only_the_whole_table_tells() -> None:
    """Every later record equals a training record here: nobody can say which it is, and it makes no difference."""
    source = open_source(planted_table())
    found = scan(source)
    ids = Table.read(source, found.schema, found.vocabulary).ids
    sketch = Sketch.of(TrainingData.split(ids, found.vocabulary))
    shuffled = ids[torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))]
    assert sketch.same_rows(gathered(shuffled))
    other = Table.read(open_source(planted_table(seed=1)), found.schema, found.vocabulary).ids
    for met in (gathered(other), gathered(shuffled[1:]), gathered(shuffled[:0])):
        assert not sketch.same_rows(met)
        assert not sketch.most_of(met)


def test_hashes_are_the_same_everywhere() -> None:
    """They are stored, so they must never change."""
    found = module.hashes(torch.tensor([[2, 3, 4], [4, 3, 2]], dtype=torch.int32))
    assert [f"{one:x}" for one in found.tolist()] == ["5b8d66bf839cec1f", "c5617ce32e17764"]
    many = module.hashes(torch.cartesian_prod(*[torch.arange(30)] * 3))
    assert len(np.unique(many)) == 27_000
    shares = np.bincount((many >> np.uint64(61)).astype(np.int64)) / len(many)
    assert shares == pytest.approx(1 / 8, abs=0.01)
