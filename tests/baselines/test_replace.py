"""Replace-m against brute force."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from carat.baselines import Replace, replace
from carat.data import FIRST, MISSING, UNSEEN
from carat.errors import InputError
from carat.protocols import Detector, Terms
from carat.recourse.constraints import Constraints, Costs
from carat.recourse.outcome import Outcome
from carat.recourse.settings import Settings
from tests.support.parts import CARRIER, DETECTORS, anomalies, brute_force, data, detector, repaired, vocabulary


def method(name: str = "mead", m: int = 1) -> Replace:
    return Replace(vocabulary=vocabulary(), pairs=data().pairs, detector=detector(name), m=m)


def strange() -> Tensor:
    """Two anomalies, one with a missing entity, one with an unseen one."""
    ids = anomalies()[:4].clone()
    ids[2, 3], ids[3, 0] = MISSING, UNSEEN
    return ids


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("m", [1, 2])
def test_is_brute_force(name: str, m: int) -> None:
    ids = strange()
    found = method(name, m).find(ids, Settings(k=20, budget=10_000))
    assert found.exhausted.all()
    assert found.mask.all()
    for row in range(len(ids)):
        records, score = brute_force(ids[row], m, detector(name))
        best = score.sort(descending=True, stable=True)
        assert torch.allclose(found.score[row], best.values[:20], rtol=1e-4, atol=1e-5)
        everything = {tuple(record) for record in records.tolist()}
        assert all(tuple(record) in everything for record in found.counterfactuals[row].tolist())
        assert len({tuple(record) for record in found.counterfactuals[row].tolist()}) == 20
        if name == "callable":  # whole numbers: among equals the first domains and entities win
            assert torch.equal(found.counterfactuals[row], records[best.indices[:20]])


@pytest.mark.parametrize("m", [1, 2])
def test_blocks_change_nothing(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = strange()
    whole = method(m=m).find(ids, Settings(k=15))
    monkeypatch.setattr(replace, "SIDE", {1: (2, 5), 2: (2, 5)})
    monkeypatch.setattr(replace, "CELLS", 100)
    blocks = method(m=m).find(ids, Settings(k=15))
    assert torch.allclose(whole.score, blocks.score, rtol=1e-4)
    assert torch.equal(whole.mask, blocks.mask)


class Flat:
    """A grid detector to which all records are the same."""

    def score(self, ids: Tensor) -> Tensor:
        return torch.zeros(len(ids))

    def terms(self, ids: Tensor, domains: Tensor, entities: Tensor) -> Terms:
        return Terms(torch.zeros(len(ids)), torch.zeros(entities.shape))


@pytest.mark.parametrize("m", [1, 2])
def test_ties_go_to_the_first(m: int) -> None:
    ids = strange()
    flat: Detector = Flat()
    found = Replace(vocabulary=vocabulary(), pairs=data().pairs, detector=flat, m=m).find(ids, Settings(k=30))
    for row in range(len(ids)):
        records, _ = brute_force(ids[row], m, flat)
        assert torch.equal(found.counterfactuals[row], records[:30])


@pytest.mark.parametrize("name", DETECTORS)
def test_finds_the_planted_repair(name: str) -> None:
    found = method(name).find(anomalies(), Settings(k=3))
    assert all(repaired(found.counterfactuals[:, 0]))


def test_budget_draws_and_repeats() -> None:
    ids, settings = anomalies(), Settings(k=10, budget=40)
    first, again = (method("callable", 2).find(ids, settings) for _ in range(2))
    alone = method("callable", 2).find(ids[3:4], settings)
    assert not first.exhausted.any()
    assert torch.equal(first.counterfactuals, again.counterfactuals)
    assert torch.equal(first.counterfactuals[3:4], alone.counterfactuals)
    changed = (first.counterfactuals != ids[:, None]).sum(dim=2)
    assert (changed[first.mask] == 2).all()


def check(found: Outcome, ids: Tensor) -> None:
    assert not ((found.counterfactuals == ids[:, None]).all(dim=2) & found.mask).any()
    assert (found.score[~found.mask] == -torch.inf).all()
    assert found.likelihood.isnan().all()


@pytest.mark.parametrize("name", ["mead", "callable"])
def test_fewer_than_k(name: str) -> None:
    ids = anomalies()[:2].clone()
    ids[0], ids[1, :3] = MISSING, MISSING
    found = method(name).find(ids, Settings(k=100))
    assert found.counterfactuals.shape == (2, 100, 4)
    assert found.mask.sum(dim=1).tolist() == [0, int(vocabulary().sizes[3]) - 3]
    assert found.reasons == ["it has no value that could change", None]
    check(found, ids)


@pytest.mark.parametrize("name", ["mead", "callable"])
@pytest.mark.parametrize("m", [1, 2])
def test_no_records(name: str, m: int) -> None:
    found = method(name, m).find(anomalies()[:0], Settings(k=5))
    assert found.counterfactuals.shape == (0, 5, 4)
    assert found.mask.shape == found.score.shape == (0, 5)


@pytest.mark.parametrize("name", ["mead", "callable"])
@pytest.mark.parametrize("m", [1, 2])
def test_constraints(name: str, m: int) -> None:
    ids = anomalies()
    limits = Constraints(
        immutable=["Port"],
        forbidden={"Good": ["Good-0a"]},
        forbidden_pairs=[{"Carrier": "Carrier-0a", "Buyer": "Buyer-0b"}],
        min_support=1,
        cost=Costs(change=2.0),
    )
    found = method(name, m).find(ids, Settings(k=400, constraints=limits, budget=10_000))
    changed = (found.counterfactuals != ids[:, None]) & found.mask[..., None]
    text = vocabulary().decode(found.counterfactuals[found.mask])
    assert found.mask.any()
    assert not changed[..., 0].any()
    assert not (changed[..., 1] & (found.counterfactuals[..., 1] == _id(1, "Good-0a"))).any()
    pairs = zip(text["Carrier"].to_pylist(), text["Buyer"].to_pylist(), strict=True)
    assert ("Carrier-0a", "Buyer-0b") not in pairs
    rows = found.counterfactuals + vocabulary().offsets
    for old in range(4):
        for new in range(4):
            if old != new:
                together = data().pairs.count(rows[..., old], rows[..., new])
                assert (together[changed[..., new] & ~changed[..., old] & found.mask] > 0).all()
    assert found.cost is not None
    assert (found.cost[found.mask] == 2.0 * m).all()


def _id(domain: int, text: str) -> int:
    return int(vocabulary().domains[domain].entities.to_pylist().index(text)) + FIRST


def test_max_changes_below_m() -> None:
    found = method(m=2).find(anomalies(), Settings(k=3, constraints=Constraints(max_changes=1)))
    assert not found.mask.any()
    assert found.reasons[0] is not None
    assert "max_changes" in found.reasons[0]


def test_time_is_up() -> None:
    found = method(m=2).find(anomalies(), Settings(k=3, seconds=1e-9))
    assert not found.exhausted.any()
    assert found.reasons[0] is not None


def test_names() -> None:
    assert [method(m=m).name for m in (1, 2)] == ["replace-m", "replace-2"]
    with pytest.raises(InputError, match="m of Replace must be 1 or 2, got 3"):
        method(m=3)


def test_carrier_is_what_changes() -> None:
    changed = method().find(anomalies(), Settings(k=1)).counterfactuals[:, 0] != anomalies()
    assert changed[:, CARRIER].all()
