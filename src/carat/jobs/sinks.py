"""Where the batches of a job go: a table, the file beside it, the few strangest records."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from carat.auditing.result import AuditResult
from carat.auditing.workbook import write_findings
from carat.data import TableWriter
from carat.data.writers import check_output
from carat.files import check_place, replacing, sidecar_of, write_text
from carat.fitting.model import Model
from carat.results.batches import ExplainBatch, ResultBatch, ScoreBatch, strangest_of
from carat.results.explaining import explain_batch
from carat.results.explanation import Explanation
from carat.results.gate import strangest_first

B = TypeVar("B")


class PlainSink(Generic[B]):
    """A sink that holds nothing open; what others build on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing to close."""

    def take(self, batch: B) -> None:
        """The next batch."""

    def finish(self, job: Any) -> None:
        """All batches have come."""


class TableSink(PlainSink[B]):
    """Rows of every batch into a file by its ending, or as JSON lines to standard output.

    Args:
        path: the file, or `-`.
        make: from a batch to its rows.
        force: whether an existing file is replaced.
    """

    def __init__(self, path: str | Path, make: Callable[[B], pa.Table], *, force: bool = False) -> None:
        self.make = make
        self.writer = TableWriter(path, force=force)

    def __enter__(self) -> Self:
        self.writer.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The file is there whole, or not at all."""
        self.writer.__exit__(kind, error, trace)

    def take(self, batch: B) -> None:
        """Write its rows."""
        self.writer.write(self.make(batch))

    def part(self) -> Callable[[Model, Path], TablePart[B]]:
        """Makes what takes the batches of a part of the data, in another process."""
        return partial(TablePart, self.make)

    def merge(self, part: tuple[str, pa.Schema] | None, folder: Path) -> None:
        """Append the rows of a part, batch by batch as they were written; None where no batch came."""
        if part is None:
            return
        name, schema = part
        with pq.ParquetFile(folder / name) as file:
            for group in range(file.num_row_groups):
                # What a list holds has another name in a file than in memory.
                self.writer.write(file.read_row_group(group).cast(schema))

    def finish(self, job: Any) -> None:
        """A table without rows has its columns all the same."""
        if not self.writer.begun:
            self.writer.write(self.make(job.empty()))


class TablePart(PlainSink[B]):
    """Rows of every batch of a part of the data into a Parquet file of their own, each batch as a row group.

    Args:
        make: from a batch to its rows.
        model: not needed here.
        place: where the file goes, but for its ending.
    """

    def __init__(self, make: Callable[[B], pa.Table], model: Model, place: Path) -> None:
        self.table: TableSink[B] = TableSink(place.with_suffix(".parquet"), make)

    def __enter__(self) -> Self:
        self.table.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The file is there whole, or not at all."""
        self.table.__exit__(kind, error, trace)

    def take(self, batch: B) -> None:
        """Write its rows."""
        self.table.take(batch)

    @property
    def outcome(self) -> tuple[str, pa.Schema] | None:
        """The name of the file, and its columns as they were; None where no batch came."""
        writer = self.table.writer
        return None if writer.schema is None or writer.path is None else (writer.path.name, writer.schema)


class WorkbookSink(PlainSink[AuditResult]):
    """The findings of an audit as an Excel workbook, with the table they are about.

    Args:
        path: the file.
        force: whether an existing file is replaced.
    """

    def __init__(self, path: str | Path, *, force: bool = False) -> None:
        self.path = Path(path)
        check_output(self.path, force=force)
        self._place = ExitStack()

    def __enter__(self) -> Self:
        self._temporary = self._place.enter_context(replacing(self.path))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The file is there whole, or not at all."""
        self._place.__exit__(kind, error, trace)

    def take(self, batch: AuditResult) -> None:
        """Write all of it."""
        write_findings(batch, self._temporary, called=self.path.name)


