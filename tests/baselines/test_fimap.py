"""FIMAP: gradients that flow, draws that repeat, and the planted repair."""

from __future__ import annotations

from functools import cache

import pytest
import torch

from carat.baselines import Fimap
from carat.baselines.fimap import PerturbationNetwork, ProxyNetwork
from carat.data import FIRST, MISSING, UNSEEN, TrainingData
from carat.errors import InputError, NotFittedError
from carat.recourse.constraints import Constraints
from carat.recourse.settings import Settings
from tests.support.parts import CARRIER, anomalies, data, detector, repaired, vocabulary


def small() -> Fimap:
    return Fimap(epochs=30, batch_size=64, copies=2, sparsity=0.5)


@cache
def fitted() -> Fimap:
    return small().fit(data(), detector("mead"))


def networks() -> tuple[ProxyNetwork, PerturbationNetwork]:
    torch.manual_seed(0)
    proxy = ProxyNetwork(vocabulary(), dim=8, width=16)
    network = PerturbationNetwork(
        vocabulary(), proxy, dim=8, widths=(16, 8, 8), dropout=0.2, temperature=0.5, sparsity=1.0
    )
    return proxy, network


def test_every_parameter_of_the_proxy_gets_a_gradient() -> None:
    proxy, _ = networks()
    proxy.requires_grad_(True)
    labelled = torch.cat([data().train[:200], torch.arange(200, dtype=torch.int32)[:, None] % 2], dim=1)
    proxy.loss(labelled, torch.Generator()).backward()
    for name, parameter in proxy.named_parameters():
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name


def test_every_parameter_of_the_perturbation_network_gets_a_gradient() -> None:
    proxy, network = networks()
    network.sparsity = 0.0  # the verdict alone must reach every weight
    network.loss(data().train[:200], torch.Generator().manual_seed(0)).backward()
    trained = [(name, each) for name, each in network.named_parameters() if each.requires_grad]
    assert len(trained) == 1 + 3 * 2 + 2 + 2
    for name, parameter in trained:
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name
    known = network.output.grad
    assert known is not None
    assert (known != 0).any(dim=1).all()  # every entity of every domain
    assert all(parameter.grad is None for parameter in proxy.parameters())


def test_the_penalty_alone_teaches_to_keep() -> None:
    _, network = networks()
    network.sparsity = 1000.0
    ids = data().train[:200]
    optimizer = torch.optim.Adam([each for each in network.parameters() if each.requires_grad], lr=0.05)
    generator = torch.Generator().manual_seed(0)
    for _ in range(40):
        optimizer.zero_grad()
        network.loss(ids, generator).backward()
        optimizer.step()
    network.eval()
    kept = network.draw(ids.long(), 5, generator) == ids[:, None]
    assert kept.float().mean() > 0.95


def test_learns() -> None:
    history = fitted().history_
    assert history.validation[-1] < history.validation[0]
    assert fitted().proxy_history_.best < 0.3


def test_finds_the_planted_repair() -> None:
    found = fitted().find(anomalies(), Settings(k=20))
    best = torch.tensor([repaired(part) for part in found.counterfactuals.unbind()]) & found.mask
    assert best.any(dim=1).float().mean() >= 0.5
    # Better than its anomaly more often than a record drawn at random is; how much more, the last bits of training
    # decide.
    own = detector("mead").score(anomalies())[:, None]
    better = (found.score > own) & found.mask
    drawn = torch.rand((200, len(vocabulary())), generator=torch.Generator().manual_seed(0)) * (vocabulary().sizes - 2)
    chance = (detector("mead").score(drawn.long() + 2) > own).float().mean()
    assert better.sum() / found.mask.sum() >= chance + 0.2


def test_outcome() -> None:
    ids = anomalies()[:4].clone()
    ids[0, 0], ids[1, CARRIER], ids[2] = MISSING, UNSEEN, MISSING
    found, again = (fitted().find(ids, Settings(k=8)) for _ in range(2))
    assert torch.equal(found.counterfactuals, again.counterfactuals)
    assert found.counterfactuals.shape == (4, 8, 4)
    assert not ((found.counterfactuals == ids[:, None]).all(dim=2) & found.mask).any()
    assert not found.mask[2].any()
    assert found.reasons[2] == "it has no value that could change"
    assert (found.counterfactuals[0, :, 0] == MISSING).all()
    assert (found.counterfactuals[1, :, CARRIER] >= FIRST).all()
    for row in range(4):
        listed = [tuple(record) for record in found.counterfactuals[row][found.mask[row]].tolist()]
        assert len(set(listed)) == len(listed)
    assert (found.score[~found.mask] == -torch.inf).all()
    assert torch.allclose(found.score[found.mask], detector("mead").score(found.counterfactuals[found.mask]))
    assert found.likelihood.isnan().all()


def test_the_same_seed_gives_the_same_networks() -> None:
    few = TrainingData(data().train[:100], data().held_out, vocabulary())
    one, other = (Fimap(epochs=2, batch_size=64).fit(few, detector("mead")) for _ in range(2))
    for left, right in zip(one.network_.parameters(), other.network_.parameters(), strict=True):
        assert torch.equal(left, right)


def test_constraints() -> None:
    free = fitted().find(anomalies(), Settings(k=20))
    fixed = fitted().find(anomalies(), Settings(k=20, constraints=Constraints(immutable=["Port"])))
    assert fixed.mask.any()
    assert (fixed.counterfactuals[..., 0] == anomalies()[:, None, 0]).all()
    few = fitted().find(anomalies(), Settings(k=20, constraints=Constraints(max_changes=2)))
    for found, most in ((free, 4), (few, 2)):
        assert ((found.counterfactuals != anomalies()[:, None]).sum(dim=2)[found.mask] <= most).all()
    assert few.mask.sum() <= free.mask.sum()


def test_no_records() -> None:
    found = fitted().find(anomalies()[:0], Settings(k=5))
    assert found.counterfactuals.shape == (0, 5, 4)
    assert found.mask.shape == (0, 5)


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError, match="call fit first"):
        Fimap().find(anomalies(), Settings())


def test_nothing_to_learn_from() -> None:
    empty = TrainingData(data().train[:0], data().held_out, vocabulary())
    with pytest.raises(InputError, match="nothing to learn"):
        small().fit(empty, detector("mead"))
