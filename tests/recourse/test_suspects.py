"""Which domains to change: by what the record looks like once they have been."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

import carat
from carat.data import MISSING
from carat.explain import targets
from carat.recourse import Guided, Settings
from carat.recourse.blend import learn_sets
from carat.recourse.ranking import Blend
from carat.recourse.suspects import BEGIN, TOLD, Suspects, Told, Weighed, learned
from carat.testing.parts import judging, training_data
from tests.support.planted import DOMAINS, corrupted, planted_table, twice_corrupted

WEIGHTS = {"likely": 1.0, "rest": 2.0, "new": 1.0, "size": 1.0, "several": 0.0}


class Knows:
    """An explainer that finds every 5 and 6 right and doubts the rest."""

    def __init__(self, doubt: float = 0.3) -> None:
        self.doubt = doubt
        self.asked = 0

    def likelihood(self, ids: Tensor) -> Tensor:
        self.asked += len(ids)
        return torch.where((ids == 5) | (ids == 6), 0.99, self.doubt).masked_fill(ids == MISSING, torch.nan)


def put_right(ids: Tensor):  # type: ignore[no-untyped-def]
    """A search that puts a 6 wherever it is told to change."""

    def first_fix(rows: Tensor, domains: Tensor) -> tuple[Tensor, Tensor]:
        return torch.where(domains, 6, ids[rows]), torch.ones(len(rows), dtype=torch.bool)

    return first_fix


def chosen(ids: Tensor, likelihood: Tensor, weights: dict[str, float] = WEIGHTS) -> list[list[bool]]:
    found = Suspects(Knows(), weights).choose(ids, likelihood, targets(likelihood), put_right(ids))
    return found.tolist()


def test_the_set_after_which_the_rest_looks_right() -> None:
    ids = torch.tensor([[5, 7, 5]])
    # The judge doubts the first entity most, but it is the second that is wrong.
    likelihood = torch.tensor([[0.4, 0.45, 0.9]])
    assert chosen(ids, likelihood) == [[False, True, False]]
    assert chosen(ids, likelihood, BEGIN) == [[True, True, False]], "as likely as the judge says"
    # Nothing else is flagged, though two are wrong.
    assert chosen(torch.tensor([[7, 7, 5]]), torch.tensor([[0.1, 0.55, 0.9]])) == [[True, True, False]]


def test_what_is_sure_is_not_tried_again() -> None:
    ids = torch.tensor([[5, 7, 5], [7, 5, 5]])
    likelihood = torch.tensor([[0.999, 0.001, 0.999], [0.001, 0.999, 0.999]])
    judge = Knows()
    found = Suspects(judge, WEIGHTS).choose(ids, likelihood, targets(likelihood), put_right(ids))
    assert torch.equal(found, targets(likelihood))
    assert judge.asked == 0
    none = torch.empty((0, 3))
    empty = Suspects(judge, WEIGHTS).choose(none.long(), none, targets(none), put_right(none.long()))
    assert empty.shape == (0, 3)


def test_what_is_missing_or_fixed_by_the_user_is_in_no_set() -> None:
    ids = torch.tensor([[MISSING, 7, 5]])
    likelihood = torch.tensor([[torch.nan, 0.6, torch.nan]])
    found = Suspects(Knows(), WEIGHTS).weigh(ids, likelihood, targets(likelihood), put_right(ids))
    assert not found.sets[..., [0, 2]].any()
    nothing = torch.full((1, 3), torch.nan)
    assert not Suspects(Knows(), WEIGHTS).choose(ids, nothing, targets(nothing), put_right(ids)).any()


def test_what_can_no_longer_win_is_not_tried_and_the_choice_is_the_same() -> None:
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(3, 9, (200, 4), generator=generator)
    likelihood = torch.rand(ids.shape, generator=generator)
    tried = []

    def first_fix(rows: Tensor, domains: Tensor) -> tuple[Tensor, Tensor]:
        tried.append(len(rows))
        # Where it may only change the last domain, there is no fix.
        return torch.where(domains, 6, ids[rows]), domains[:, :3].any(dim=1)

    usual = targets(likelihood)
    suspects = Suspects(Knows(), WEIGHTS)
    every = suspects.weigh(ids, likelihood, usual, first_fix)
    value = every.told @ torch.tensor([WEIGHTS[name] for name in TOLD], dtype=torch.float64)
    best = value.masked_fill(~every.there, -torch.inf).argmax(dim=1)
    expected = torch.where(every.there[:, :1], every.sets[torch.arange(len(ids)), best], usual)
    whole = sum(tried)
    tried.clear()
    assert torch.equal(suspects.choose(ids, likelihood, usual, first_fix), expected)
    assert not torch.equal(expected, usual)
    few = sum(tried)
    assert few < 0.7 * whole
    # A weight below 0 sets no limit to what a fix may tell.
    odd = Suspects(Knows(), {**WEIGHTS, "rest": -0.5})
    tried.clear()
    odd.choose(ids, likelihood, usual, first_fix)
    assert sum(tried) > few


def test_where_the_usual_set_has_no_fix_it_stays() -> None:
    """The reason for that is the answer; another column is not changed instead."""
    ids, likelihood = torch.tensor([[5, 7, 5]]), torch.tensor([[0.4, 0.6, 0.9]])

    def first_fix(rows: Tensor, domains: Tensor) -> tuple[Tensor, Tensor]:
        return torch.where(domains, 6, ids[rows]), ~domains[:, 0]

    usual = targets(likelihood)
    assert torch.equal(Suspects(Knows(), WEIGHTS).choose(ids, likelihood, usual, first_fix), usual)


def test_learned_from_sets_that_were_right() -> None:
    """The record after the fix tells; how likely the set was before does not."""
    generator = torch.Generator().manual_seed(0)
    records = 300
    sets = torch.eye(4, dtype=torch.bool).expand(records, 4, 4)
    place = torch.randint(4, (records,), generator=generator)
    wrong = torch.eye(4, dtype=torch.bool)[place]
    told = torch.randn((records, 4, len(TOLD)), generator=generator, dtype=torch.float64)
    told[torch.arange(records), place, TOLD.index("rest")] += 3
    weights = learned(Weighed(sets, told, torch.ones((records, 4), dtype=torch.bool)), wrong)
    assert weights["rest"] > 1
    assert abs(weights["likely"]) < 0.5
    few = learned(Weighed(sets[:0], told[:0], torch.ones((0, 4), dtype=torch.bool)), wrong[:0])
    assert few == pytest.approx(BEGIN)


def test_a_fitted_model_chooses_no_worse(tmp_path: Path) -> None:
    model = carat.fit(planted_table(2_400), profile="instant", device="cpu")
    method = model.method("instant")
    assert isinstance(method, Guided)
    assert method.suspects is not None
    assert set(model.blends["instant"].sets) == set(TOLD)
    records, where = corrupted()
    ids = model.vocabulary.encode([*records, *twice_corrupted()]).long()
    once = torch.tensor([[name == domain for name in DOMAINS] for domain in where])
    wrong = torch.cat([once, torch.tensor([[False, True, False, True]] * 6 + [[True, False, True, False]] * 6)])

    def right(by: Guided) -> float:
        found = by.find(ids, Settings(k=1))
        return float(((found.counterfactuals[:, 0] != ids) == wrong).all(dim=1).double().mean())

    assert right(method) >= max(0.9, right(replace(method, suspects=None)))
    model.save(tmp_path / "m")
    loaded = carat.load(tmp_path / "m")
    assert loaded.identity == model.identity
    assert loaded.blends["instant"].sets == model.blends["instant"].sets
    one, two = (each.method("instant").find(ids, Settings(k=3)) for each in (model, loaded))
    assert torch.equal(one.counterfactuals, two.counterfactuals)
    halves = [method.find(part, Settings(k=3)).counterfactuals for part in ids.split(7)]
    assert torch.equal(torch.cat(halves), one.counterfactuals), "whatever the batch"
    assert method.suspects is not None
    told = method.explainer.likelihood(ids)
    second = method.suspects.choose(
        ids,
        told,
        targets(told),
        lambda rows, domains: method.first_fix(ids[rows], domains, Settings(), method.detector.score(ids[rows])),
    )
    again = replace(method, explainer=Told(second), suspects=None).find(ids, Settings(k=3))
    assert torch.equal(one.counterfactuals, again.counterfactuals), "the search that chose is the one that counts"
    assert torch.equal(one.mask, again.mask)
    limited = method.find(ids, Settings(k=1, constraints=carat.Constraints(immutable=("Port",), max_changes=1)))
    changed = (limited.counterfactuals[:, 0] != ids) & limited.mask[:, :1]
    assert not changed[:, 0].any()
    assert int(changed.sum(dim=1).max()) == 1


def test_models_without_weights_answer_as_before() -> None:
    model = judging()
    old = {"sources": {"memory": 0.8, "counts": 0.2}, "opinions": {"together": 0.5, "witnesses": 0.1}}
    before = Blend(**old, learned_from=400)
    assert before.to_json() == {**old, "learned_from": 400}
    method = replace(model, blends={"instant": before}).method("instant")
    assert isinstance(method, Guided)
    assert method.suspects is None
    assert learn_sets(method, replace(training_data(), held_out=training_data().held_out[:20])) == {}
    told = Told(torch.tensor([[True, False]])).likelihood(torch.tensor([[2, 2]]))
    assert told.tolist() == [[0.0, 1.0]]
