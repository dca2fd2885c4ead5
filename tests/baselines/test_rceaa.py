"""RCEAA: its gradient, its loss by hand, and the planted repair."""

from __future__ import annotations

import math

import pytest
import torch

from carat.baselines import Rceaa
from carat.baselines.rceaa import JITTER, Relaxed
from carat.data import FIRST, MISSING, UNSEEN
from carat.detectors.embedding import EmbeddingDetector
from carat.errors import InputError
from carat.recourse.constraints import Constraints
from carat.recourse.settings import Settings
from tests.support.parts import CARRIER, anomalies, data, detector, repaired, vocabulary


def method(name: str = "mead", **settings: float) -> Rceaa:
    judge = detector(name)
    scores = judge.score(data().train)
    return Rceaa(vocabulary=vocabulary(), pairs=data().pairs, detector=judge, reference=scores, **settings)  # type: ignore[arg-type]


def relaxed(name: str = "mead", **limits: object) -> Relaxed:
    judge = detector(name)
    assert isinstance(judge, EmbeddingDetector)
    return Relaxed(method(name), judge, Constraints(**limits).resolve(vocabulary()))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["mead", "ape"])
def test_finds_the_planted_repair(name: str) -> None:
    found = method(name).find(anomalies(), Settings(k=20))
    best = torch.tensor([repaired(part) for part in found.counterfactuals.unbind()]) & found.mask
    assert best.any(dim=1).float().mean() >= 0.8
    base = detector(name).score(anomalies())
    better = (found.score > base[:, None]) & found.mask
    assert better.sum() >= 0.95 * found.mask.sum()


@pytest.mark.parametrize("name", ["mead", "ape"])
def test_every_logit_gets_a_gradient(name: str) -> None:
    on, record = relaxed(name), anomalies()[0].long()
    logits = on.start(record, 5)[None].requires_grad_()
    on.loss(record, logits, torch.tensor([[0.5], [0.5]])).sum().backward()
    assert logits.grad is not None
    assert (logits.grad != 0).all()


@pytest.mark.parametrize("name", ["mead", "ape"])
def test_a_relaxed_record_that_is_certain_scores_as_the_record(name: str) -> None:
    judge = detector(name)
    assert isinstance(judge, EmbeddingDetector)
    ids = data().train[:20].long()
    known = ids >= FIRST
    vectors = judge.network_.vectors[ids + vocabulary().offsets]
    assert torch.allclose(judge.network_.relaxed(vectors, known, known.sum(dim=1)), judge.score(ids))


def test_loss_by_hand() -> None:
    """Three relaxed records that are certain: the first two the anomaly itself, the third with another Carrier."""
    on, record = relaxed(), anomalies()[0].long()
    other = record.clone()
    other[CARRIER] = FIRST if record[CARRIER] != FIRST else FIRST + 1
    logits = torch.full((1, 3, len(on.permitted)), -1e4)
    for row, ids in enumerate((record, record, other)):
        logits[0, row, on.starts + ids - FIRST] = 1e4
    scores = method().reference.double()
    mine = (detector("mead").score(torch.stack([record, record, other])) - scores.mean()) / scores.std(correction=0)
    threshold = (scores.quantile(0.1) - scores.mean()) / scores.std(correction=0)
    hinge = float((threshold - mine).clamp(min=0).mean())
    far = 1 / 4  # one of four domains differs
    near = 1 / (1 + far)
    kernel = torch.tensor([[1, 1, near], [1, 1, near], [near, near, 1]]) + JITTER * torch.eye(3)
    expected = 2 * hinge + 0.25 * far / 3 - 0.75 * float(torch.linalg.det(kernel.double())) ** (1 / 3)
    assert math.isclose(float(on.loss(record, logits, torch.tensor([[0.25], [0.75]]))), expected, rel_tol=1e-2)


def test_diversity_is_rewarded() -> None:
    on, record = relaxed(), anomalies()[0].long()
    logits = on.start(record, 10)[None]
    same = logits[:, :1].expand_as(logits)
    much, none = (torch.tensor([[0.0], [weight]]) for weight in (10.0, 0.0))
    gained = [float((on.loss(record, part, none) - on.loss(record, part, much)).sum()) for part in (logits, same)]
    assert gained[0] > gained[1] >= 0


def test_outcome() -> None:
    ids = anomalies()[:4].clone()
    ids[0, 0], ids[1, CARRIER], ids[2] = MISSING, UNSEEN, MISSING
    found, again = (method().find(ids, Settings(k=8)) for _ in range(2))
    assert torch.equal(found.counterfactuals, again.counterfactuals)
    assert found.counterfactuals.shape == (4, 8, 4)
    same = (found.counterfactuals == ids[:, None]).all(dim=2)
    assert not (same & found.mask).any()
    assert found.mask[:2].any(dim=1).all()
    assert not found.mask[2].any()
    assert (found.counterfactuals[0, :, 0] == MISSING).all()
    assert (found.counterfactuals[1, :, CARRIER][found.mask[1]] >= FIRST).all()
    for row in range(4):
        listed = [tuple(record) for record in found.counterfactuals[row][found.mask[row]].tolist()]
        assert len(set(listed)) == len(listed)
    assert (found.score[~found.mask] == -torch.inf).all()
    assert (found.score.diff(dim=1)[found.mask[:, 1:]] <= 0).all()
    assert found.likelihood.isnan().all()
    assert not found.exhausted.any()


def test_constraints() -> None:
    limits = Constraints(immutable=["Port"], forbidden={"Carrier": ["Carrier-0a"]})
    found = method().find(anomalies()[:1], Settings(k=20, constraints=limits))
    assert found.mask.any()
    assert (found.counterfactuals[..., 0] == anomalies()[:1, None, 0]).all()
    assert "Carrier-0a" not in vocabulary().decode(found.counterfactuals[0])["Carrier"].to_pylist()


def test_no_records() -> None:
    found = method().find(anomalies()[:0], Settings(k=5))
    assert found.counterfactuals.shape == (0, 5, 4)


@pytest.mark.parametrize("name", ["counts", "callable"])
def test_other_detectors_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="rceaa needs the detector mead or ape"):
        method(name)


def test_needs_reference_scores() -> None:
    with pytest.raises(InputError, match="scores of training records"):
        Rceaa(vocabulary=vocabulary(), pairs=data().pairs, detector=detector("mead"), reference=torch.empty(0))
