"""Xformer-R: the domains of Algorithm 1, entities at random."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.baselines import XformerR
from carat.recourse import Constraints, Settings
from tests.support.parts import data, detector, vocabulary

WRONG = torch.tensor([[False, False, True, False], [True, True, False, False]])


class Says:
    """An explainer that says what it is told to."""

    def likelihood(self, ids: Tensor) -> Tensor:
        return torch.where(WRONG[: len(ids)], 0.1, 0.9).masked_fill(ids == 0, torch.nan)


def method(seed: int = 0) -> XformerR:
    return XformerR(vocabulary=vocabulary(), pairs=data().pairs, detector=detector("mead"), explainer=Says(), seed=seed)


def records() -> Tensor:
    return data().held_out[:2].long()


def test_changes_exactly_the_chosen_domains() -> None:
    found = method().find(records(), Settings(k=30))
    changed = found.counterfactuals != records()[:, None]
    assert (changed == WRONG[:, None])[found.mask].all()
    torch.testing.assert_close(found.score[found.mask], detector("mead").score(found.counterfactuals[found.mask]))


def test_draws_every_other_entity_and_none_twice() -> None:
    """The third domain has so many entities; a long list holds all of them but the present one."""
    found = method().find(records()[:1], Settings(k=400))
    drawn = found.counterfactuals[0, found.mask[0], 2]
    assert sorted(drawn.tolist()) == [e for e in range(2, int(vocabulary().sizes[2])) if e != int(records()[0, 2])]


def test_the_detector_has_no_say_in_the_order() -> None:
    score = method().find(records(), Settings(k=20)).score[1]
    assert not torch.equal(score, score.sort(descending=True).values)


def test_follows_the_seed() -> None:
    first, again, other = (method(seed).find(records(), Settings(k=10)).counterfactuals for seed in (0, 0, 1))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_missing_stays_missing() -> None:
    ids = records()
    ids[0, 2] = 0
    found = method().find(ids, Settings(k=5))
    assert (found.counterfactuals[0, :, 2] == 0).all()


def test_constraints() -> None:
    names = vocabulary().names
    kept = Constraints(immutable=(names[0],), cost=None)
    found = method().find(records(), Settings(k=30, constraints=kept))
    assert (found.counterfactuals[1, :, 0] == records()[1, 0]).all()
    assert found.mask[1].any()
    nothing = method().find(records(), Settings(k=30, constraints=Constraints(min_support=10_000)))
    assert not nothing.mask.any()
