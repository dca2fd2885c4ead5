"""One suite over every source of candidates."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from carat.data import FIRST, MISSING, UNSEEN
from carat.explain import TransformerExplainer
from carat.protocols import CandidateSource
from carat.recourse.candidates import ContextSource, CountsSource, GraphSource, UnionSource
from tests.support.fitted import base
from tests.support.planted import DOMAINS, corrupted


@cache
def sources() -> dict[str, CandidateSource]:
    model = base()
    assert model.graph is not None
    assert isinstance(model.explainer, TransformerExplainer)
    made: dict[str, CandidateSource] = {
        "graph": GraphSource(model.graph, model.vocabulary),
        "context": ContextSource(model.explainer),
        "counts": CountsSource.of(model.pairs, model.vocabulary),
    }
    return {**made, "union": UnionSource(made)}


@pytest.fixture(params=["graph", "context", "counts", "union"])
def source(request: pytest.FixtureRequest) -> CandidateSource:
    return sources()[request.param]


def planted() -> tuple[torch.Tensor, torch.Tensor, list[str]]:
    records, where = corrupted()
    ids = base().vocabulary.encode(records).long()
    return ids, torch.tensor([[name == domain for name in DOMAINS] for domain in where]), where


def test_is_a_source(source: CandidateSource) -> None:
    assert isinstance(source, CandidateSource)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_shapes_and_batch_sizes(source: CandidateSource, dtype: torch.dtype) -> None:
    ids, targets, _ = planted()
    for count in (0, 1, 24):
        found = source.propose(ids[:count].to(dtype), targets[:count], 5)
        assert found.ids.shape == found.log_weight.shape == found.mask.shape
        assert found.ids.shape[:2] == (count, 4)
        assert found.ids.dtype == torch.int64
        assert found.log_weight.dtype == torch.float32


def test_candidates_are_entities_of_the_targets_alone(source: CandidateSource) -> None:
    ids, targets, _ = planted()
    found = source.propose(ids, targets, 5)
    assert found.mask[targets].any(dim=1).all()
    assert not found.mask[~targets].any()
    assert (found.ids[found.mask] >= FIRST).all()
    sizes = base().vocabulary.sizes[None, :, None].expand_as(found.ids)
    assert (found.ids < sizes)[found.mask].all()
    assert found.log_weight[found.mask].isfinite().all()
    assert found.log_weight[~found.mask].isneginf().all()
    for row, domain in targets.nonzero().tolist():
        mine = found.ids[row, domain][found.mask[row, domain]].tolist()
        assert len(set(mine)) == len(mine)


def test_limit(source: CandidateSource) -> None:
    """A wider limit only adds; one that is wider than the domain gives all of it that is known."""
    ids, targets, _ = planted()
    few, more, every = (source.propose(ids, targets, limit) for limit in (1, 3, 10_000))
    for row, domain in targets.nonzero().tolist():
        lists = [set(found.ids[row, domain][found.mask[row, domain]].tolist()) for found in (few, more, every)]
        assert lists[0] <= lists[1] <= lists[2]
        assert len(lists[2]) == int(base().vocabulary.sizes[domain]) - FIRST


def test_what_stands_there_is_no_evidence(source: CandidateSource) -> None:
    ids, targets, _ = planted()
    other = ids.masked_fill(targets, UNSEEN)
    mine, theirs = source.propose(ids, targets, 5), source.propose(other, targets, 5)
    assert torch.equal(mine.ids, theirs.ids)
    assert torch.equal(mine.log_weight, theirs.log_weight)


def test_the_best_fits_the_context(source: CandidateSource) -> None:
    ids, targets, where = planted()
    found = source.propose(ids, targets, 20)
    best = found.log_weight.argmax(dim=2, keepdim=True)
    chosen = found.ids.gather(2, best).squeeze(2)
    texts = base().vocabulary.decode(chosen)
    right = [texts[name][row].as_py().startswith(f"{name}-{row // 4}") for row, name in enumerate(where)]
    assert sum(right) >= 22


@pytest.mark.parametrize("reserved", [MISSING, UNSEEN])
def test_never_without_an_answer(source: CandidateSource, reserved: int) -> None:
    """Nothing of the record is known: the frequent entities are all there is to say."""
    ids = torch.full((3, 4), reserved)
    targets = torch.zeros(3, 4, dtype=torch.bool)
    targets[0, 0] = targets[1, 2] = True
    found = source.propose(ids, targets, 3)
    assert found.mask[targets].any(dim=1).all()
    assert not found.mask[~targets].any()
    all_targets = source.propose(planted()[0], torch.ones(24, 4, dtype=torch.bool), 3)
    assert all_targets.mask.any(dim=2).all()


def test_rows_are_independent(source: CandidateSource) -> None:
    ids, targets, _ = planted()
    targets = targets.clone()
    targets[::3, 1] = True
    whole = source.propose(ids, targets, 4)
    for row in range(len(ids)):
        alone = source.propose(ids[row : row + 1], targets[row : row + 1], 4)
        for domain in targets[row].nonzero().flatten().tolist():
            mine, theirs = (
                {
                    int(e): float(w)
                    for e, w in zip(found.ids[place, domain], found.log_weight[place, domain], strict=True)
                    if e
                }
                for found, place in ((alone, 0), (whole, row))
            )
            assert mine == pytest.approx(theirs, abs=1e-4)
