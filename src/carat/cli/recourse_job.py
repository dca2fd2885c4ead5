"""The work of `carat recourse`: part by part into the files, the page and the terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import torch
from torch import Tensor

from carat.cli.app import CONSOLE
from carat.cli.stream import Output, Strangest, open_data, say_if_learned
from carat.data import Fingerprint, Table, TableWriter
from carat.data.writers import check_output, check_place
from carat.errors import InputError
from carat.model import Model
from carat.recourse import Method, Settings
from carat.recourse.evidence import Evidence
from carat.recourse.result import Part, run
from carat.report import Collector, Overview, check_extras, write_collected
from carat.training import terminal_progress


def records_file(output: Output) -> Path | None:
    """The file beside the output with a line about every record."""
    return None if output.file in (None, "-") else Path(f"{output.file}.records.jsonl")


def check_files(output: Output, page: Path | None) -> None:
    """Refuse, before any work, what could not be written at its end."""
    beside = records_file(output)
    if beside is not None:
        check_output(beside, force=output.force)
    if page is not None:
        check_extras()
        if page.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"{page}: a report is a page, name it .html")
        check_place(page, force=output.force)


class Job:
    """Recourse for the records of a table, counted while it runs.

    Args:
        model: knows the table.
        method: finds counterfactuals.
        settings: how to search.
        output: where the rows go, and how many records a terminal shows.
        page: where to write the report; None for none.
    """

    def __init__(self, model: Model, method: Method, settings: Settings, output: Output, *, page: Path | None) -> None:
        self.model, self.method, self.settings, self.output, self.page = model, method, settings, output, page
        self.records = self.found = self.without = self.on_page = 0
        self._strangest = Strangest(model, output.shown)
        self._collector = Collector(model.scale, Evidence(model.pairs, model.vocabulary), method.name)
        self._scores: list[Tensor] = []
        self._title = ""

    def run(self, data: str, *, top: int | None, every: bool) -> None:
        """Find, write and show."""
        name = "standard input" if data == "-" else Path(data).name
        which = "Records" if every else "Anomalous records" if top is None else "Strangest records"
        self._title = f"{which} of {name}"
        scale = self.model.scale
        beside = records_file(self.output)
        with ExitStack() as stack:
            files = [
                stack.enter_context(TableWriter(path, force=self.output.force))
                for path in (beside, self.output.file)
                if path is not None
            ]
            makers = [Part.records, Part.rows][-len(files) :] if files else []
            for part in self._parts(data, top=top, every=every):
                self._count(part)
                for file, make in zip(files, makers, strict=True):
                    file.write(make(part, scale))
            for file, make in zip(files, makers, strict=True):
                if not file.begun:
                    file.write(make(self.model.empty_part(self.settings), scale))
        if self.page is not None:
            self._write_page(self.page)
        self._strangest.show()

    def _count(self, part: Part) -> None:
        found = part.outcome.mask.sum(dim=1)
        self.records += len(part.table)
        self.found += int(found.sum())
        self.without += int((found == 0).sum())
        if self.page is not None:
            self._collector.add(part)
        if self.output.shown:
            self._strangest.add(part)

    def _write_page(self, path: Path) -> None:
        scores = torch.cat([torch.empty(0), *self._scores])
        overview = Overview.of(scores, self.model.scale.threshold) if len(scores) else None
        self.on_page = min(self.records, self._collector.limit)
        with terminal_progress(quiet=self.output.quiet, console=CONSOLE) as progress:
            stage = progress.stage("report", self.on_page)
            write_collected(self._collector, path, overview=overview, title=self._title, advance=stage.advance)

    def _parts(self, data: str, *, top: int | None, every: bool) -> Iterator[Part]:
        """A batch at a time; one bar for reading and scoring, one for the search, which grows with what is found."""
        source = open_data(data)
        with terminal_progress(quiet=self.output.quiet, console=CONSOLE) as progress:
            scoring = progress.stage("scoring", source.about_rows())
            searching, met = None, Fingerprint()

            def scored(table: Table, scores: Tensor) -> None:
                met.add(table.ids)
                scoring.advance(len(scores))
                if self.page is not None:
                    self._scores.append(scores)

            for table, score in self.model.wanted(source, top=top, all=every, scored=scored):
                if top is not None:
                    scoring.finish()
                if searching is None:
                    searching = progress.stage("recourse", 0)
                searching.more(len(table))
                yield from run(self.method, table, score, self.settings, self.model.device, searching.advance)
            scoring.finish()
        if top is None and not every:
            say_if_learned(self.model, met, quiet=self.output.quiet)
