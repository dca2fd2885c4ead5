"""Synthetic anomalies: as many changes as asked, really out of context, with the truth kept."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN, Pairs, Table, Vocabulary, corrupt, open_source, scan
from carat.errors import InputError
from tests.support.sources import vocabulary_of


@pytest.fixture(scope="module")
def known(planted: pa.Table) -> tuple[Tensor, Vocabulary, Pairs]:
    """Ids, vocabulary and counts of the planted table."""
    source = open_source(planted)
    found = scan(source)
    ids = Table.read(source, found.schema, found.vocabulary).ids
    return ids, found.vocabulary, Pairs.of(ids, found.vocabulary)


def test_one_or_two_entities_are_replaced_in_equal_shares(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    made = corrupt(ids[:400], vocabulary, pairs)
    assert len(made) == 400
    assert torch.equal(made.ids != made.original, made.corrupted)
    assert made.corrupted.sum(dim=1).bincount().tolist() == [0, 200, 200]
    assert (made.ids >= FIRST).all()
    assert (made.ids < vocabulary.sizes).all()
    assert (made.corrupted.sum(dim=0) > 50).all(), "every domain gets its share"


def test_the_originals_are_kept(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    before = ids.clone()
    made = corrupt(ids[:50], vocabulary, pairs)
    assert torch.equal(ids, before)
    assert torch.equal(made.original, ids[made.row])


def never_together(made_ids: Tensor, corrupted: Tensor, training: Tensor) -> list[bool]:
    """For every new entity, whether some kept entity of its record never occurred with it in training."""
    answers = []
    for record, changed in zip(made_ids, corrupted, strict=True):
        for new in changed.nonzero().flatten().tolist():
            with_new = training[training[:, new] == record[new]]
            kept = (~changed).nonzero().flatten().tolist()
            answers.append(any(not (with_new[:, other] == record[other]).any() for other in kept))
    return answers


def test_a_new_entity_is_out_of_context(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    made = corrupt(ids[:200], vocabulary, pairs)
    assert all(never_together(made.ids, made.corrupted, ids))


def test_out_of_context_can_be_switched_off(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    made = corrupt(ids[:200], vocabulary, pairs, out_of_context=False)
    assert torch.equal(made.ids != made.original, made.corrupted)
    assert not all(never_together(made.ids, made.corrupted, ids))


def test_the_seed_decides(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    first, again, other = (corrupt(ids[:100], vocabulary, pairs, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(first.ids, again.ids)
    assert not torch.equal(first.ids, other.ids)


def test_missing_and_unseen_entities_are_left_alone(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    holed = ids[:100].clone()
    holed[::2, 1] = MISSING
    holed[1::2, 3] = UNSEEN
    made = corrupt(holed, vocabulary, pairs, changes=(1,))
    assert len(made) == 100
    assert torch.equal(made.original, holed)
    assert not made.corrupted[holed < FIRST].any()


def test_records_that_can_not_be_corrupted_are_not_there(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    holed = ids[:6].clone()
    holed[::2, 1:] = MISSING
    made = corrupt(holed, vocabulary, pairs, changes=(1,))
    assert made.row.tolist() == [1, 3, 5]
    everything = vocabulary_of(Port=["A", "B"], Good=["x", "y"])
    square = torch.cartesian_prod(torch.arange(2, 4), torch.arange(2, 4)).int()
    assert len(corrupt(square, everything, Pairs.of(square, everything), changes=(1,))) == 0
    assert len(corrupt(square, everything, Pairs.of(square, everything), changes=(1,), out_of_context=False)) == 4


def test_no_records_give_no_anomalies(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    assert len(corrupt(ids[:0], vocabulary, pairs)) == 0


def test_something_of_the_record_must_be_kept(known: tuple[Tensor, Vocabulary, Pairs]) -> None:
    ids, vocabulary, pairs = known
    with pytest.raises(InputError, match="at least 5 domains"):
        corrupt(ids, vocabulary, pairs, changes=(4,))
