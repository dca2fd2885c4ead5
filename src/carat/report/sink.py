"""The page as a sink of a job."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from carat.errors import InputError
from carat.files import check_place
from carat.fitting.model import Model
from carat.jobs.recourse_job import RecourseJob
from carat.jobs.sinks import PlainSink
from carat.report.collect import Collector
from carat.report.overview import Overview
from carat.report.page import check_extras, write_collected
from carat.results.ageing import AGED
from carat.results.batches import ResultBatch


class PageSink(PlainSink[ResultBatch]):
    """One self-contained HTML page with the histogram of the whole table, written when all batches have come.

    Args:
        job: what will be poured into it; its scores are listened to.
        path: the page.
        title: the heading; None says which rows of which data.
        force: whether an existing page is replaced.
    """

    def __init__(self, job: RecourseJob, path: str | Path, *, title: str | None = None, force: bool = False) -> None:
        self.path = Path(path)
        check_extras()
        if self.path.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{self.path}: the report is an HTML page; end its name in .html")
        check_place(self.path, force=force)
        self.title = title or f"{_which(job)} in {Path(job.label).name}"
        self.collector = Collector(job.model.scale, job.model.evidence, job.method.name)
        self._scores: list[Tensor] = []
        job.scored.append(self._scores.append)

    def take(self, batch: ResultBatch) -> None:
        """Count it, and keep its strangest records."""
        self.collector.add(batch)

    def part(self) -> Callable[[Model, Path], PagePart]:
        """Makes what takes the batches of a part of the data, in another process."""
        return PagePart

    def merge(self, collector: Collector, folder: Path) -> None:
        """Count the batches of a part, and keep its strangest records."""
        self.collector.merge(collector)

    @property
    def listed(self) -> int:
        """How many records the page lists."""
        return min(len(self.collector.scores), self.collector.limit)

    def finish(self, job: RecourseJob) -> None:
        """Write the page."""
        scores = torch.cat([torch.empty(0), *self._scores])
        scale = self.collector.scale
        anomalous = job.summary.anomalous
        overview = Overview.of(scores, scale.threshold, scale.reference, anomalous=anomalous) if len(scores) else None
        self.collector.origin, self.collector.evidence = job.summary.origin, job.evidence
        self.collector.aged = next((said.text for said in job.summary.remarks if said.code == AGED), None)
        stage = job.observer.stage("writing the page", self.listed)
        write_collected(self.collector, self.path, overview=overview, title=self.title, advance=stage.advance)


class PagePart(PlainSink[ResultBatch]):
    """What a page keeps of a part of the data.

    Args:
        model: what made it.
        place: not needed here.
    """

    def __init__(self, model: Model, place: Path) -> None:
        self.collector = Collector(model.scale, model.evidence, "")

    def take(self, batch: ResultBatch) -> None:
        """Count it, and keep its strangest records."""
        self.collector.add(batch)

    @property
    def outcome(self) -> Collector:
        """What was counted, and no more records than a page lists."""
        return self.collector.cut()


def _which(job: RecourseJob) -> str:
    return "All rows" if job.all else "Anomalous rows" if job.top is None else "Strangest rows"
