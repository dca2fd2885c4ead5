"""Methods that are wrong in one way each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.recourse import Constraints, Method, ModelParts, Outcome, Settings
from carat.recourse.methods import instant as right
from carat.testing import method_checks
from carat.testing.asking import MethodFactory
from tests.testing.broken.case import Case, pause

TURNS = itertools.count()
Spoil = Callable[[Method, Tensor, Settings, Tensor | None], Outcome]
Change = Callable[[Tensor, Outcome], Outcome]

__all__ = ["CASES", "backwards", "right"]


class Broken:
    """Asks a method that is right, and spoils the question or the answer."""

    name = "broken"

    def __init__(self, inner: Method, spoil: Spoil) -> None:
        self.inner, self.spoil = inner, spoil

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        return self.spoil(self.inner, ids, settings, score)


def broken(spoil: Spoil) -> MethodFactory:
    return lambda parts: Broken(right(parts), spoil)


def answering(change: Change) -> Spoil:
    """Spoils the answer, whatever the question."""
    return lambda method, ids, settings, score: change(ids, method.find(ids, settings, score))


def short(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, counterfactuals=found.counterfactuals[:, :-1])


def heavy(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, score=found.score.double())


def priced(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, cost=torch.zeros_like(found.score))


def no_number(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, score=torch.full_like(found.score, torch.nan))


def laconic(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, reasons=[])


def scattered(ids: Tensor, found: Outcome) -> Outcome:
    hidden = found.mask.clone()
    hidden[:, 0] = False
    return replace(found, mask=hidden)


def reserved(ids: Tensor, found: Outcome) -> Outcome:
    changed = found.counterfactuals != ids[:, None]
    return replace(found, counterfactuals=torch.where(changed, UNSEEN, found.counterfactuals))


def unchanged(ids: Tensor, found: Outcome) -> Outcome:
    same = found.counterfactuals.clone()
    same[:, 0] = ids
    return replace(found, counterfactuals=same)


def twice(ids: Tensor, found: Outcome) -> Outcome:
    first = found.counterfactuals[:, :1].expand_as(found.counterfactuals)
    return replace(found, counterfactuals=first)


def flattering(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, score=found.score + 1)


def filling(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, counterfactuals=found.counterfactuals.masked_fill(found.counterfactuals == MISSING, FIRST))


def fragile(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    if (ids == UNSEEN).any():
        raise IndexError("no such entity")
    return method.find(ids, settings, score)


def mute(ids: Tensor, found: Outcome) -> Outcome:
    return replace(found, reasons=[None] * len(ids))


def lawless(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    return method.find(ids, replace(settings, constraints=Constraints(), resolved=None), score)


def free(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    """Everything costs nothing."""
    found = method.find(ids, settings, score)
    return found if found.cost is None else replace(found, cost=found.cost * 0)


def dogged(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    if settings.seconds < 1:
        raise TimeoutError("not enough time")
    return method.find(ids, settings, score)


def restless(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    """Another order of equals every time."""
    found = method.find(ids, settings, score)
    return replace(
        found, counterfactuals=found.counterfactuals.roll(next(TURNS), 1), score=found.score.roll(next(TURNS), 1)
    )


def of_its_birth(parts: ModelParts) -> Method:
    """The same as long as it lives, and no longer."""
    turn = next(TURNS) % 2
    return Broken(
        right(parts), answering(lambda ids, found: replace(found, counterfactuals=found.counterfactuals.roll(turn, 1)))
    )


def of_batch(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    """Hurries where there are many."""
    found = method.find(ids, settings, score)
    return replace(found, mask=found.mask & (torch.arange(settings.k) < 100 // max(len(ids), 1) // 5))


def told(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    """Does half the work where it is told the scores."""
    found = method.find(ids, settings, score)
    return found if score is None else replace(found, mask=found.mask & (torch.arange(settings.k) < 2))


def meddling(method: Method, ids: Tensor, settings: Settings, score: Tensor | None) -> Outcome:
    found = method.find(ids.clone(), settings, score)
    ids[:, 0] = MISSING
    return found


class Shouting:
    """Keeps the batch it works on where another thread can take it away."""

    name = "shouting"

    def __init__(self, inner: Method) -> None:
        self.inner = inner
        self.batch: Tensor | None = None

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        self.batch = ids
        pause()
        return self.inner.find(self.batch, settings, score)


def reversed_order(ids: Tensor, found: Outcome) -> Outcome:
    """The worst first, of those that exist."""
    place = torch.where(found.mask, found.mask.sum(dim=1, keepdim=True) - 1 - torch.arange(found.mask.shape[1]), -1)
    place = torch.where(found.mask, place, torch.arange(found.mask.shape[1]))
    rows = torch.arange(len(ids))[:, None]
    return replace(found, counterfactuals=found.counterfactuals[rows, place], score=found.score[rows, place])


backwards = broken(answering(reversed_order))


class Nameless(Shouting):
    name = ""


def made(check: str, complaint: str, factory: MethodFactory, what: str) -> Case:
    """A broken method."""
    return Case(check, complaint, lambda: method_checks(factory, needs=("counts",)), what)


def case(check: str, complaint: str, spoil: Spoil) -> Case:
    """A method that is spoiled."""
    return made(check, complaint, broken(spoil), getattr(spoil, "__name__", ""))


def answer(check: str, complaint: str, change: Change) -> Case:
    """A method whose answers are spoiled."""
    return made(check, complaint, broken(answering(change)), change.__name__)


def nothing(parts: ModelParts) -> Any:
    class Nothing:
        name = "nothing"

    return Nothing()


CASES = [
    made("is_a_method", "has no `name`", lambda parts: Nameless(right(parts)), "nameless"),
    made("is_a_method", "has no method `find`", nothing, "nothing"),
    answer("gives_an_outcome_of_the_right_shape", r"counterfactuals must be .* of shape \(0, 3, 4\)", short),
    answer("gives_an_outcome_of_the_right_shape", "score must be torch.float32", heavy),
    answer("gives_an_outcome_of_the_right_shape", "the cost must be None", priced),
    answer("gives_an_outcome_of_the_right_shape", "no finite score", no_number),
    answer("gives_an_outcome_of_the_right_shape", "1 records must have 1 reasons", laconic),
    answer("those_that_exist_come_first", "comes after one that does not", scattered),
    answer("only_known_entities_are_put_there", "no entity", reserved),
    answer("every_counterfactual_is_another_record", "the very record", unchanged),
    answer("no_counterfactual_comes_twice", "twice", twice),
    answer("scores_are_the_detectors", "not those that the detector gives", flattering),
    answer("missing_entities_stay_missing", "must stay missing", filling),
    case("unseen_entities_are_no_reason_to_fail", "IndexError: no such entity", fragile),
    answer("a_reason_where_nothing_was_found", "no reason is given", mute),
    case("a_reason_where_nothing_was_found", "and yet a counterfactual was found", lawless),
    answer("results_can_be_read", "as text it scores other", flattering),
    case("immutable_domains_stay", "immutable", lawless),
    case("forbidden_entities_are_not_put_there", "forbidden|not among the allowed", lawless),
    case("forbidden_pairs_do_not_meet", "forbidden pair", lawless),
    case("max_changes_is_kept_to", "more domains", lawless),
    case("min_support_is_kept_to", "less than 5 times", lawless),
    case("constraints_hold_together", "one is broken", lawless),
    case("costs_are_told", "the outcome has none", lawless),
    case("costs_are_told", "not the sum over the changes", free),
    case("other_settings_are_no_reason_to_fail", "TimeoutError: not enough time", dogged),
    case("same_again", "the same question gets another answer", restless),
    made("same_again", "made of the same parts gives another", of_its_birth, "of_its_birth"),
    case("rows_are_independent", "alone gets other counterfactuals", of_batch),
    case("a_known_score_makes_no_difference", "told the scores", told),
    case("records_are_left_alone", "has changed the ids", meddling),
    made("threads_do_not_disturb_each_other", "several threads", lambda parts: Shouting(right(parts)), "shouting"),
    answer("the_best_repairs_the_planted_corruption", "mends what was corrupted in", reversed_order),
]
