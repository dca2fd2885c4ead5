"""From records to counterfactuals, a batch at a time: choose domains, propose, search, rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.explain import targets
from carat.protocols import Candidates, CandidateSource, Detector, Explainer, Found, GridDetector, Terms
from carat.recourse.diversity import diverse
from carat.recourse.kept import reconciled
from carat.recourse.outcome import Outcome
from carat.recourse.ranking import BlendRanking, SearchRanking
from carat.recourse.search import ROUND, Clock, SearchLimits, search
from carat.recourse.settings import Settings
from carat.recourse.suspects import Suspects, Told

SLOW_RECORDS = 16
"""Records whose combinations such a detector scores between two looks at the clock."""
DIVERSE_POOL = 4
"""Diversity chooses k out of so many times k."""


class Method(Protocol):
    """Anything that finds counterfactuals."""

    @property
    def name(self) -> str:
        """As the command line calls it."""
        ...

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """Counterfactuals of records ids [n, m]; `score` [n] is the detector's, where it is known already."""
        ...


@dataclass(frozen=True)
class Guided:
    """A method of the paper's kind: an explainer picks the domains, a source proposes, a search and a ranking choose.

    Args:
        name: as the command line calls it.
        vocabulary: what the ids mean.
        pairs: co-occurrence counts.
        detector: gives scores.
        explainer: picks the domains.
        source: proposes.
        make_ranking: of the dial and the constraints' weight of costs.
        suspects: chooses among sets of domains where the explainer is not sure; None takes the explainer's word.
        asks_again: whether a flagged entity that may not change must fit once others have; see `reconciled`.
    """

    name: str
    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    explainer: Explainer
    source: CandidateSource
    make_ranking: Callable[[float, float], SearchRanking]
    suspects: Suspects | None = None
    asks_again: bool = False

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """Counterfactuals of records ids [n, m]: Algorithm 1, steps 1 to 4."""
        ids = ids.to(torch.int64)
        score = (self.detector.score(ids) if score is None else score).to(ids.device)
        likelihood = self.explainer.likelihood(ids)
        search = _Search(self, ids, settings, score, likelihood)
        changeable = likelihood.masked_fill(~search.constraints.mutable, torch.nan)
        usual = search.constraints.targets(changeable, targets(changeable))
        outcome = search.run(usual)
        if self.suspects is not None:
            outcome = _Second(self, ids, settings, score, outcome).thoughts(changeable, usual)
        return reconciled(outcome, ids, self.explainer, search.constraints.mutable) if self.asks_again else outcome

    def first_fix(self, ids: Tensor, domains: Tensor, settings: Settings, score: Tensor) -> tuple[Tensor, Tensor]:
        """The first counterfactual of each record that changes these domains, bool [n, m], and where there is one."""
        told = replace(self, explainer=Told(domains), suspects=None, asks_again=False)
        found = told.find(ids, replace(settings, k=1, diversity=0.0), score)
        return found.counterfactuals[:, 0], found.mask[:, 0]


