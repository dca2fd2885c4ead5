"""A score taken apart and put together again is the score of the record written out."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.detectors.base import GridFittedDetector
from carat.protocols import GridDetector
from tests.support.fitted import model_of, twice_corrupted
from tests.support.planted import corrupted, record

GRID = ("mead", "ape", "counts")


def ids_of(kind: str) -> Tensor:
    ids = model_of("ape").vocabulary.encode([*corrupted()[0][:5], *twice_corrupted()[:3]]).long()
    generator = torch.Generator().manual_seed(3)
    if kind == "holes":
        draw = torch.rand(ids.shape, generator=generator)
        ids[draw < 0.3], ids[draw > 0.8] = MISSING, UNSEEN
    if kind == "nothing":
        ids[:] = MISSING
        ids[1:3] = UNSEEN
    return ids


@pytest.mark.parametrize("kind", ["whole", "holes", "nothing"])
@pytest.mark.parametrize("targets", [1, 2, 3, 4])
@pytest.mark.parametrize("name", GRID)
def test_terms_add_up_to_the_score(name: str, targets: int, kind: str) -> None:
    model = model_of(name)
    detector, ids = model.detector, ids_of(kind)
    assert isinstance(detector, GridDetector)
    generator = torch.Generator().manual_seed(targets)
    domains = torch.stack([torch.randperm(4, generator=generator)[:targets].sort().values for _ in ids])
    sizes = model.vocabulary.sizes[domains]
    length = 5
    draw = torch.rand((*domains.shape, length), generator=generator)
    entities = FIRST + (draw * (sizes - FIRST)[..., None]).long()
    terms = detector.terms(ids, domains, entities)
    assert terms.constant.shape == (len(ids),)
    assert terms.unary.shape == entities.shape
    parts = slice(2, 6)
    for places in itertools.product(range(length), repeat=targets):
        chosen = torch.tensor(places)
        made = ids.clone()
        new = entities.gather(2, chosen[None, :, None].expand(len(ids), -1, 1)).squeeze(2)
        made.scatter_(1, domains, new)
        value = terms.constant + terms.unary.gather(2, chosen[None, :, None].expand(len(ids), -1, 1)).sum(dim=(1, 2))
        for i, j in itertools.combinations(range(targets), 2):
            assert terms.pair is not None
            whole = terms.pair(i, j, slice(None))
            value = value + whole[:, places[i], places[j]]
            torch.testing.assert_close(terms.pair(i, j, parts), whole[parts])
        torch.testing.assert_close(value.float(), detector.score(made), rtol=1e-4, atol=1e-4)
        if targets == 4 and places[-1] == 1:
            break


@pytest.mark.parametrize("name", GRID)
def test_one_replacement_and_nothing_else_known_is_neutral(name: str) -> None:
    detector = model_of(name).detector
    assert isinstance(detector, GridFittedDetector)
    terms = detector.terms(torch.zeros(2, 4, dtype=torch.int64), torch.tensor([[1], [2]]), torch.full((2, 1, 3), FIRST))
    assert terms.constant.tolist() == pytest.approx([detector.neutral_] * 2)
    assert not terms.unary.any()


@pytest.mark.parametrize("name", GRID)
def test_terms_carry_no_gradient(name: str) -> None:
    model = model_of(name)
    detector = model.detector
    assert isinstance(detector, GridDetector)
    ids = model.vocabulary.encode([record(Port=1, Good=1, Carrier=1, Buyer=1)])
    terms = detector.terms(ids, torch.tensor([[0, 1]]), torch.full((1, 2, 3), FIRST))
    assert terms.pair is not None
    assert not any(part.requires_grad for part in (terms.constant, terms.unary, terms.pair(0, 1, slice(None))))
