"""What jobs hand out, a batch at a time: scores, likelihoods, counterfactuals, each with the rows of its output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data.table import Table
from carat.data.vocabulary import MISSING
from carat.explain.choice import CUT, flagged
from carat.recourse.outcome import Outcome
from carat.results.gate import strangest_first
from carat.results.scale import Scale

LEAVE_IT = "no value stands out, so leaving the row as it is may be right"
"""Of a row whose score is low, but whose values all look as if they belong."""
SCORE_COLUMNS = ("record", "score", "percentile", "anomalous", "alarm")


@dataclass(frozen=True)
class ScoreBatch:
    """Records and their scores, on the CPU.

    Args:
        table: the records.
        score: the detector's, [n].
        scale: how scores and alarms are read.
        alarm: the judge's, [n]; NaN where it was not asked, None where there is none.
    """

    table: Table
    score: Tensor
    scale: Scale
    alarm: Tensor | None = None

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def anomalous(self) -> Tensor:
        """Which records are, bool [n]."""
        return self.scale.anomalous(self.score, self.alarm)

    def rows(self) -> pa.Table:
        """One row per record, the columns of `carat score`."""
        return pa.table(
            {
                "record": self.table.names_of_records(),
                "score": self.score.double().numpy(),
                "percentile": self.scale.percentile(self.score).numpy(),
                "anomalous": pa.array(self.anomalous.numpy()),
                "alarm": _alarms(self.alarm, len(self)),
            }
        )


@dataclass(frozen=True)
class ExplainBatch:
    """Records and the likelihood of their entities, on the CPU.

    Args:
        table: the records.
        likelihood: the explainer's, [n, m]; NaN where missing.
        scorer: gives the detector's scores, where they are asked for.
        alarmer: gives the judge's alarms, likewise; None of them without a judge.
    """

    table: Table
    likelihood: Tensor
    scorer: Callable[[Tensor], Tensor] = field(repr=False)
    alarmer: Callable[[Tensor], Tensor | None] = field(repr=False)

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def flagged(self) -> Tensor:
        """Entities less likely than not, bool [n, m]."""
        return flagged(self.likelihood)

    @cached_property
    def score(self) -> Tensor:
        """The detector's, [n]; asked for once, and only where somebody wants to know."""
        return self.scorer(self.table.ids)

    @cached_property
    def alarm(self) -> Tensor | None:
        """The judge's, [n]; likewise."""
        return self.alarmer(self.table.ids)

    def take(self, index: Tensor) -> ExplainBatch:
        """The records with these numbers, each at most once, in this order."""
        return ExplainBatch(self.table.take(index), self.likelihood[index], self.scorer, self.alarmer)

    def rows(self) -> pa.Table:
        """One row per record, the columns of `carat explain`."""
        columns: dict[str, Any] = {"record": self.table.names_of_records()}
        names = self.table.vocabulary.names
        for name, column in zip(names, self.likelihood.double().numpy().T, strict=True):
            columns[name] = pa.array(column, mask=np.isnan(column))
        columns["flagged"] = domains_where(self.flagged, names)
        return pa.table(columns)


