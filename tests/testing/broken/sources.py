"""Sources that are wrong in one way each."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.protocols import Candidates, CandidateSource
from carat.recourse import ModelParts
from carat.recourse.candidates import counts as right
from carat.testing import source_checks
from tests.testing.broken.case import Case, pause

TURNS = itertools.count()
Spoil = Callable[[CandidateSource, Tensor, Tensor, int], Candidates]

__all__ = ["CASES", "right", "shouting"]


class Broken:
    """Asks a source that is right, and spoils the question or the answer."""

    def __init__(self, inner: CandidateSource, spoil: Spoil) -> None:
        self.inner, self.spoil = inner, spoil

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        return self.spoil(self.inner, ids, targets, limit)


def answering(change: Callable[[Candidates], Candidates]) -> Spoil:
    """Spoils the answer, whatever the question."""
    return lambda source, ids, targets, limit: change(source.propose(ids, targets, limit))


def flat(found: Candidates) -> Candidates:
    return Candidates(found.ids[..., :1].squeeze(2), found.log_weight[..., :1].squeeze(2))


def narrow(found: Candidates) -> Candidates:
    return replace(found, ids=found.ids.int())


def heavy(found: Candidates) -> Candidates:
    return replace(found, log_weight=found.log_weight.double())


def everywhere(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    return source.propose(ids, torch.ones_like(targets), limit)


def for_some(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    return source.propose(ids, targets & (torch.arange(len(ids)) % 2 == 0)[:, None], limit)


def reserved(found: Candidates) -> Candidates:
    return replace(found, ids=torch.where(found.ids == FIRST, UNSEEN, found.ids))


def beyond(found: Candidates) -> Candidates:
    return replace(found, ids=torch.where(found.ids == FIRST, 1_000, found.ids))


def twice(found: Candidates) -> Candidates:
    return Candidates(torch.cat([found.ids] * 2, dim=2), torch.cat([found.log_weight] * 2, dim=2))


def no_number(found: Candidates) -> Candidates:
    return replace(found, log_weight=found.log_weight.masked_fill(found.ids == FIRST, torch.nan))


def padded(found: Candidates) -> Candidates:
    return replace(found, log_weight=found.log_weight.masked_fill(~found.mask, 0.0))


def fickle(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    """The best where one is asked for, the worst of all where three are."""
    found = source.propose(ids, targets, 10_000 if limit == 3 else limit)
    return Candidates(found.ids.flip(2)[..., :limit], found.log_weight.flip(2)[..., :limit])


def credulous(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    """Adds weight to what stands there."""
    found = source.propose(ids, targets, limit)
    return replace(found, log_weight=found.log_weight + (found.ids == ids[..., None]) * 1.0)


def upside(found: Candidates) -> Candidates:
    return replace(found, log_weight=torch.where(found.mask, -found.log_weight, -torch.inf))


def silent(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    """Nothing to say where it knows nothing."""
    return source.propose(ids, targets & (ids >= FIRST).any(dim=1, keepdim=True), limit)


def of_batch(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    found = source.propose(ids, targets, limit)
    return replace(found, log_weight=found.log_weight - len(ids) / 100)


def restless(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    found = source.propose(ids, targets, limit)
    return replace(found, log_weight=found.log_weight - next(TURNS))


def meddling(source: CandidateSource, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
    found = source.propose(ids, targets, limit)
    ids.masked_fill_(targets, MISSING)
    return found


class Shouting:
    """Keeps the batch it works on where another thread can take it away."""

    def __init__(self, inner: CandidateSource) -> None:
        self.inner = inner
        self.batch: tuple[Tensor, Tensor] | None = None

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        self.batch = ids, targets
        pause()
        return self.inner.propose(*self.batch, limit)


def shouting(parts: ModelParts) -> CandidateSource:
    return Shouting(right(parts))


def nothing(parts: ModelParts) -> Any:
    return object()


def case(check: str, complaint: str, spoil: Spoil) -> Case:
    """A source that is spoiled."""
    what = getattr(spoil, "__name__", "")
    return Case(check, complaint, lambda: source_checks(lambda parts: Broken(right(parts), spoil)), what)


def answer(check: str, complaint: str, change: Callable[[Candidates], Candidates]) -> Case:
    """A source whose answers are spoiled."""
    return replace(case(check, complaint, answering(change)), what=change.__name__)


CASES = [
    Case("is_a_source", "has no method `propose`", lambda: source_checks(nothing), "nothing"),
    answer("gives_candidates_of_the_right_shape", "must give both as", flat),
    answer("gives_candidates_of_the_right_shape", "ids must be int64", narrow),
    answer("gives_candidates_of_the_right_shape", "log-weights must be float32", heavy),
    case("only_targets_get_candidates", "no target got candidates", everywhere),
    case("only_targets_get_candidates", "a target got no candidate", for_some),
    answer("candidates_are_known_entities", "no entity of its domain", reserved),
    answer("candidates_are_known_entities", "no entity of its domain", beyond),
    answer("each_candidate_comes_once", "twice", twice),
    answer("weights_are_numbers_where_there_is_a_candidate", "no finite log-weight", no_number),
    answer("weights_are_numbers_where_there_is_a_candidate", "padding", padded),
    case("a_wider_limit_only_adds", "loses a candidate", fickle),
    case("what_stands_there_is_no_evidence", "in doubt", credulous),
    answer("the_best_fits_the_context", "the heaviest candidate", upside),
    case("never_without_an_answer", "everything missing: a target got no candidate", silent),
    case("rows_are_independent", "alone gets other candidates", of_batch),
    case("same_again", "another answer", restless),
    case("records_are_left_alone", "has changed the ids", meddling),
    Case("threads_do_not_disturb_each_other", "several threads", lambda: source_checks(shouting), "shouting"),
]
