"""What recourse gives back: counterfactuals as a frame, a line about every record, an explanation of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

from carat.data.readers import frame_like
from carat.data.table import Table
from carat.errors import InputError
from carat.explain import flagged
from carat.recourse.engine import Method, Settings
from carat.recourse.evidence import Evidence
from carat.recourse.explanation import Explanation, explain_part
from carat.recourse.outcome import Outcome

BATCH = 256
"""Records that a method is given at once."""


@dataclass(frozen=True)
class Scale:
    """How scores are read.

    Args:
        reference: scores of normal records, ascending, [r].
        threshold: anomalous begins below this score.
    """

    reference: Tensor
    threshold: float

    def percentile(self, scores: Tensor) -> Tensor:
        """Share of the reference at or below, in percent, float64, in the shape of the scores."""
        below = torch.searchsorted(self.reference, scores.contiguous(), right=True)
        return 100 * below.double() / max(len(self.reference), 1)


@dataclass(frozen=True)
class Part:
    """Some records and what was found for them, on the CPU.

    Args:
        table: the records.
        score: the detector's, of the records themselves, [n].
        outcome: their counterfactuals.
    """

    table: Table
    score: Tensor
    outcome: Outcome

    @classmethod
    def unsearched(cls, table: Table, score: Tensor, likelihood: Tensor, *, costs: bool = False) -> Part:
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
        return cls(table, score, outcome)

    def take(self, index: Tensor) -> Part:
        """The records with these numbers, each at most once, in this order."""
        return Part(self.table.take(index), self.score[index], self.outcome.take(index))

    def rows(self, scale: Scale) -> pa.Table:
        """One row a counterfactual, the columns of the contract."""
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
            "percentile": scale.percentile(score).numpy(),
            "valid": pa.array((score >= scale.threshold).numpy()),
            "changed": domains_where(changed, vocabulary.names),
        }
        before, after = self.table.decode(), vocabulary.decode(ids)
        for number, name in enumerate(vocabulary.names):
            # What is kept reads as it came, also where training never met it.
            kept = before[name].combine_chunks().take(index)
            columns[name] = pc.if_else(pa.array(changed[:, number].numpy()), after[name], kept)
        if outcome.cost is not None:
            columns["cost"] = outcome.cost[record, rank].double().numpy()
        return pa.table(columns)

    def records(self, scale: Scale) -> pa.Table:
        """One row a record: its score, how many counterfactuals, whether all was searched, and why not more."""
        outcome = self.outcome
        percentile = scale.percentile(self.score)
        reasons = [
            "; ".join(part for part in (_already(float(score), float(share), scale), reason) if part) or None
            for score, share, reason in zip(self.score, percentile, outcome.reasons, strict=True)
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
            }
        )


def _already(score: float, percentile: float, scale: Scale) -> str | None:
    return f"it is already normal, at percentile {percentile:.1f}" if score >= scale.threshold else None


def domains_where(mask: Tensor, names: list[str]) -> pa.Array:
    """Names of the domains where a mask [n, m] is true, as lists [n]."""
    starts = torch.cat([torch.zeros(1, dtype=torch.int64), mask.sum(dim=1).cumsum(0)])
    found = pa.array(names, pa.string()).take(pa.array(mask.nonzero()[:, 1].numpy()))
    return pa.ListArray.from_arrays(pa.array(starts.numpy(), pa.int32()), found)


def run(
    method: Method,
    table: Table,
    score: Tensor,
    settings: Settings,
    device: torch.device,
    advance: Callable[[int], None] | None = None,
) -> Iterator[Part]:
    """Parts of `BATCH` records, one after the other; `advance` is told of each.

    Args:
        method: what finds counterfactuals.
        table: the records.
        score: the detector's, of the records, [n].
        settings: how to search.
        device: where to.
        advance: called with the number of records done.
    """
    for start in range(0, len(table), BATCH):
        index = torch.arange(start, min(start + BATCH, len(table)))
        part = table.take(index)
        yield Part(part, score[index], method.find(part.ids.to(device), settings).to("cpu"))
        if advance is not None:
            advance(len(index))


@dataclass(frozen=True)
class RecourseResult:
    """Counterfactuals of some records, as `Model.recourse` gives them back.

    Args:
        parts: records and what was found, in order.
        scale: how scores are read.
        evidence: the counts behind explanations.
        method: name of the method.
        like: the user's data, whose frame library the results come in.
        empty: a part without records, for the columns of an empty result.
    """

    parts: tuple[Part, ...]
    scale: Scale
    evidence: Evidence = field(repr=False)
    method: str
    like: Any = field(repr=False)
    empty: Part = field(repr=False)

    def to_frame(self) -> Any:
        """One row a counterfactual, in the library of the input.

        Columns: `record`, `rank` (1 = best), `score`, `percentile`, `valid`, `changed` (the domains), then every
        domain's, and `cost` at the end where costs were given.
        """
        return frame_like(self.to_arrow(), self.like)

    def to_arrow(self) -> pa.Table:
        """The same as an Arrow table."""
        return pa.concat_tables([part.rows(self.scale) for part in self.parts or (self.empty,)])

    @property
    def records(self) -> list[dict[str, Any]]:
        """One dictionary a record: record, score, percentile, flagged, count, exhausted, reason."""
        tables: Iterable[pa.Table] = (part.records(self.scale) for part in self.parts)
        return [row for table in tables for row in table.to_pylist()]

    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write one self-contained HTML page: what was flagged, why, and what would have made it normal.

        Needs the extra `report`. A page that is there already is replaced.
        """
        from carat.report import write_report  # noqa: PLC0415 - the page is made of results, not results of the page

        write_report(self, path, title=title)

    def _repr_html_(self) -> str:
        from carat.report import result_html  # noqa: PLC0415

        return result_html(self)

    def __len__(self) -> int:
        """Number of records."""
        return sum(len(part.table) for part in self.parts)

    def explain(self, record: Any, *, show: int = 5) -> Explanation:
        """Why one record was flagged and what would have made it normal.

        Args:
            record: its row number, or its value in the id column.
            show: how many counterfactuals to show.
        """
        for part in self.parts:
            names = part.table.names_of_records()
            place = np.flatnonzero([name == record for name in names.to_pylist()])
            if len(place):
                one = part.take(torch.from_numpy(place[:1]))
                return explain_part(one, self.scale, self.evidence, show=show)[0]
        raise InputError(f"record {record!r} is not in this result; result.records lists what is")
