"""From a batch of a result to explanations: the evidence for and against every entity, looked up all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import torch

from carat.data.vocabulary import MISSING, UNSEEN
from carat.explain.choice import CUT, flagged
from carat.results.batches import ResultBatch
from carat.results.evidence import Evidence
from carat.results.explanation import FILLED, Counterfactual, EntityView, Explanation, Witness
from carat.results.precedents import Similar
from carat.results.rarity import rarest_pairs

DOUBT = 3
"""Records by which a witness that was seldom seen is trusted less."""


def explain_batch(batch: ResultBatch, evidence: Evidence, *, show: int | None) -> list[Explanation]:
    """An explanation of every record of a batch, each with its best `show` counterfactuals; None is all of them."""
    table, names = batch.table, batch.table.vocabulary.names
    texts = batch.texts.to_pylist()
    together = evidence.together(table.ids)
    changes = _changes(batch, texts, evidence, show)
    similar = _similar(batch, evidence)
    anomalous, below = batch.anomalous.tolist(), batch.scale.below(batch.score).tolist()
    explained = []
    for row, found in enumerate(batch.records().to_pylist()):
        ids, likelihood = table.ids[row], batch.outcome.likelihood[row].tolist()
        views = _Reading(ids.tolist(), likelihood, together[row].tolist(), names, texts[row], evidence).views()
        blamed = any(view.flagged for view in views)
        explained.append(
            Explanation(
                found["record"],
                found["score"],
                found["percentile"],
                anomalous[row],
                tuple(views),
                tuple(changes[row]),
                found["reason"],
                () if blamed else tuple(rarest_pairs(ids, together[row], evidence.pairs.records)),
                found["count"],
                found["exhausted"],
                found["alarm"],
                below[row],
                similar[row].precedents,
                similar[row].agreements,
            )
        )
    return explained


def _similar(batch: ResultBatch, evidence: Evidence) -> list[Similar]:
    """Precedents of the records that are anomalous or in doubt; all of them are looked up at once."""
    found = [Similar()] * len(batch)
    if evidence.precedents is None:
        return found
    ids, doubted = batch.table.ids, flagged(batch.outcome.likelihood)
    if batch.alarm is not None:
        doubted = doubted | ((ids == MISSING) & (torch.tensor(evidence.filled) >= FILLED))
    asked = (batch.anomalous | doubted.any(dim=1)).nonzero().flatten()
    for row, one in zip(asked.tolist(), evidence.precedents.find(ids[asked], doubted[asked]), strict=True):
        found[row] = one
    return found


@dataclass(frozen=True)
class _Reading:
    """One record with all that is known of it: ids, likelihoods [m], counts of its pairs [m][m], texts by domain."""

    ids: list[int]
    likelihood: list[float]
    together: list[list[int]]
    names: list[str]
    texts: dict[str, Any]
    evidence: Evidence

    def views(self) -> list[EntityView]:
        """Its entities, in the order of the domains."""
        views = []
        for number, (name, id) in enumerate(zip(self.names, self.ids, strict=True)):
            # A missing entity has no likelihood, and a baseline that asks no explainer has none either.
            told = id != MISSING and not math.isnan(self.likelihood[number])
            likelihood = self.likelihood[number] if told else None
            seen = max(self.together[number][number], 0)
            filled = self.evidence.filled[number] if id == MISSING else None
            view = EntityView(name, self.texts[name], likelihood, seen, unseen=id == UNSEEN, filled=filled)
            views.append(replace(view, against=self._against(number)) if view.flagged else view)
        return views

    def _against(self, number: int) -> tuple[Witness, ...]:
        """Entities beside a flagged one, the best witnesses first.

        A good witness was seen seldom with the flagged entity, and nearly always with the same other one. One that is
        itself in doubt is a poor witness; so is one that training hardly met; one that it never met is none.
        """
        others = [other for other, id in enumerate(self.ids) if other != number and id != MISSING]
        usual = {
            other: tuple(self.evidence.usual(other, self.ids[other], number, instead_of=self.ids[number]))
            for other in others
        }
        mine = self.together[number]

        def rank(other: int) -> tuple[bool, bool, float, float]:
            seen = self.together[other][other]
            told = usual[other][0][1] / (seen + DOUBT) if usual[other] else 0.0
            return seen == 0, self.likelihood[other] < CUT, mine[other] / max(seen, 1), -told

        return tuple(
            Witness(self.names[other], self.texts[self.names[other]], mine[other], usual[other])
            for other in sorted(others, key=rank)
        )


def _changes(
    batch: ResultBatch, before: list[dict[str, Any]], evidence: Evidence, show: int | None
) -> list[list[Counterfactual]]:
    """The best `show` counterfactuals of every record; all of them are looked up at once."""
    outcome, scale, names = batch.outcome, batch.scale, batch.table.vocabulary.names
    kept = outcome.mask if show is None else outcome.mask & (outcome.mask.cumsum(dim=1) <= show)
    record, rank = kept.nonzero(as_tuple=True)
    ids, score = outcome.counterfactuals[record, rank], outcome.score[record, rank]
    changed = (ids != batch.table.ids[record]).tolist()
    after = batch.table.vocabulary.decode(ids)
    texts = {name: column.to_pylist() for name, column in after.items()}
    together = evidence.together(ids)
    together.diagonal(dim1=1, dim2=2).fill_(-1)  # beside an entity are the others
    known = (together > 0).sum(dim=2).tolist()
    most = torch.iinfo(together.dtype).max
    least = together.masked_fill(together < 0, most).amin(dim=2)
    support = least.masked_fill(least == most, 0).tolist()
    scores, percentile, valid = score.tolist(), scale.percentile(score).tolist(), (~scale.below(score)).tolist()
    cost = None if outcome.cost is None else outcome.cost[record, rank].tolist()
    found: list[list[Counterfactual]] = [[] for _ in before]
    for place, (row, number) in enumerate(zip(record.tolist(), rank.tolist(), strict=True)):
        where = [(d, name) for d, name in enumerate(names) if changed[place][d]]
        found[row].append(
            Counterfactual(
                number + 1,
                scores[place],
                percentile[place],
                valid[place],
                {name: (before[row][name], texts[name][place]) for _, name in where},
                {name: support[place][d] for d, name in where},
                None if cost is None else cost[place],
                {name: known[place][d] for d, name in where},
            )
        )
    return found
