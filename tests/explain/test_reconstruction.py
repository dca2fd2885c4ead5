"""Decoder-R: what it sees, what it is asked, and what a large domain costs."""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa
import pytest
import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from carat.data import FIRST, MISSING, UNSEEN, TrainingData
from carat.explain.encoder import RowEncoder
from carat.explain.reconstruction import ReconstructionNetwork, ReconstructionTask
from carat.training.negatives import UniformEntities
from tests.support.small import training_data


def network(data: TrainingData, task: ReconstructionTask | None = None) -> ReconstructionNetwork:
    torch.manual_seed(0)
    encoder = RowEncoder(data.vocabulary, dim=8, layers=1, heads=2, dropout=0.0)
    return ReconstructionNetwork(data.vocabulary, encoder, task or ReconstructionTask())


def test_corruption(planted: pa.Table) -> None:
    data = training_data(planted)
    ids = data.train.long().clone()
    ids[:300, 0], ids[:300, 1] = MISSING, UNSEEN
    noise, generator = UniformEntities(data.vocabulary), torch.Generator().manual_seed(0)
    corrupted, where = ReconstructionTask().corrupt(ids, noise, generator)
    masked = (corrupted == MISSING) & (ids != MISSING)
    known = ids >= FIRST
    assert abs(float(masked[known].float().mean()) - 0.2) < 0.02
    assert abs(float((where & ~masked)[known].float().mean()) - 0.2) < 0.02
    assert not where[~known].any(), "missing and unseen entities are left alone"
    assert torch.equal(corrupted[~where], ids[~where])


def test_masks_never_leak_the_target(planted: pa.Table) -> None:
    """What would fit in masked domains is the same whatever stood there."""
    data = training_data(planted)
    made = network(data).eval()
    ids = data.train[:20].long()
    targets = torch.zeros_like(ids, dtype=torch.bool)
    targets[:, 1] = targets[:10, 2] = True
    other = ids.clone()
    other[targets] = UNSEEN
    found = list(zip(made.log_probability(ids, targets), made.log_probability(other, targets), strict=True))
    assert [(domain, len(rows)) for (domain, rows, _), _ in found] == [(1, 20), (2, 10)]
    for (domain, rows, mine), (same, same_rows, theirs) in found:
        assert domain == same
        assert torch.equal(rows, same_rows)
        assert torch.equal(mine, theirs)


def test_log_probability_is_of_the_entities_alone(planted: pa.Table) -> None:
    data = training_data(planted)
    ids = data.train[:20]
    targets = torch.zeros_like(ids, dtype=torch.bool)
    targets[3:, 0] = True
    ((domain, rows, found),) = network(data).eval().log_probability(ids, targets)
    assert domain == 0
    assert rows.tolist() == list(range(3, 20))
    assert found.shape == (17, 6), "Port has six entities, and reserved ids have no place"
    torch.testing.assert_close(found.exp().sum(dim=1), torch.ones(17))
    assert not found.requires_grad
    assert list(network(data).eval().log_probability(ids, targets & False)) == []


def test_loss_is_cross_entropy_where_it_should_be(planted: pa.Table) -> None:
    """Everything masked, nothing else counted: the loss is the plain mean over all positions."""
    data = training_data(planted)
    made = network(data, ReconstructionTask(masked=1.0, replaced=0.0, intact=0.0)).eval()
    ids = data.train[:30].long()
    _, z = made.encoder(torch.zeros_like(ids))
    hidden = made.decoder.hidden(z, made.encoder.domain)
    slow = [
        functional.cross_entropy(hidden[:, d] @ weight.T + bias, ids[:, d] - FIRST)
        for d, (weight, bias) in enumerate(made.decoder.tables())
    ]
    torch.testing.assert_close(made.loss(ids, torch.Generator().manual_seed(0)), torch.stack(slow).mean())


