"""In which order: the score alone, or the blend, with the dial at either end and between."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from carat.errors import InputError
from carat.protocols import Found, Terms
from carat.recourse import Constraints, Costs, Settings
from carat.recourse.ranking import GAP, IMPROVES, POOL, READING, BlendRanking, DetectorRanking, Validity
from tests.support.fitted import instant_of, model_of, twice_corrupted
from tests.support.planted import corrupted

REFERENCE = torch.linspace(-3, 5, 401)


def exact(reference: Tensor, score: float) -> float:
    """log of the share at or below; below all of it, linear in standard deviations."""
    values = reference.double()
    spread = (float(values.std()) if len(values) > 1 else 1.0) or 1.0
    share = max(int((values <= score).sum()), 1) / len(values)
    return math.log(share) + min((score - float(values.min())) / spread, 0.0)


@given(st.integers(0, 100), st.integers(2, 300), st.sampled_from(["normal", "few", "skewed"]))
def test_validity_is_the_formula(seed: int, size: int, kind: str) -> None:
    generator = torch.Generator().manual_seed(seed)
    reference = torch.randn(size, generator=generator)
    reference = {"normal": reference, "few": reference.round(), "skewed": -(reference.square())}[kind].sort().values
    made = Validity(reference)
    spread = float(reference.double().std()) or 1.0
    score = torch.cat([torch.randn(50, generator=generator) * 3, reference[:1] - 9 * spread, reference[-1:] + 5])
    step = 1 / made.per_step
    for given_score, mine in zip(score.tolist(), made(score).tolist(), strict=True):
        # The table has steps: the truth lies between those of the two ends of the step.
        value = max(given_score, float(reference[0]) - Validity.DEPTH * spread)  # so deep it reaches
        low, high = exact(reference, value - 2 * step), exact(reference, value + 2 * step)
        assert low - 1e-3 <= mine <= high + 1e-3


def test_validity_of_strange_numbers() -> None:
    made = Validity(REFERENCE)
    low, nan, high = made(torch.tensor([-torch.inf, torch.nan, torch.inf])).tolist()
    assert low == nan == pytest.approx(exact(REFERENCE, -3 - 10 * float(REFERENCE.std())), abs=0.01)
    assert high == 0.0
    for one in (torch.tensor([2.0]), torch.tensor([2.0] * 5)):
        assert Validity(one)(torch.tensor([1.0, 3.0])).tolist() == pytest.approx([exact(one, 1.0), 0.0], abs=0.01)


def found(score: list[float], weight: list[float], cost: list[float] | None = None, base: float = 0.0) -> Found:
    count = len(score)
    return Found(
        torch.arange(count).view(1, count, 1) + 2,
        torch.tensor([[value > -math.inf for value in score]]),
        torch.tensor([score]),
        torch.tensor([base]),
        torch.tensor([weight]),
        torch.tensor([cost or [0.0] * count]),
    )


BASE = torch.zeros(1, 1, dtype=torch.int64)


def order(ranking: Any, made: Found, k: int = 10) -> list[int]:
    place, counts = ranking.order(BASE, made, k)
    kept: list[int] = place[0, counts[0]].tolist()
    assert place[0, : len(kept)].tolist() == kept, "those that count come first"
    return kept


def test_detector_ranking() -> None:
    made = found([1.0, 3.0, -math.inf, 2.0, 3.0], [0.0] * 5)
    assert order(DetectorRanking(REFERENCE), made) == [1, 4, 3, 0]
    assert order(DetectorRanking(REFERENCE), made, k=2) == [1, 4]


def test_costs_count_in_standard_deviations() -> None:
    spread = float(REFERENCE.double().std())
    made = found([1.0, 1.0 + 1.9 * spread], [0.0, 0.0], cost=[0.0, 2.0])
    assert order(DetectorRanking(REFERENCE), made) == [1, 0]
    assert order(DetectorRanking(REFERENCE, cost_weight=1.0), made) == [0, 1]
    assert order(DetectorRanking(REFERENCE, cost_weight=0.9), made) == [1, 0]


def test_the_dial() -> None:
    """The first is plausible, the second valid; both improve on the record."""
    made = found([0.5, 4.5], [-1.0, -3.0], base=-1.0)
    assert order(BlendRanking(REFERENCE, None, prefer=0.0), made) == [0, 1]
    assert order(BlendRanking(REFERENCE, None, prefer=1.0), made) == [1, 0]
    gain = exact(REFERENCE, 4.5) - exact(REFERENCE, 0.5)
    even = 2.0 / (2.0 + gain)
    assert order(BlendRanking(REFERENCE, None, prefer=even - 0.02), made) == [0, 1]
    assert order(BlendRanking(REFERENCE, None, prefer=even + 0.02), made) == [1, 0]


def test_wholly_valid_still_prefers_the_plausible_among_equals() -> None:
    made = found([6.0, 6.0, 7.0], [-3.0, -1.0, -2.0])
    assert order(BlendRanking(REFERENCE, None, prefer=1.0), made) == [1, 2, 0]


def test_improving_on_the_record_weighs() -> None:
    below, above = 0.99, 1.01
    made = found([below, above], [0.0, -IMPROVES + 0.1], base=1.0)
    assert order(BlendRanking(REFERENCE, None), made) == [1, 0]
    made = found([below, above], [0.0, -IMPROVES - 0.1], base=1.0)
    assert order(BlendRanking(REFERENCE, None), made) == [0, 1]


def test_neither_valid_nor_plausible_does_not_count() -> None:
    far = -2 * (GAP + 1)
    made = found([2.0, 0.5, 2.0, 0.5], [0.0, far, far, 0.0], base=1.0)
    assert order(BlendRanking(REFERENCE, None), made) == [0, 3, 2]
    assert order(BlendRanking(REFERENCE, None, prefer=0.0), made) == [0, 3, 1, 2]


def test_costs_change_the_order_of_the_blend() -> None:
    made = found([2.0, 2.0], [0.0, -1.0], cost=[3.0, 1.0])
    assert order(BlendRanking(REFERENCE, None), made) == [0, 1]
    assert order(BlendRanking(REFERENCE, None, cost_weight=1.0), made) == [1, 0]
    assert order(BlendRanking(REFERENCE, None, cost_weight=0.4), made) == [0, 1]


class Reader:
    """Likes some records better than others."""

    def __init__(self, likes: dict[int, float]) -> None:
        self.likes, self.asked = likes, 0

    def read(self, base: Tensor, records: Tensor) -> Tensor:
        self.asked = records.shape[1]
        return torch.tensor([[self.likes.get(int(each), 0.0) for each in row] for row in records[..., 0]])


def test_the_explainer_reads_a_shortlist() -> None:
    made = found([2.0] * 5, [0.0, -1.0, -2.0, -3.0, -4.0])
    reader = Reader({2: -1.0, 6: 100.0})  # entities are 2, 3, 4, …
    assert READING == 2.0
    assert order(BlendRanking(REFERENCE, {"reading": reader}, shortlist=3), made) == [1, 0, 2, 3, 4]
    assert reader.asked == 3
    assert order(BlendRanking(REFERENCE, {"reading": reader}, shortlist=5), made)[0] == 4, (
        "once it is read, it is first"
    )
    assert BlendRanking(REFERENCE, {"reading": reader}, shortlist=60).pool(7) == 60
    assert BlendRanking(REFERENCE, {"reading": reader}, shortlist=3).pool(7) == POOL
    assert BlendRanking(REFERENCE, {"reading": reader}, shortlist=60).pool(70) == 70


def test_what_does_not_exist_is_not_put_forward_by_the_reader() -> None:
    made = found([2.0, -math.inf, 2.0], [0.0, -math.inf, -1.0])
    assert order(BlendRanking(REFERENCE, {"reading": Reader({3: 1e6})}), made) == [0, 2]
    idle = found([2.0, 0.5, 2.0], [0.0, -2 * (GAP + 1), -1.0], base=1.0)
    assert order(BlendRanking(REFERENCE, {"reading": Reader({3: 1e6})}), idle) == [0, 2]


def test_the_search_goes_by_the_same_blend() -> None:
    """`objective` and `order` agree where the explainer does not read."""
    generator = torch.Generator().manual_seed(0)
    weight = Terms(torch.zeros(1), torch.randn((1, 1, 30), generator=generator))
    score = Terms(torch.tensor([0.5]), 2 * torch.randn((1, 1, 30), generator=generator))
    cost = torch.rand((1, 1, 30), generator=generator)
    base_score = torch.tensor([0.3])
    for prefer in (0.0, 0.5, 1.0):
        ranking = BlendRanking(REFERENCE, None, prefer=prefer, cost_weight=0.7)
        terms, finish = ranking.objective(base_score, score, weight, cost)
        assert finish is not None
        value = finish(slice(0, 1), [term.constant[:, None] + term.unary[:, 0] for term in terms])[0]
        expected = []
        for w, s, c in zip(weight.unary[0, 0].tolist(), score.unary[0, 0].tolist(), cost[0, 0].tolist(), strict=True):
            valid = exact(REFERENCE, s + 0.5) + IMPROVES * (s + 0.5 > 0.3)
            expected.append(prefer * valid + max(1 - prefer, 1e-6) * (w - 0.7 * c))
        assert value.tolist() == pytest.approx(expected, abs=0.02)
        alone, no_finish = ranking.objective(base_score, None, weight, cost)
        assert no_finish is None
        torch.testing.assert_close(alone[0].unary, weight.unary - 0.7 * cost)


@pytest.mark.parametrize("prefer", [-0.1, 1.1, math.nan])
def test_the_dial_has_ends(prefer: float) -> None:
    with pytest.raises(InputError, match="`prefer` must lie between"):
        BlendRanking(REFERENCE, None, prefer=prefer)


def test_on_a_model_the_dial_trades_plausible_for_valid() -> None:
    model = instant_of("ape")
    ids = model.vocabulary.encode([*corrupted()[0], *twice_corrupted()])
    means = []
    for prefer in (0.0, 0.5, 1.0):
        outcome = model.method("instant").find(ids, Settings(k=5, prefer=prefer))
        means.append(float(outcome.score[:, 0].mean()))
    assert means[0] < means[2]
    assert means[0] <= means[1] <= means[2]


@pytest.mark.parametrize("method", ["carat", "carat-plus"])
def test_on_a_model_costs_change_the_order(method: str) -> None:
    model = model_of("ape")
    ids = model.vocabulary.encode(corrupted()[0][1:2])  # Good is wrong
    plain = model.method(method).find(ids, Settings(k=10))
    best = int(plain.counterfactuals[0, 0, 1])
    text = model.vocabulary.domains[1].entities[best - 2].as_py()
    dear = Constraints(cost=Costs(entities={"Good": {text: 1000.0}}))
    outcome = model.method(method).find(ids, Settings(k=10, constraints=dear))
    assert int(outcome.counterfactuals[0, 0, 1]) != best
    assert outcome.cost is not None
    assert float(outcome.cost[0, 0]) == 0.0
    free = Constraints(cost=Costs(entities={"Good": {text: 1000.0}}, weight=0.0))
    outcome = model.method(method).find(ids, Settings(k=10, constraints=free))
    assert int(outcome.counterfactuals[0, 0, 1]) == best
    assert outcome.cost is not None
    assert float(outcome.cost[0, 0]) == 1000.0
