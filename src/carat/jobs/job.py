"""What all jobs share: reading, remarks, the summary, cancellation, and the way into sinks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from carat._version import __version__
from carat.arguments import check_flag
from carat.data import Sketch, Table, open_source
from carat.data.sources import check_needed
from carat.data.sources.frames import check_row
from carat.errors import InputError
from carat.fitting.model import Model, opened
from carat.jobs.summary import Cancel, Part, Sink, Summary
from carat.jobs.tally import Tally
from carat.observing import Observer, Remark, Silent
from carat.results.ageing import AGED, Usual, in_words
from carat.results.clearing import JUDGED
from carat.results.evidence import Evidence
from carat.results.origin import Origin

__all__ = ["Cancel", "Job", "Part", "Sink", "Summary", "pieces", "pour"]

PIECE = 8_192
"""Records that go through a model between two steps of a progress bar."""

B = TypeVar("B")


class Job(ABC, Generic[B]):
    """One pass of a table through a model, in batches. It can be iterated once.

    Args:
        model: the model.
        data: a frame, a path, `-` for standard input, the name of a dataset, or records as ids (`Table`).
        gate: `both` lists records by score and alarm, `score` by the score alone.
        judge_all: whether the judge is asked about every record, or only about those that the pair counts do not clear;
            None asks about every one of a table of up to `JUDGED`, and of the first so many where nobody knows how many
            there are.
        encoding: of a CSV file; None is UTF-8.
        observer: is told of progress and remarks.
        cancel: stops the job between two batches.
    """

    name: str
    """As the command line calls it."""
    summary: Summary

    def __init__(
        self,
        model: Model,
        data: Any,
        *,
        gate: str = "both",
        judge_all: bool | None = None,
        encoding: str | None = None,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.model = model.with_gate(gate)
        self.judge_all = None if judge_all is None else check_flag("judge_all", judge_all)
        self.gated = "score" if self.model.gate is None else "both"
        self.data = data if isinstance(data, Table) else opened(data)
        if isinstance(data, list | tuple) and not data:  # nobody asks about anything today
            self.data = model.no_rows()
        check_row(self.data, model.schema.domains)
        self.observer, self.cancel = observer or Silent(), cancel or Cancel()
        self.detector = model.detector_for(None if isinstance(data, Table) else self.data)
        self.scored: list[Any] = []
        """Called with the scores [n] of all records that are looked at, those that do not come out among them."""
        self.tally = Tally.of(model)
        self._usual = Usual.from_json(model.training["usual"]) if "usual" in model.training else None
        self._looked_at = 0
        self._begun = False
        self._pairs = model.pairs.to("cpu")
        self._source = None if isinstance(data, Table) else open_source(self.data, once=True, encoding=encoding)
        if self._source is not None:
            check_needed(self._source, model.vocabulary.names)
        self.label = "rows" if self._source is None else self._source.label
        self._rows = len(data) if self._source is None else self._source.about_rows()

    def __iter__(self) -> Iterator[B]:
        """The batches; each is complete when it comes."""
        self._begin()
        for batch in self._batches():
            self.cancel.check()
            yield batch
            self.cancel.check()
        self._end()

    def _begin(self) -> None:
        if self._begun:
            raise InputError("a job runs once; make another one for another run")
        self._begun = True
        self._remark_ambiguous()
        self._remark_before()

    def _end(self) -> None:
        self._remark_after()
        self._remark_row_ids()
        self._conclude()

    @abstractmethod
    def _batches(self) -> Iterator[B]:
        """The work itself; counts into the summary."""

    def _remark_before(self) -> None:
        """What is worth a remark before any record is read."""

    def _remark_after(self) -> None:
        """What is worth a remark when all records are read."""

    @abstractmethod
    def empty(self) -> B:
        """A batch without records, for its columns."""

    def into(self, *sinks: Sink[B]) -> Summary:
        """Run to the end, every batch into every sink; where something goes wrong, no sink keeps half of it."""
        pour(self, sinks)
        return self.summary

    def recipe(self) -> Callable[[Model, Any], Job[B]]:
        """Makes a job like this one for the same model and a part of the data; it can be sent to another process."""
        raise InputError(f"carat {self.name} can't be spread over machines")

    def run_part(self, *sinks: Sink[B]) -> Part:
        """Run over a part of a table that does not begin it: no remarks, and nothing is concluded; see `gather`."""
        self.tally, self._begun = Tally.of(self.model, later=True), True
        with ExitStack() as stack:
            for sink in sinks:
                stack.enter_context(sink)
            for batch in self._batches():
                for sink in sinks:
                    sink.take(batch)
        return Part(self.tally, self.summary)

    def gather(self, parts: Iterable[Part]) -> Summary:
        """Instead of a run: what jobs like this one did with all parts of the table, in order."""
        self._begin()
        for part in parts:
            self.cancel.check()
            self.tally.merge(part.tally)
            self.summary.merge(part.summary)
            for listener in self.scored:
                for score in part.scores:
                    listener(score)
        self._end()
        return self.summary

    @property
    def judges_all(self) -> bool:
        """Whether the judge is asked about every record, where the number of records is known."""
        return self._judges(self._rows or 0)

    def _judges(self, rows: int) -> bool:
        return rows <= JUDGED if self.judge_all is None else self.judge_all

    def _tables(self) -> Iterator[Table]:
        """The records as ids, as they are read; counted, and looked at for entities that training never met."""
        parts = iter([self.data]) if self._source is None else self.model.stream(self._source)
        for part in parts:
            self.cancel.check()
            yield part
            self.summary.read += len(part)
            self.tally.add(part, self.model, self._pairs)

    def _score(self, ids: Tensor) -> Tensor:
        """The detector's scores, on the CPU, [n]; whoever listens to `scored` hears of them."""
        score = self.detector.score(ids).cpu()
        if self._usual is not None and self._usual.low is not None:
            self.tally.counted.add("low", score < self._usual.low)
        for listener in self.scored:
            listener(score)
        return score

    def _alarm(self, ids: Tensor) -> Tensor | None:
        """The judge's alarms, on the CPU, [n], NaN where records are cleared without it; None without a gate."""
        gate = self.model.gate
        if gate is None:
            return None
        self._looked_at += len(ids)
        if self._judges(self._looked_at if self._rows is None else self._rows):
            return self.model.alarm(ids)
        alarm = torch.full((len(ids),), torch.nan)
        doubtful = ~(self.model.clearing.support(ids) > gate.clears_above)
        found = self.model.alarm(ids[doubtful])
        assert found is not None
        alarm[doubtful] = found
        self.tally.cleared += len(ids) - len(found)
        return alarm

    def remark(self, code: str, text: str, *, warning: bool = False) -> None:
        """For the observer, and for the summary."""
        said = Remark(code, text, warning)
        self.summary.remarks.append(said)
        self.observer.remark(said)

    @property
    def numbered(self) -> bool:
        """Whether `record` is the number of a row, and not an ID or an index label."""
        named = self.data.record if isinstance(self.data, Table) else getattr(self._source, "index", None)
        return named is None and (isinstance(self.data, Table) or self.model.schema.id is None)

    @property
    def learned_from(self) -> str | None:
        """How many of the records read are training records, in words: all, most, or None where there is no sign."""
        training = self.model.training
        sketch = Sketch.from_json(training["sketch"]) if "sketch" in training else None
        shuffled = sketch is not None and sketch.same_rows(self.tally.gathered)
        if shuffled or self.tally.met.text() == training.get("fingerprint"):
            return f"{training['records']:,}"
        return "most" if sketch is not None and sketch.most_of(self.tally.gathered) else None

    @property
    def evidence(self) -> Evidence:
        """What explanations of the records read so far go by: none that was learned from is its own precedent."""
        evidence = self.model.evidence
        return evidence if self.learned_from is None else evidence.of_training()

    def _conclude(self) -> None:
        self.summary.origin = Origin(
            __version__,
            self.model.identity,
            self.label,
            self.tally.met.text(),
            self.summary.read,
            datetime.now(UTC).isoformat(timespec="seconds"),
            self.model.holds_records,
        )

    def _remark_ambiguous(self) -> None:
        """Whoever looks a record up by its index label must know where that is not what `record` holds."""
        why = getattr(self._source, "ambiguous", None)
        if why is not None and self.model.schema.id is None:
            self.remark(
                "index",
                f"the index of the frame {why}, so `record` is the position of a row, counted from 0: call "
                "reset_index() first, or name a column that identifies the rows with `id` when you fit",
                warning=True,
            )

    def _remark_row_ids(self) -> None:
        """An output is keyed by the id column; whoever looks rows up by it must know where it repeats."""
        shared = None if self.tally.row_ids is None else self.tally.row_ids.in_words()
        if shared is not None:
            self.remark("row-ids", shared, warning=True)

    def _remark_if_learned(self) -> None:
        """A record that was learned from has vouched for itself; whoever asks about such records should know."""
        learned = self.learned_from
        if learned is not None:
            self.remark(
                "learned-from",
                f"the model learned from {learned} of these rows, so they look more normal than they are: rank them "
                "instead of relying on the threshold",
                warning=True,
            )

    def _count_listed(self, listed: Tensor) -> None:
        """Records that are anomalous, bool [n]; with other cuts than those of the fit the share would say nothing."""
        scale = self.model.scale
        if self._usual is not None and self._usual.cuts == (scale.threshold, scale.alarm):
            self.tally.counted.add("listed", listed)

    def _remark_if_aged(self) -> None:
        """Records that were learned from can't show a model's age."""
        self.summary.shares = {name: round(share, 6) for name, share in self.tally.counted.shares().items()}
        aged = in_words(self._usual, self.tally.counted)
        if aged is not None and self.learned_from is None:
            self.remark(AGED, aged, warning=True)

    def _remark_cleared(self) -> None:
        if self.tally.cleared:
            self.remark(
                "cleared",
                f"{self.tally.cleared:,} rows were not judged, as the counts show nothing suspicious; "
                "their alarm is empty",
            )

    def _remark_unseen(self) -> None:
        said = self.tally.unseen_in_words()
        if said is not None:
            self.remark("unseen", said)


def pour(job: Iterable[B], sinks: Sequence[Sink[B]]) -> None:
    """Run a job to its end, every batch into every sink."""
    with ExitStack() as stack:
        for sink in sinks:
            stack.enter_context(sink)
        for batch in job:
            for sink in sinks:
                sink.take(batch)
        for sink in sinks:
            sink.finish(job)


def pieces(table: Table) -> Iterator[Table]:
    """A table in parts of `PIECE` records."""
    if len(table) <= PIECE:
        yield table
        return
    for index in torch.arange(len(table)).split(PIECE):
        yield table.take(index)