class _Second:
    """Second thoughts about the domains that were changed: other sets of them, searched in the same way.

    Args:
        method: that searches.
        ids: the records, int64 [n, m].
        settings: how to search.
        score: the detector's, [n].
        outcome: of the usual sets.
    """

    def __init__(self, method: Guided, ids: Tensor, settings: Settings, score: Tensor, outcome: Outcome) -> None:
        self.method, self.ids, self.settings, self.score, self.outcome = method, ids, settings, score, outcome
        self.tried: list[tuple[Tensor, Tensor, Outcome]] = []

    def thoughts(self, likelihood: Tensor, usual: Tensor) -> Outcome:
        """The outcome with the sets that look best once they have been changed; arguments as in `Suspects.choose`."""
        assert self.method.suspects is not None

        def first_fix(rows: Tensor, domains: Tensor) -> tuple[Tensor, Tensor]:
            if torch.equal(domains, usual[rows]):
                return self.outcome.counterfactuals[rows, 0], self.outcome.mask[rows, 0]
            found = self._searched(rows, domains)
            self.tried.append((rows, domains, found))
            return found.counterfactuals[:, 0], found.mask[:, 0]

        chosen = self.method.suspects.choose(self.ids, likelihood, usual, first_fix)
        outcome = self.outcome
        for rows, domains, found in self.tried:
            better = (chosen[rows] == domains).all(dim=1)
            outcome = outcome.replaced(rows[better], found.take(better.nonzero().flatten()))
        return outcome

    def _searched(self, rows: Tensor, domains: Tensor) -> Outcome:
        """What changing these domains of some records, by number [r], comes to."""
        some = self.ids[rows], self.settings, self.score[rows], self.outcome.likelihood[rows]
        search = _Search(self.method, *some)
        return search.run(search.constraints.targets(Told(domains).likelihood(self.ids), domains))