@dataclass(frozen=True)
class ResultBatch:
    """Records and what was found for them, on the CPU.

    Args:
        table: the records.
        score: the detector's, of the records themselves, [n].
        outcome: their counterfactuals.
        scale: how scores and alarms are read.
        decoded: the records as text, where somebody has decoded them before.
        alarm: the judge's, [n]; NaN where it was not asked, None where there is none.
    """

    table: Table
    score: Tensor
    outcome: Outcome
    scale: Scale
    decoded: pa.Table | None = field(default=None, repr=False, compare=False)
    alarm: Tensor | None = None

    @classmethod
    def unsearched(
        cls,
        table: Table,
        score: Tensor,
        likelihood: Tensor,
        scale: Scale,
        *,
        alarm: Tensor | None = None,
        costs: bool = False,
    ) -> ResultBatch:
        """Records [n, m] for which nothing was looked for, with the likelihood [n, m] of their entities."""
        none = torch.empty((len(table), 0))
        outcome = Outcome(
            torch.empty((*none.shape, len(table.vocabulary)), dtype=torch.int64),
            none.bool(),
            none,
            none if costs else None,
            torch.zeros(len(table), dtype=torch.bool),
            [None] * len(table),
            likelihood,
        )
        return cls(table, score, outcome, scale, alarm=alarm)

    def __len__(self) -> int:
        return len(self.table)

    @cached_property
    def texts(self) -> pa.Table:
        """The records as text, decoded once."""
        return self.table.decode() if self.decoded is None else self.decoded

    def take(self, index: Tensor) -> ResultBatch:
        """The records with these numbers, each at most once, in this order."""
        known = self.__dict__.get("texts", self.decoded)
        texts = None if known is None else known.take(pa.array(index.numpy()))
        alarm = None if self.alarm is None else self.alarm[index]
        outcome = self.outcome.take(index)
        return ResultBatch(self.table.take(index), self.score[index], outcome, self.scale, texts, alarm)

    @cached_property
    def anomalous(self) -> Tensor:
        """Which records are, bool [n]."""
        return self.scale.anomalous(self.score, self.alarm)

    @cached_property
    def only_blank(self) -> Tensor:
        """Which records are anomalous by what they lack and by nothing else, bool [n]."""
        alarming = self.scale.alarming(self.alarm, len(self))
        fine = ~self.scale.below(self.score) & ~flagged(self.outcome.likelihood).any(dim=1)
        return alarming & fine & (self.table.ids == MISSING).any(dim=1)

    def rows(self) -> pa.Table:
        """One row per counterfactual, the columns of `carat recourse`."""
        outcome, vocabulary = self.outcome, self.table.vocabulary
        record, rank = outcome.mask.nonzero(as_tuple=True)
        ids = outcome.counterfactuals[record, rank]
        changed = ids != self.table.ids[record]
        score = outcome.score[record, rank]
        index = pa.array(record.numpy())
        columns: dict[str, Any] = {
            "record": self.table.names_of_records().take(index),
            "rank": pa.array((rank + 1).numpy()),
            "score": score.double().numpy(),
            "percentile": self.scale.percentile(score).numpy(),
            "valid": pa.array((~self.scale.below(score)).numpy()),
            "changed": domains_where(changed, vocabulary.names),
        }
        after = vocabulary.decode(ids)
        for number, name in enumerate(vocabulary.names):
            # What is kept reads as it came, also where training never met it.
            kept = self.texts[name].combine_chunks().take(index)
            columns[name] = pc.if_else(pa.array(changed[:, number].numpy()), after[name], kept)
        if outcome.cost is not None:
            columns["cost"] = outcome.cost[record, rank].double().numpy()
        return pa.table(columns)

    def compared(self) -> pa.Table:
        """The same, with what the changed domains held and hold at the end: lists in the order of `changed`."""
        rows = self.rows()
        held = {name: self.texts[name].to_pylist() for name in self.table.vocabulary.names}
        record = self.outcome.mask.nonzero()[:, 0].tolist()
        changed = rows["changed"].to_pylist()
        before = [[held[name][row] for name in names] for row, names in zip(record, changed, strict=True)]
        now = {name: rows[name].to_pylist() for name in held}
        after = [[now[name][place] for name in names] for place, names in enumerate(changed)]
        taken = set(rows.column_names)
        for title, values in (("before", before), ("after", after)):
            # A domain may have this name; the contract's columns come first.
            rows = rows.append_column(f"{title}_" if title in taken else title, pa.array(values, pa.list_(pa.string())))
        return rows

    def records(self) -> pa.Table:
        """One row per record: its score, how many counterfactuals, whether all was searched, and why not more."""
        outcome = self.outcome
        percentile = self.scale.percentile(self.score)
        above = (~self.scale.below(self.score)).tolist()
        doubted = flagged(outcome.likelihood).any(dim=1).tolist()
        told = (~outcome.likelihood.isnan()).any(dim=1) & ~self.scale.alarming(self.alarm, len(self))
        alarm = _alarms(self.alarm, len(self))
        known = zip(self.anomalous.tolist(), doubted, percentile.tolist(), alarm.to_pylist(), strict=True)
        verdicts = [
            _already(*about) if fine else LEAVE_IT if asked and not about[1] else None
            for fine, asked, about in zip(above, told.tolist(), known, strict=True)
        ]
        reasons = [
            reason if blank and reason else "; ".join(part for part in (verdict, reason) if part) or None
            for verdict, reason, blank in zip(verdicts, outcome.reasons, self.only_blank.tolist(), strict=True)
        ]
        return pa.table(
            {
                "record": self.table.names_of_records(),
                "score": self.score.double().numpy(),
                "percentile": percentile.numpy(),
                "flagged": domains_where(flagged(outcome.likelihood), self.table.vocabulary.names),
                "count": outcome.mask.sum(dim=1).numpy(),
                "exhausted": pa.array(outcome.exhausted.numpy()),
                "reason": pa.array(reasons, pa.string()),
                "alarm": alarm,
            }
        )


def strangest_of(batches: list[ResultBatch], limit: int) -> list[ResultBatch]:
    """The strangest records of several batches, no more than a limit, in batches, in the order they came."""
    if not batches:
        return []
    scores = torch.cat([batch.score for batch in batches])
    chosen = torch.zeros(len(scores), dtype=torch.bool)
    told = [batch.alarm for batch in batches if batch.alarm is not None]
    chosen[strangest_first(scores, torch.cat(told) if told else None)[:limit]] = True
    kept = []
    for batch, mine in zip(batches, chosen.split([len(batch) for batch in batches]), strict=True):
        if mine.any():
            kept.append(batch if mine.all() else batch.take(mine.nonzero().flatten()))
    return kept


def _alarms(alarm: Tensor | None, records: int) -> pa.Array:
    """Alarms [n] as a column; null where a record was not judged."""
    if alarm is None:
        return pa.nulls(records, pa.float64())
    values = alarm.double().numpy()
    return pa.array(values, mask=np.isnan(values))


def _already(listed: bool, doubted: bool, percentile: float, alarm: float | None) -> str:
    """What there is to say of a score above the threshold: a row is not called normal while a value is flagged."""
    if listed:
        said = f"its score alone would not have flagged it (percentile {percentile:.1f})"
        if alarm is not None and alarm < CUT:
            return f"{said}, but its values fit each other less well than in most rows (alarm {alarm:.2f})"
        return f"{said}, but a value is probably wrong or missing (alarm {alarm:.2f})"
    if doubted:
        return f"its score is above the threshold, at percentile {percentile:.1f}, but some of its values look wrong"
    return f"the row is already normal, at percentile {percentile:.1f}"


def domains_where(mask: Tensor, names: list[str]) -> pa.Array:
    """Names of the domains where a mask [n, m] is true, as lists [n]."""
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), mask.sum(dim=1).cumsum(0)])
    found = pa.array(names, pa.string()).take(pa.array(mask.nonzero()[:, 1].numpy()))
    return pa.ListArray.from_arrays(pa.array(starts.numpy(), pa.int32()), found)
