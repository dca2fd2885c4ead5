"""`carat recourse`: what would have made the anomalous records normal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import torch
import typer
from torch import Tensor

from carat.cli.app import app, say
from carat.cli.options import Data, Device, Force, ModelFolder, OutFile, Quiet
from carat.cli.stream import open_model
from carat.data import TableWriter, open_source
from carat.data.writers import check_output, check_place
from carat.datasets import Dataset
from carat.errors import InputError
from carat.model import Model, as_constraints
from carat.names import named_data
from carat.recourse import Method, Settings
from carat.recourse.evidence import Evidence
from carat.recourse.result import Part, run
from carat.report import Collector, Overview, check_extras, write_collected
from carat.training import terminal_progress


@app.command()
def recourse(
    model: ModelFolder,
    data: Data,
    out: OutFile,
    k: Annotated[int, typer.Option("--k", min=1, help="Counterfactuals a record, at most.")] = 50,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="carat-plus|carat|instant|…",
            help="Default: the best the model can do. Baselines: replace-m, replace-2, xformer-r, rceaa.",
            show_default=False,
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, metavar="N", help="Only the N most anomalous records.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every record, not only the anomalous ones.")] = False,
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="What may change, in TOML; see the documentation.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="page.html", help="Also one page to look at, in any browser.")
    ] = None,
    prefer: Annotated[float, typer.Option(min=0, max=1, help="From 0 (plausible) to 1 (valid to the detector).")] = 0.5,
    diversity: Annotated[float, typer.Option(min=0, max=1, help="0: the best; towards 1: the most different.")] = 0.0,
    neighbours: Annotated[int, typer.Option(min=1, help="Candidates of each source.")] = 100,
    budget: Annotated[
        int | None,
        typer.Option(min=1, help="Combinations a record. [default: 200,000; 2,000 without a closed form]"),
    ] = None,
    seconds: Annotated[float, typer.Option(help="For a batch of 256 records; then a quicker search.")] = 60.0,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Find what would have made anomalous records normal.

    One row a counterfactual: record, rank (1 = best), score, percentile, valid, changed (the domains), then every
    domain's column. Beside FILE, FILE.records.jsonl has one line a record: how many were found, whether the search was
    exhausted, and the reason if anything stood in the way.

    Example: [bold]carat recourse model shipments.csv --out repairs.csv --top 100[/bold]
    """
    if top is not None and every:
        raise InputError("give --top or --all, not both")
    settings = Settings(
        k=k,
        neighbours=neighbours,
        constraints=as_constraints(constraints),
        diversity=diversity,
        budget=budget,
        seconds=seconds,
    )
    if out != "-":
        check_output(_records_file(out), force=force)
    if report is not None:
        _check_report(report, force=force)
    loaded = open_model(model, out, device, force=force)
    unknown = settings.constraints.resolve(loaded.vocabulary).unknown
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        say(f"constraints: never seen in training, so without effect: {', '.join(unknown[:5])}{more}", quiet=quiet)
    chosen = loaded.method(method, prefer=prefer)
    page = Page(loaded, chosen.name) if report is not None else None
    records, found, without = _write(
        loaded, chosen, settings, data, out, top=top, every=every, force=force, quiet=quiet, page=page
    )
    say(
        f"{out}: {records:,} records, {found:,} counterfactuals by {chosen.name}"
        + (f", {without:,} records without any (why: {_records_file(out)})" if without and out != "-" else ""),
        quiet=quiet,
    )
    if page is not None and report is not None:
        page.write(report)
        say(f"{report}: {min(records, page.collector.limit):,} records to look at", quiet=quiet)


class Page:
    """What the report needs, gathered while the records go by."""

    def __init__(self, model: Model, method: str) -> None:
        self.collector = Collector(model.scale, Evidence(model.pairs, model.vocabulary), method)
        self.scores: list[Tensor] = []

    def write(self, path: Path) -> None:
        """The page, with all scored records at a glance."""
        scores = torch.cat([torch.empty(0), *self.scores])
        overview = Overview.of(scores, self.collector.scale.threshold) if len(scores) else None
        write_collected(self.collector, path, overview=overview)


def _check_report(path: Path, *, force: bool) -> None:
    check_extras()
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{path}: a report is a page, name it .html")
    check_place(path, force=force)


def _records_file(out: str) -> Path:
    return Path(f"{out}.records.jsonl")


def _write(
    model: Model,
    method: Method,
    settings: Settings,
    data: str,
    out: str,
    *,
    top: int | None,
    every: bool,
    force: bool,
    quiet: bool,
    page: Page | None,
) -> tuple[int, int, int]:
    """Part by part into the two files; how many records, counterfactuals, and records without any."""
    records = found = without = 0
    with ExitStack() as stack:
        lines = None if out == "-" else stack.enter_context(TableWriter(_records_file(out), force=force))
        rows = stack.enter_context(TableWriter(out, force=force))
        scale = model.scale
        empty = model.empty_part(settings)
        rows.write(empty.rows(scale))
        if lines is not None:
            lines.write(empty.records(scale))
        for part in _parts(model, method, settings, data, top=top, every=every, quiet=quiet, page=page):
            if page is not None:
                page.collector.add(part)
            made, about = part.rows(scale), part.records(scale)
            rows.write(made)
            if lines is not None:
                lines.write(about)
            records += about.num_rows
            found += made.num_rows
            without += int((about["count"].to_numpy() == 0).sum())
    return records, found, without


def _parts(
    model: Model,
    method: Method,
    settings: Settings,
    data: str,
    *,
    top: int | None,
    every: bool,
    quiet: bool,
    page: Page | None,
) -> Iterator[Part]:
    """A batch at a time, with a progress bar."""
    opened = named_data(data)
    source = open_source(opened.table if isinstance(opened, Dataset) else opened, once=True)
    with terminal_progress(quiet=quiet) as progress:
        scored = None if page is None else page.scores.append
        for number, (table, score) in enumerate(model.wanted(source, top=top, all=every, scored=scored), start=1):
            bar = progress.stage(f"recourse, part {number}" if number > 1 else "recourse", len(table))
            yield from run(method, table, score, settings, model.device, bar.advance)