class _Search:
    """One batch under way."""

    def __init__(self, method: Guided, ids: Tensor, settings: Settings, score: Tensor, likelihood: Tensor) -> None:
        self.method, self.ids, self.settings, self.likelihood = method, ids, settings, likelihood
        self.offsets = method.vocabulary.offsets.to(ids.device)
        self.base_score = score
        self.constraints = settings.constraints_for(method.vocabulary, ids.device)
        self.ranking = method.make_ranking(settings.prefer, self.constraints.weight)
        if settings.shortlist is not None and isinstance(self.ranking, BlendRanking):
            self.ranking.shortlist = settings.shortlist
        wide = settings.k * DIVERSE_POOL if settings.diversity else settings.k
        self.width = wide
        records = len(ids)
        self.counterfactuals = ids[:, None].repeat(1, settings.k, 1)
        self.mask = torch.zeros((records, settings.k), dtype=torch.bool, device=ids.device)
        self.score = torch.full((records, settings.k), -torch.inf, device=ids.device)
        self.cost = torch.zeros((records, settings.k), device=ids.device)
        self.exhausted = torch.ones(records, dtype=torch.bool, device=ids.device)
        self.reasons: list[str | None] = [None] * records

    def run(self, chosen: Tensor) -> Outcome:
        """Steps 2 to 4 for these domains, bool [n, m]."""
        likelihood = self.likelihood
        proposed = self.method.source.propose(self.ids, chosen, self.settings.neighbours)
        candidates = self._permitted(chosen, proposed)
        kept = candidates.mask.any(dim=2)  # targets that are left with a candidate
        offered = (proposed.mask & (proposed.ids != self.ids[..., None])).any(dim=2)
        self._say_why(likelihood, chosen, offered, kept)
        clock = self.settings.search_limits(self.method.detector).clock()
        count = kept.sum(dim=1)
        # Records with lists of a length stand side by side, for a part is searched as wide as its longest list.
        order = candidates.mask.sum(dim=2).clamp(min=1).double().prod(dim=1).argsort(stable=True)
        for targets_each in range(1, int(count.max()) + 1 if len(count) else 1):
            rows = order[count[order] == targets_each]
            if len(rows):
                self._search(rows, kept[rows], candidates, clock)
        for row in torch.nonzero(kept.any(dim=1) & ~self.mask.any(dim=1)).flatten().tolist():
            self._say(row, "the constraints rule out every combination that was tried")
        cost = None if self.constraints.cost is None else self.cost
        return Outcome(self.counterfactuals, self.mask, self.score, cost, self.exhausted, self.reasons, likelihood)

    def _permitted(self, chosen: Tensor, proposed: Candidates) -> Candidates:
        """Without the present entities and what the constraints exclude, closed up to the left."""
        row, domain = chosen.nonzero(as_tuple=True)
        ids, weight = proposed.ids[row, domain], proposed.log_weight[row, domain]  # [p, L]
        other = (ids != MISSING) & (ids != self.ids[row, domain, None])
        rows, records = ids + self.offsets[domain, None], (self.ids + self.offsets)[row]
        while True:
            known = (self.ids >= FIRST) & ~chosen
            good = other & self.constraints.permits(rows, records, known[row], self.method.pairs)
            left = torch.zeros_like(chosen)
            left[row, domain] = good.any(dim=1)
            if torch.equal(left, chosen):
                break
            # A target without a candidate stays as it is: what replaces the others must get on with it.
            chosen = left
        # Stable: the source's order stays.
        order = good.int().argsort(dim=1, descending=True, stable=True)
        longest = int(good.sum(dim=1).max()) if good.numel() else 0
        longest = -(-longest // ROUND) * ROUND
        ids = ids.masked_fill(~good, MISSING).gather(1, order)[:, :longest]
        weight = weight.masked_fill(~good, -torch.inf).gather(1, order)[:, :longest]
        width = ids.shape[1]
        all_ids = torch.full((*self.ids.shape, longest), MISSING, device=self.ids.device)
        all_weights = torch.full(all_ids.shape, -torch.inf, device=self.ids.device)
        all_ids[row, domain, :width], all_weights[row, domain, :width] = ids, weight
        return Candidates(all_ids, all_weights)

    def _search(self, rows: Tensor, kept: Tensor, candidates: Candidates, clock: Clock) -> None:
        """All records with the same number of targets, kept bool [g, m]."""
        method, settings = self.method, self.settings
        ids = self.ids[rows]
        domains = kept.nonzero()[:, 1].view(len(rows), -1)  # [g, t]
        entities, weight = candidates.ids[rows[:, None], domains], candidates.log_weight[rows[:, None], domains]
        longest = int((entities != MISSING).sum(dim=2).max())
        # A round length makes the grid divide into blocks; what is added is padding.
        longest = min(-(-longest // ROUND) * ROUND, entities.shape[2])
        entities, weight = entities[..., :longest], weight[..., :longest]
        layout = entities + self.offsets[domains].unsqueeze(-1)
        cost = torch.zeros_like(weight) if self.constraints.cost is None else self.constraints.cost[layout]
        score_terms = None
        if isinstance(method.detector, GridDetector):
            score_terms = _on(method.detector.terms(ids, domains, entities), ids.device)
        weight_terms = Terms(torch.zeros(len(ids), device=ids.device), weight)
        base_score = self.base_score[rows]
        objective, finish = self.ranking.objective(base_score, score_terms, weight_terms, cost)
        objective = [self._forbidding(objective[0], layout), *objective[1:]]
        black_box = score_terms is None
        limits = settings.search_limits(method.detector)
        found = search(
            objective,
            entities != MISSING,
            limits.budget if black_box else self.ranking.pool(self.width),
            limits=replace(limits, budget=SearchLimits().budget) if black_box else limits,
            clock=clock,
            finish=finish,
        )
        self.exhausted[rows] = found.exhausted
        if black_box:
            many = (entities != MISSING).sum(dim=2).double().prod(dim=1) > limits.budget
            self.exhausted[rows] &= ~many
        # A detector that scores one by one may be slow: a few records at a time, so that the clock is heard.
        for part in torch.arange(len(rows), device=ids.device).split(SLOW_RECORDS if black_box else max(len(rows), 1)):
            mask = found.mask[part]
            if black_box and clock.over():
                mask = mask & (torch.arange(mask.shape[1], device=ids.device) < settings.k)
                self.exhausted[rows[part]] &= (mask == found.mask[part]).all(dim=1)
            self._rank(
                rows[part],
                base_score[part],
                domains[part],
                entities[part],
                weight[part],
                cost[part],
                found.index[part],
                mask,
            )

    def _forbidding(self, terms: Terms, layout: Tensor) -> Terms:
        """The same terms with forbidden pairs of replacements at −∞; layout int64 [g, t, L] are their rows."""
        if not len(self.constraints.pairs):
            return terms

        def pair(i: int, j: int, part: slice) -> Tensor:
            forbidden = self.constraints.forbids(layout[part, i, :, None], layout[part, j, None, :])
            known = torch.zeros((), device=layout.device) if terms.pair is None else terms.pair(i, j, part)
            return torch.where(forbidden, -torch.inf, known)

        return Terms(terms.constant, terms.unary, pair)

    def _rank(
        self,
        rows: Tensor,
        base_score: Tensor,
        domains: Tensor,
        entities: Tensor,
        weight: Tensor,
        cost: Tensor,
        index: Tensor,
        mask: Tensor,
    ) -> None:
        """From combinations, index int64 [g, C, t], to whole records in their final order."""
        ids, k = self.ids[rows], self.settings.k
        place = index.transpose(1, 2)  # [g, t, C]
        new = entities.gather(2, place).transpose(1, 2)
        records = ids[:, None].repeat(1, index.shape[1], 1)
        records.scatter_(2, domains[:, None].expand(-1, index.shape[1], -1), new)
        score = torch.full(mask.shape, -torch.inf, device=ids.device)
        score[mask] = self.method.detector.score(records[mask]).to(ids.device)
        found = Found(
            records,
            mask,
            score,
            base_score,
            weight.gather(2, place).sum(dim=1),
            cost.gather(2, place).sum(dim=1),
        )
        order, counts = self.ranking.order(ids, found, self.width)
        if self.settings.diversity:
            listed = records.gather(1, order[..., None].expand(-1, -1, ids.shape[1]))
            chosen = diverse(listed, ids, counts, k, self.settings.diversity)
            order, counts = order.gather(1, chosen), counts.gather(1, chosen)
        width = order.shape[1]
        self.counterfactuals[rows, :width] = records.gather(1, order[..., None].expand(-1, -1, ids.shape[1]))
        self.mask[rows, :width] = counts
        self.score[rows, :width] = score.gather(1, order).masked_fill(~counts, -torch.inf)
        self.cost[rows, :width] = found.cost.gather(1, order)

    def _say_why(self, likelihood: Tensor, chosen: Tensor, offered: Tensor, kept: Tensor) -> None:
        """Reasons for the records, few as a rule, that have no counterfactual or fewer changes than wanted.

        Args:
            likelihood: the explainer's, [n, m].
            chosen: the targets, bool [n, m].
            offered: targets for which the source had another entity, bool [n, m].
            kept: those for which one is left, bool [n, m].
        """
        names = self.method.vocabulary.names
        wanted = targets(likelihood)
        limited = (wanted != kept).any(dim=1) | ~kept.any(dim=1)
        for row in torch.nonzero(limited).flatten().tolist():
            blocked = [names[d] for d in torch.nonzero(wanted[row] & ~self.constraints.mutable).flatten().tolist()]
            barred = [names[d] for d in torch.nonzero(chosen[row] & ~kept[row] & offered[row]).flatten().tolist()]
            bare = [names[d] for d in torch.nonzero(chosen[row] & ~offered[row]).flatten().tolist()]
            if not chosen[row].any():
                self._say(row, "none of its columns may change" if blocked else "it has no value that could change")
            elif blocked:
                self._say(row, f"{', '.join(blocked)} may not change")
            if barred:
                self._say(row, f"the constraints leave no value for {', '.join(barred)}")
            if bare:
                self._say(row, f"no replacement is known for {', '.join(bare)}")

    def _say(self, row: int, words: str) -> None:
        said = self.reasons[row]
        self.reasons[row] = words if said is None else f"{said}; {words}"


def _on(terms: Terms, device: torch.device) -> Terms:
    """Float32 terms on a device."""
    pair = terms.pair
    moved = None if pair is None else (lambda i, j, part: pair(i, j, part).to(device, torch.float32))
    return Terms(terms.constant.to(device, torch.float32), terms.unary.to(device, torch.float32), moved)
