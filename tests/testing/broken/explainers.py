"""Explainers that are wrong in one way each."""

from __future__ import annotations

import copy
import itertools
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN, TrainingData
from carat.explain import CountsExplainer
from carat.explain.naive_bayes import NaiveBayes
from carat.testing import explainer_checks
from carat.training import Run
from tests.testing.broken.case import Case, pause

TURNS = itertools.count()


class Base(CountsExplainer):
    """Right in every way; a broken one changes one thing."""

    name = "broken"


class Nameless(Base):
    name = ""


class Deep(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids)[..., None]


class Double(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids).double()


class Logits(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return self.logits(ids)


class NoEmptyBatch(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids) if len(ids) else torch.zeros(0)


class Upside(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return 1 - super().likelihood(ids)


class Gloomy(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids) * 0.4


class Guessing(Base):
    """Has an opinion on what is not there."""

    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids).nan_to_num(nan=0.5)


class Trusting(Base):
    """Takes what it never met for granted."""

    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids).masked_fill(ids == UNSEEN, 0.9)


class Lonely(Base):
    """Has nothing to say of an entity without company."""

    def likelihood(self, ids: Tensor) -> Tensor:
        alone = (ids >= FIRST).sum(dim=1, keepdim=True) < 2
        return super().likelihood(ids).masked_fill(alone, torch.nan)


class OfBatch(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids) * (1 - len(ids) / 1_000)


class Timid(Base):
    """On the right side of the cut, and never far from it."""

    def likelihood(self, ids: Tensor) -> Tensor:
        return 0.5 + (super().likelihood(ids) - 0.5) / 10


class Meddler(Base):
    def likelihood(self, ids: Tensor) -> Tensor:
        found = super().likelihood(ids)
        ids[:, 0] = MISSING
        return found


class Forgetful(Base):
    """Does not store all that it has learned."""

    shift_: float = 0.0

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        super().fit(data, run)
        self.shift_ = 0.1
        return self

    def _logits(self, ids: Tensor) -> Tensor:
        return super()._logits(ids) + self.shift_


class Random(Forgetful):
    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        super().fit(data, run)
        self.shift_ = 0.1 * next(TURNS)
        return self


class Rooted(Base):
    def to(self, device: torch.device | str) -> Self:
        super().to(device)
        return None  # type: ignore[return-value]


class Unlogged(Base):
    def log_likelihood(self, ids: Tensor) -> Tensor:
        return self.likelihood(ids)


class OneAndOnly(Base):
    def clone(self, **changes: Any) -> Self:
        return self


class Communal(Base):
    """Keeps what it has learned where all of its kind can see it."""

    shared: ClassVar[dict[str, NaiveBayes]] = {}

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        super().fit(data, run)
        self.shared["bayes"] = self.bayes_
        return self

    def likelihood(self, ids: Tensor) -> Tensor:
        self.bayes_ = self.shared["bayes"]
        return super().likelihood(ids)


class Learned(Base):
    def clone(self, **changes: Any) -> Self:
        return copy.copy(self)


class Changeable(Base):
    def clone(self, **changes: Any) -> Self:
        return type(self)(smoothing=self.smoothing * 2)


class Bold(Base):
    """Answers without having learned anything."""

    def likelihood(self, ids: Tensor) -> Tensor:
        return super().likelihood(ids) if hasattr(self, "device_") else torch.zeros(ids.shape)


class Shouting(Base):
    """Keeps the batch it works on where another thread can take it away."""

    batch_: Tensor

    def likelihood(self, ids: Tensor) -> Tensor:
        self.batch_ = ids
        pause()
        return super().likelihood(self.batch_)


def case(check: str, complaint: str, made: type[Base]) -> Case:
    """A broken explainer, made when the test runs."""
    return Case(check, complaint, lambda: explainer_checks(made()), made.__name__)


CASES = [
    case("is_an_explainer", "has no `name`", Nameless),
    case("one_likelihood_per_entity", r"shape \(0, 4\), got \(0, 4, 1\)", Deep),
    case("one_likelihood_per_entity", r"shape \(0, 4\), got \(0,\)", NoEmptyBatch),
    case("one_likelihood_per_entity", "must be float32", Double),
    case("one_likelihood_per_entity", "between 0 and 1", Logits),
    case("finds_the_entity_that_does_not_belong", "in 0 of them", Upside),
    case("flags_nothing_where_all_belongs", "24 entities of normal records", Gloomy),
    case("missing_has_no_likelihood_and_unseen_a_low_one", "must be NaN", Guessing),
    case("missing_has_no_likelihood_and_unseen_a_low_one", "training never met", Trusting),
    case("nearly_everything_missing_is_no_reason_to_fail", "nowhere else", Lonely),
    case("rows_are_independent", "a record alone", OfBatch),
    case("likelihoods_are_calibrated", "calibration error", Timid),
    case("records_are_left_alone", "has changed the ids", Meddler),
    case("likelihoods_survive_saving", "gives other likelihoods", Forgetful),
    case("moves_between_devices", "give the explainer back", Rooted),
    case("log_likelihoods_are_those_of_the_likelihoods", "not the logarithm", Unlogged),
    case("same_seed_same_bits", "same seed", Random),
    case("fit_leaves_what_it_was_given", "likelihoods of the first model", Communal),
    case("fit_leaves_what_it_was_given", "likelihoods of the first model", OneAndOnly),
    case("clone_is_an_unfitted_twin", "learned something already", Learned),
    case("clone_is_an_unfitted_twin", "other arguments", Changeable),
    case("clone_is_an_unfitted_twin", "must refuse to be used", Bold),
    case("threads_do_not_disturb_each_other", "several threads", Shouting),
]
