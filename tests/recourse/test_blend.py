"""Weights of the blend, learned where the truth is known."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pytest
import torch
from torch import Tensor

import carat
from carat.data import TrainingData, corrupt
from carat.explain import Judge
from carat.recourse import Guided, Settings
from carat.recourse.blend import FEWEST, _conditional_logit, learn_blend, with_truth
from carat.recourse.candidates import DenseSource, UnionSource
from carat.recourse.ranking import Blend, BlendRanking
from carat.testing.parts import judging, training_data
from tests.support.planted import planted_table


def lists(records: int, length: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Opinions of lists, [n, C, 2]: the first likes the right one, the second something else; and where it stands."""
    generator = torch.Generator().manual_seed(seed)
    told = torch.randn((records, length, 2), generator=generator)
    place = torch.randint(length, (records,), generator=generator)
    told[torch.arange(records), place, 0] += 3
    return told, place


def logit(told: Tensor, place: Tensor, begin: Tensor) -> Tensor:
    there = torch.ones(told.shape[:2], dtype=torch.bool)
    return _conditional_logit(told, torch.zeros(told.shape[:2]), there, place, begin)


def test_whoever_is_right_counts_more() -> None:
    told, place = lists(400, 20)
    begin = torch.tensor([0.5, 0.5])
    first, second = logit(told, place, begin).tolist()
    assert first > 1.5
    assert second < 0.25 * first
    swapped = logit(told.flip(2), place, begin).tolist()
    assert swapped == pytest.approx([second, first], rel=1e-3)


def test_never_negative_even_where_the_opposite_is_right() -> None:
    told, place = lists(400, 20)
    told[..., 0] = -told[..., 0]
    found = logit(told, place, torch.tensor([0.5, 0.5]))
    assert (found > 0).all()
    assert float(found[0]) < 0.1


def test_little_is_learned_from_little() -> None:
    begin = torch.tensor([0.5, 0.5])
    few, many = (logit(*lists(records, 20), begin) for records in (2, 400))
    assert float((few / begin).log().abs().max()) < float((many / begin).log().abs().max())
    none = logit(torch.empty((0, 5, 2)), torch.empty(0, dtype=torch.int64), begin)
    torch.testing.assert_close(none.float(), begin)


def test_the_truth_is_found_where_it_stands() -> None:
    listed = torch.tensor([[[2, 3], [4, 5]], [[2, 3], [4, 5]], [[2, 3], [4, 5]]])
    mask = torch.tensor([[True, True], [True, False], [True, True]])
    versions, place = with_truth(listed, mask, torch.tensor([[4, 5], [4, 5], [9, 9]]))
    assert place.tolist() == [1, 2, 2], "what is only padding was not listed"
    assert versions[torch.arange(3), place].tolist() == [[4, 5], [4, 5], [9, 9]]


class Backwards(DenseSource):
    """Says the opposite of another source."""

    def __init__(self, other: DenseSource) -> None:
        self.other = other

    def log_probability(self, ids: Tensor, targets: Tensor):  # type: ignore[no-untyped-def]
        for domain, rows, log in self.other.log_probability(ids, targets):
            yield domain, rows, (-log).log_softmax(dim=1)


def planted_method() -> Guided:
    """`instant` of the planted table with a second source that is always wrong, and a detector that knows nothing.

    The detector's own word would settle most of it.
    """
    method = judging().method("instant")
    assert isinstance(method, Guided)
    assert isinstance(method.source, UnionSource)
    memory = method.source.sources["memory"]
    assert isinstance(memory, DenseSource)
    begin = Blend({"memory": 0.5, "backwards": 0.5})
    return replace(
        method,
        detector=_Ignorant(),
        source=UnionSource({"memory": memory, "backwards": Backwards(memory)}, weights=begin.sources),
        make_ranking=lambda prefer, cost: BlendRanking(torch.zeros(2), blend=begin, prefer=prefer),
    )


def test_of_two_sources_the_right_one_is_favoured() -> None:
    data = training_data()
    assert len(data.first_half) >= FEWEST
    found = learn_blend(planted_method(), data)
    assert found.sources["memory"] > 2 * found.sources["backwards"] > 0
    assert found.learned_from >= FEWEST
    assert found == learn_blend(planted_method(), data), "the same every time"


def test_few_records_leave_the_weights_as_they_began() -> None:
    data = training_data()
    few = TrainingData(data.train, data.held_out[: 2 * FEWEST - 10], data.vocabulary)
    found = learn_blend(planted_method(), few)
    assert found == Blend({"memory": 0.5, "backwards": 0.5})
    assert found.learned_from == 0


def test_weights_are_stored_with_the_model() -> None:
    blend = judging().blends["instant"]
    assert blend.learned_from >= FEWEST
    assert all(weight > 0 for weight in (*blend.sources.values(), *blend.opinions.values()))
    assert Blend(**blend.to_json()) == blend
    two = carat.fit(planted_table(600).select(["Port", "Good"]), profile="instant", device="cpu")
    assert set(two.blends) == {"instant"}


def test_the_ends_of_the_dial() -> None:
    """Wholly valid goes by the detector; wholly plausible does not ask it."""
    model, data = judging(), training_data()
    made = corrupt(data.second_half, data.vocabulary, data.pairs, changes=(1,), seed=5)
    ids = made.ids.long()[:40]
    method = model.method("instant")
    valid = method.find(ids, Settings(k=5, prefer=1.0))
    plausible = method.find(ids, Settings(k=5, prefer=0.0))
    assert isinstance(method, Guided)
    ranking = method.make_ranking(1.0, 0.0)
    assert isinstance(ranking, BlendRanking)
    side = ranking.valid(valid.score, model.detector.score(ids))
    both = valid.mask[:, 1:] & valid.mask[:, :-1]
    assert (side[:, :-1] >= side[:, 1:] - 1e-3)[both].all(), "by the detector's word"
    inverted = replace(method, detector=_Inverted(model.detector))
    same = inverted.find(ids, Settings(k=5, prefer=0.0))
    assert torch.equal(same.counterfactuals, plausible.counterfactuals), "the detector is not heard"
    other = inverted.find(ids, Settings(k=5, prefer=1.0))
    assert not torch.equal(other.counterfactuals, valid.counterfactuals)


class _Ignorant:
    """To it, everything is the same."""

    def score(self, ids: Tensor) -> Tensor:
        return torch.zeros(len(ids))


class _Inverted:
    """Finds normal what another detector finds strange."""

    def __init__(self, detector: object) -> None:
        self.detector = detector

    def score(self, ids: Tensor) -> Tensor:
        return -self.detector.score(ids)  # type: ignore[attr-defined,no-any-return]

    def terms(self, *arguments: Tensor) -> object:
        terms = self.detector.terms(*arguments)  # type: ignore[attr-defined]
        pair = terms.pair
        moved = None if pair is None else (lambda i, j, part: -pair(i, j, part))
        return replace(terms, constant=-terms.constant, unary=-terms.unary, pair=moved)


def test_a_judge_without_rows_to_learn_from_still_answers() -> None:
    tiny = carat.fit(pa.table({"A": list("ab") * 20, "B": list("xy") * 20}), profile="instant", device="cpu")
    assert isinstance(tiny.explainer, Judge)
    assert tiny.blends["instant"].learned_from == 0
    assert len(tiny.recourse({"A": "a", "B": "y"}, all=True, k=2)) == 1
