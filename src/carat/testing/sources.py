"""What every source of candidates must do."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property

import torch
from torch import Tensor

from carat.data import FIRST, MISSING, UNSEEN
from carat.protocols import Candidates, CandidateSource
from carat.recourse.parts import ModelParts
from carat.registry import SOURCES
from carat.testing.check import THREADS, Check, Suite, at_once, check, check_where, require, run_all
from carat.testing.parts import make, model_for, parts_of
from carat.testing.planted import DOMAINS, corrupted

SourceFactory = Callable[[ModelParts], CandidateSource]


def check_source(factory: str | SourceFactory, *, needs: Iterable[str] = (), context: bool = True) -> None:
    """Run every check on a source; the first that fails raises an `AssertionError` with its name and the reason.

    Args:
        factory: a name, or what makes a source of a model's parts.
        needs: what it needs of them; see `carat.recourse.parts.NEEDS`. The parts that it gets have nothing else.
        context: False for a source that does not read the rest of the record, so that its best may not fit.
    """
    run_all(source_checks(factory, needs=needs, context=context))


def source_checks(factory: str | SourceFactory, *, needs: Iterable[str] = (), context: bool = True) -> list[Check]:
    """The same checks one by one; a model is fitted when the first of them is called, and once for all sources."""
    return SourceChecks(factory, needs=needs, context=context).checks()


class SourceChecks(Suite):
    """The checks of one source.

    Args:
        factory: as `check_source` takes it.
        needs: what it needs.
        context: whether its best fits the record.
    """

    def __init__(self, factory: str | SourceFactory, *, needs: Iterable[str] = (), context: bool = True) -> None:
        self.needs = tuple(needs)
        if isinstance(factory, str):
            entry = SOURCES.find(factory)
            self.factory: SourceFactory = entry.load()
            self.needs += entry.needs
        else:
            self.factory = factory
        self.context = context

    @cached_property
    def parts(self) -> ModelParts:
        """What the source is made of."""
        return parts_of(model_for(self.needs), self.needs)

    @cached_property
    def source(self) -> CandidateSource:
        """Made of them."""
        return self.made()

    def made(self) -> CandidateSource:
        """A new one."""
        return make(self.factory, self.parts, self.needs)

    @property
    def ids(self) -> Tensor:
        """Records with one entity each that does not belong, int64 [24, 4]."""
        return self.parts.vocabulary.encode(corrupted()[0]).long()

    @property
    def targets(self) -> Tensor:
        """Where it is, bool [24, 4]."""
        return torch.tensor([[name == domain for name in DOMAINS] for domain in corrupted()[1]])

    def propose(self, limit: int) -> Candidates:
        """For the wrong entity of each record."""
        return self.source.propose(self.ids, self.targets, limit)

    @check
    def is_a_source(self) -> None:
        require(isinstance(self.source, CandidateSource), f"{self.source!r} has no method `propose`")

    @check
    def gives_candidates_of_the_right_shape(self) -> None:
        for dtype in (torch.int32, torch.int64):
            for count in (0, 1, 24):
                found = self.source.propose(self.ids[:count].to(dtype), self.targets[:count], 5)
                ids, weight = found.ids, found.log_weight
                shapes = f"ids {tuple(ids.shape)} and log-weights {tuple(weight.shape)}"
                right = ids.shape == weight.shape and ids.dim() == 3 and tuple(ids.shape[:2]) == (count, 4)
                require(right, f"{count} records of 4 domains must give both as ({count}, 4, L), got {shapes}")
                require(ids.dtype == torch.int64, f"ids must be int64, got {ids.dtype}")
                require(weight.dtype == torch.float32, f"log-weights must be float32, got {weight.dtype}")

    @check
    def only_targets_get_candidates(self) -> None:
        mask = self.propose(5).mask
        require(mask[self.targets].any(dim=1).all(), "a target got no candidate")
        require(not mask[~self.targets].any(), "a domain that is no target got candidates")

    @check
    def candidates_are_known_entities(self) -> None:
        found = self.propose(5)
        sizes = self.parts.vocabulary.sizes[None, :, None].expand_as(found.ids)
        known = (found.ids >= FIRST) & (found.ids < sizes)
        require(known[found.mask].all(), "a candidate is no entity of its domain: reserved, or beyond the last one")

    @check
    def each_candidate_comes_once(self) -> None:
        found = self.propose(5)
        for row, domain in self.targets.nonzero().tolist():
            mine = found.ids[row, domain][found.mask[row, domain]].tolist()
            require(len(set(mine)) == len(mine), f"record {row} got a candidate twice: {mine}")

    @check
    def weights_are_numbers_where_there_is_a_candidate(self) -> None:
        found = self.propose(5)
        require(found.log_weight[found.mask].isfinite().all(), "a candidate has no finite log-weight")
        require(found.log_weight[~found.mask].isneginf().all(), "the log-weight of padding must be −∞")

    @check
    def a_wider_limit_only_adds(self) -> None:
        lists = [self.propose(limit) for limit in (1, 3, 10_000)]
        for row, domain in self.targets.nonzero().tolist():
            few, more, every = (set(found.ids[row, domain][found.mask[row, domain]].tolist()) for found in lists)
            require(few <= more <= every, f"record {row} loses a candidate where more are asked for")

    @check
    def what_stands_there_is_no_evidence(self) -> None:
        found = self.propose(5)
        other = self.source.propose(self.ids.masked_fill(self.targets, UNSEEN), self.targets, 5)
        same = torch.equal(found.ids, other.ids) and torch.equal(found.log_weight, other.log_weight)
        require(same, "the candidates depend on the very entity that is in doubt")

    @check_where(lambda suite: suite.context)
    def the_best_fits_the_context(self) -> None:
        found, where = self.propose(20), corrupted()[1]
        best = found.ids.gather(2, found.log_weight.argmax(dim=2, keepdim=True)).squeeze(2)
        texts = self.parts.vocabulary.decode(best)
        right = [str(texts[name][row]).startswith(f"{name}-{row // 4}") for row, name in enumerate(where)]
        require(sum(right) >= 22, f"the heaviest candidate fits the record in {sum(right)} of {len(right)} cases")

    @check
    def never_without_an_answer(self) -> None:
        """Where nothing of the record is known, frequent entities are all there is to say."""
        targets = torch.zeros(3, 4, dtype=torch.bool)
        targets[0, 0] = targets[1, 2] = True
        for reserved, what in ((MISSING, "missing"), (UNSEEN, "unseen")):
            found = self.source.propose(torch.full((3, 4), reserved), targets, 3)
            require(found.mask[targets].any(dim=1).all(), f"everything {what}: a target got no candidate")
            require(not found.mask[~targets].any(), f"everything {what}: a domain that is no target got candidates")
        found = self.source.propose(self.ids, torch.ones(24, 4, dtype=torch.bool), 3)
        require(found.mask.any(dim=2).all(), "every domain a target: one of them got no candidate")

    @check
    def rows_are_independent(self) -> None:
        targets = self.targets
        targets[::3, 1] = True
        whole = self.source.propose(self.ids, targets, 4)
        for row in range(len(self.ids)):
            alone = self.source.propose(self.ids[row : row + 1], targets[row : row + 1], 4)
            for domain in targets[row].nonzero().flatten().tolist():
                mine, theirs = _weights(alone, 0, domain), _weights(whole, row, domain)
                same = mine.keys() == theirs.keys() and all(abs(mine[each] - theirs[each]) < 1e-4 for each in mine)
                require(same, f"record {row} alone gets other candidates than among others")

    @check
    def same_again(self) -> None:
        first, second = self.propose(5), self.made().propose(self.ids, self.targets, 5)
        same = torch.equal(first.ids, second.ids) and torch.equal(first.log_weight, second.log_weight)
        require(same, "the same question, asked of a source made of the same parts, gets another answer")

    @check
    def records_are_left_alone(self) -> None:
        ids, targets = self.ids, self.targets
        self.source.propose(ids, targets, 5)
        same = torch.equal(ids, self.ids) and torch.equal(targets, self.targets)
        require(same, "propose has changed the ids or the targets that it was given")

    @check
    def threads_do_not_disturb_each_other(self) -> None:
        shifts = range(THREADS)

        def ask(shift: int) -> Candidates:
            some = slice(shift, None)
            return self.source.propose(self.ids[some], self.targets[some], 5)

        alone, together = [ask(shift) for shift in shifts], at_once(ask, shifts)
        require(
            all(torch.equal(mine.ids, theirs.ids) for mine, theirs in zip(alone, together, strict=True)),
            "several threads at once get other candidates than one after the other",
        )


def _weights(found: Candidates, row: int, domain: int) -> dict[int, float]:
    """The candidates of one place and their log-weights."""
    ids, weight, mask = found.ids[row, domain], found.log_weight[row, domain], found.mask[row, domain]
    return dict(zip(ids[mask].tolist(), weight[mask].tolist(), strict=True))