class Sidecar(PlainSink[Any]):
    """A file beside an output that says what made it: model, data, options, counts.

    Args:
        path: of the output.
        options: of the command, as facts.
        force: whether an existing file is replaced.
    """

    def __init__(self, path: str | Path, options: Mapping[str, Any] | None = None, *, force: bool = False) -> None:
        self.path = sidecar_of(path)
        self.options = dict(options or {})
        self.text: str | None = None
        check_place(self.path, force=force)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Written where all went well; given to a job before the table, it is left after the table."""
        if kind is None and self.text is not None:
            write_text(self.path, self.text)

    def finish(self, job: Any) -> None:
        """The summary is complete."""
        summary = job.summary
        about = {
            "job": job.name,
            "origin": summary.origin.to_json(),
            "options": self.options,
            "summary": summary.facts(),
            "remarks": [remark.text for remark in summary.remarks],
        }
        self.text = json.dumps(about, ensure_ascii=False, indent=1, default=str) + "\n"


class Strangest(PlainSink[Any]):
    """The few strangest records, by alarm and then score, explained, gathered while the batches go by.

    Args:
        model: explains.
        limit: how many.
        show: counterfactuals of each.
    """

    def __init__(self, model: Model, limit: int, *, show: int = 3) -> None:
        self.model, self.limit, self.show = model, limit, show
        self.explained: list[Explanation] = []
        self._kept: list[ResultBatch] = []

    def take(self, batch: ScoreBatch | ExplainBatch | ResultBatch) -> None:
        """Keep what is stranger than what was kept so far; of an explanation, records with a flagged entity alone."""
        if not self.limit:
            return
        if isinstance(batch, ExplainBatch):
            batch = batch.take(torch.nonzero(batch.flagged.any(dim=1)).flatten())
        rows = strangest_first(batch.score, batch.alarm)[: self.limit]
        self._kept = strangest_of([*self._kept, self._searched(batch, rows)], self.limit)

    def part(self) -> Callable[[Model, Path], StrangestPart]:
        """Makes what takes the batches of a part of the data, in another process."""
        return partial(StrangestPart, self.limit)

    def merge(self, kept: list[ResultBatch], folder: Path) -> None:
        """Keep what is stranger in a part of the data than what was kept so far."""
        self._kept = strangest_of([*self._kept, *kept], self.limit)

    @property
    def outcome(self) -> list[ResultBatch]:
        """What is kept so far."""
        return self._kept

    def finish(self, job: Any) -> None:
        """Explain what is kept: only now it is known whether the records were learned from."""
        found = [one for batch in self._kept for one in explain_batch(batch, job.evidence, show=self.show)]
        self.explained = sorted(found, key=Explanation.place)

    def _searched(self, batch: ScoreBatch | ExplainBatch | ResultBatch, rows: torch.Tensor) -> ResultBatch:
        """Some records of a batch as a result; the explainer is asked about the few that count."""
        if isinstance(batch, ResultBatch):
            return batch.take(rows)
        few, explainer = batch.table.take(rows), self.model.explainer
        if isinstance(batch, ExplainBatch):
            likelihood = batch.likelihood[rows]
        elif explainer is None:
            likelihood = torch.full(few.ids.shape, torch.nan)
        else:
            likelihood = explainer.likelihood(few.ids).cpu()
        alarm = None if batch.alarm is None else batch.alarm[rows]
        return ResultBatch.unsearched(few, batch.score[rows], likelihood, self.model.scale, alarm=alarm)


class StrangestPart(Strangest):
    """The few strangest records of a part of the data.

    Args:
        limit: how many.
        model: explains.
        place: not needed here.
    """

    def __init__(self, limit: int, model: Model, place: Path) -> None:
        super().__init__(model, limit)


class JsonSink(PlainSink[ResultBatch]):
    """Every record with its explanation and counterfactuals, one JSON object per line; see `Explanation.to_json`.

    Args:
        model: explains.
        write: is given each line.
    """

    def __init__(self, model: Model, write: Callable[[str], Any]) -> None:
        self.model, self.write = model, write

    def take(self, batch: ResultBatch) -> None:
        """Explain and write."""
        for explanation in explain_batch(batch, self.model.evidence, show=None):
            self.write(json.dumps(explanation.to_json(), ensure_ascii=False))