def test_every_trainable_parameter_gets_gradient(planted: pa.Table) -> None:
    data = training_data(planted)
    made = network(data)
    made.loss(data.train, torch.Generator().manual_seed(0)).backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name


def test_sampled_softmax_estimates_the_full_one() -> None:
    data = training_data(pa.table({"A": [f"a{i % 500}" for i in range(1000)], "B": ["x", "y"] * 500}))
    task = ReconstructionTask(masked=1.0, replaced=0.0, intact=0.0, samples=2000)
    full, sampled = network(data, task), network(data, ReconstructionTask(**{**task.__dict__, "sampled_above": 100}))
    ids = data.train[:400]
    exact = float(full.loss(ids, torch.Generator().manual_seed(0)).detach())
    draws = [float(sampled.loss(ids, torch.Generator().manual_seed(s)).detach()) for s in range(20)]
    assert len(set(draws)) > 1, "it is sampled"
    assert math.isclose(sum(draws) / 20, exact, rel_tol=0.01)


def test_sampled_softmax_has_the_gradient_of_the_full_one() -> None:
    """Frequent and rare entities alike; the more draws, the nearer."""
    names = [f"a{int(500 ** (i / 3_000)) - 1}" for i in range(3_000)] + [f"a{i}" for i in range(500)]
    data = training_data(pa.table({"A": names, "B": ["x", "y"] * 1_750}))
    task = ReconstructionTask(masked=1.0, replaced=0.0, intact=0.0)
    full = network(data, task)
    ids = data.train[:300]

    def slope(made: ReconstructionNetwork, seed: int) -> torch.Tensor:
        made.zero_grad()
        made.loss(ids, torch.Generator().manual_seed(seed)).backward()
        return torch.cat([each.grad.flatten() for each in made.parameters() if each.grad is not None])

    exact, off = slope(full, 0), {}
    for samples in (100, 10_000):
        sampled = network(data, ReconstructionTask(**{**task.__dict__, "sampled_above": 100, "samples": samples}))
        found = torch.stack([slope(sampled, seed) for seed in range(10)])
        off[samples] = float((found - exact).norm(dim=1).mean() / exact.norm())
        assert float((found.mean(dim=0) - exact).norm() / exact.norm()) < off[samples], "they err to all sides"
    assert off[10_000] < 0.1 < off[100]
    assert off[10_000] < off[100] / 5


def test_small_domains_draw_nothing() -> None:
    """Below the limit the softmax is exact, and the network has nothing more than before."""
    data = training_data(pa.table({"A": [f"a{i % 500}" for i in range(1000)], "B": ["x", "y"] * 500}))
    small = network(data, ReconstructionTask(sampled_above=500))
    assert small.likely is None
    other = network(data, ReconstructionTask(sampled_above=499))
    assert other.likely is not None
    assert small.state_dict().keys() == other.state_dict().keys()
    ids = data.train[:50]
    losses = [made.loss(ids, torch.Generator().manual_seed(0)) for made in (small, network(data), other)]
    assert torch.equal(losses[0], losses[1])
    assert not torch.equal(losses[0], losses[2])


class Largest(TorchDispatchMode):
    """Remembers the number of elements of the largest tensor that any operation made."""

    elements = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor):
                self.elements = max(self.elements, tensor.numel())
        return result


@pytest.mark.slow
def test_a_domain_of_200_000_entities_has_bounded_memory() -> None:
    """No operation of a training step makes a tensor larger than the tables of weights themselves."""
    size = 200_000
    data = training_data(pa.table({"A": [f"a{i}" for i in range(size)] * 2, "B": ["x", "y"] * size}))
    made = network(data)
    with Largest() as largest:  # type: ignore[no-untyped-call]
        made.loss(data.train[:512], torch.Generator().manual_seed(0)).backward()
    weights = max(parameter.numel() for parameter in made.parameters())
    assert weights <= largest.elements <= weights + 1, "a full softmax would make 280 × 200,000 numbers"
