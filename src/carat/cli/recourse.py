"""`carat recourse`: find what would have made unusual rows normal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carat.cli.app import DAILY, command, conclude, many, say
from carat.cli.options import (
    FLAG,
    Data,
    Device,
    Encoding,
    Force,
    Gate,
    Json,
    LowestScore,
    ModelFolder,
    OutFile,
    Quantile,
    Quiet,
    Ray,
    Show,
    Workers,
    one_of,
)
from carat.errors import InputError
from carat.registry import methods

if TYPE_CHECKING:
    from carat.cli.terminal import Output
    from carat.jobs import Sink
    from carat.jobs.recourse_job import RecourseJob
    from carat.report import PageSink
    from carat.results import ResultBatch


def _methods() -> list[str]:
    """Those that work on a model alone."""
    return [name for name, entry in methods().items() if "records" not in entry.needs]


@command(DAILY)
def recourse(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    k: Annotated[int, typer.Option("--k", metavar="K", min=1, help="Suggested fixes per row, at most.")] = 50,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="How to search: carat-plus, instant, or the paper's carat. Default: the best for the model. "
            "Baselines: replace-m, replace-2, xformer-r, rceaa.",
            show_default=False,
            autocompletion=one_of(_methods),
        ),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="Take the first N rows, highest alarm first, anomalous or not."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", metavar=FLAG, help="Take every row, not only the anomalous ones.")
    ] = False,
    threshold: Quantile = None,
    threshold_score: LowestScore = None,
    gate: Gate = "both",
    constraints: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file that says what may change.")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="page.html", help="Also write a page that opens in any browser.")
    ] = None,
    prefer: Annotated[
        float, typer.Option(metavar="P", min=0, max=1, help="From 0 (the most plausible fixes) to 1 (the best scores).")
    ] = 0.5,
    diversity: Annotated[
        float, typer.Option(metavar="P", min=0, max=1, help="From 0 (the best fixes) to 1 (the most varied).")
    ] = 0.0,
    neighbours: Annotated[
        int, typer.Option(metavar="N", min=1, help="Values to try per column, from each source.")
    ] = 100,
    budget: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Combinations to try per row. Default: 200,000, or 2,000 for a detector of your own.",
        ),
    ] = None,
    seconds: Annotated[
        float, typer.Option(metavar="S", help="Time for 256 rows; after that, the search is quicker and rougher.")
    ] = 60.0,
    shortlist: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Fixes per row that the transformer of carat-plus reads, the most promising ones. Default: 8.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    show: Show = 5,
    device: Device = "auto",
    ray: Ray = None,
    workers: Workers = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find what would have made unusual rows normal.

    Without --top or --all, carat looks at the anomalous rows: those with a low score or a high alarm. A terminal shows
    those with the highest alarm and their best suggested fixes.

    FILE gets one row per suggested fix: record (the row number or ID), rank (1 = best), score, percentile, valid (its
    score is not below the threshold), changed (the columns with a new value), then the columns the model uses, with
    the fix applied.

    FILE.records.jsonl gets one line per row that carat looked at: how many fixes it found, whether it tried
    everything, and why there are not more. With --json and without --out, you get one JSON object per row, with its
    explanation and all its fixes.

    Example: [bold]carat recourse model shipments.csv --top 20[/bold]

    Example: [bold]carat recourse model shipments.csv --top 200 --out fixes.csv --report page.html[/bold]
    """
    if top is not None and every:
        raise InputError("use --top or --all, not both")
    from carat import jobs
    from carat.cli.terminal import Output, check_ray, open_model, run_job, terminal
    from carat.cli.view import show as show_records
    from carat.recourse import Constraints, Settings

    settings = Settings(
        k=k,
        neighbours=neighbours,
        constraints=Constraints.of(constraints),
        diversity=diversity,
        prefer=prefer,
        budget=budget,
        seconds=seconds,
        shortlist=shortlist,
    )
    check_ray(data, out, ray, workers)
    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet, reported=report is not None)
    beside = _check_files(output, report)
    loaded = open_model(model, device, threshold=threshold, threshold_score=threshold_score, gate=gate)
    strangest = jobs.Strangest(loaded, output.shown)
    with terminal(quiet=quiet) as observer:
        job = jobs.recourse(
            loaded, data, settings, method=method, top=top, all=every, encoding=encoding, observer=observer
        )
        page = None if report is None else _page(job, report, force=force)
        sinks = _sinks(job, output, beside, whole_records=as_json and out is None)
        run_job(job, data, *sinks, strangest, *([page] if page else []), ray=ray, workers=workers)
    show_records(strangest.explained)
    done = job.summary
    conclude(
        f"{output.named}{many(done.counterfactuals, 'suggested fix', 'suggested fixes')} for "
        f"{_served(done.records, done.records_without_repair)} (method {job.method.name})"
        f"{_without_any(done.records_without_repair, done.records_only_blank, beside)}{output.hint(done.records)}",
        {
            "out": output.file,
            "report": None if report is None else str(report),
            "model": loaded.identity,
            "method": job.method.name,
            "records": done.records,
            "counterfactuals": done.counterfactuals,
            "records_without_repair": done.records_without_repair,
            "records_only_blank": done.records_only_blank,
        },
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
    if page is not None:
        say(f"{report}: {many(page.listed, 'row')} to look at in a browser", quiet=quiet or as_json)


def _served(rows: int, without: int) -> str:
    """How many rows the fixes are for.

    >>> _served(5, 0), _served(5, 1)
    ('5 rows', '4 of 5 rows')
    """
    return many(rows, "row") if not without else f"{rows - without:,} of {many(rows, 'row')}"


def _without_any(rows: int, blank: int, beside: Path | None) -> str:
    """A part of the last line: how many rows have no fix, and where to read why.

    >>> _without_any(3, 0, Path("f.records.jsonl"))
    '; 3 rows have none (see f.records.jsonl)'
    >>> _without_any(3, 2, None)
    '; 1 row has none; 2 rows have only blanks to fill: carat audit suggests values'
    """
    said = ""
    if rows > blank:
        said += f"; {many(rows - blank, 'row has', 'rows have')} none" + (f" (see {beside})" if beside else "")
    if blank:
        said += f"; {many(blank, 'row has', 'rows have')} only blanks to fill: carat audit suggests values"
    return said


def _check_files(output: Output, page: Path | None) -> Path | None:
    """Refuse, before any work, what could not be written at its end; the file with a line about every row."""
    from carat.data.writers import check_output
    from carat.files import check_place
    from carat.report import check_extras

    beside = None if output.file in (None, "-") else Path(f"{output.file}.records.jsonl")
    if beside is not None:
        check_output(beside, force=output.force)
    if page is not None:
        check_extras()
        check_place(page, force=output.force)
    return beside


def _page(job: RecourseJob, path: Path, *, force: bool) -> PageSink:
    from carat.report import PageSink

    return PageSink(job, path, force=force)


def _sinks(job: RecourseJob, output: Output, beside: Path | None, *, whole_records: bool) -> list[Sink[ResultBatch]]:
    """The rows and the file beside them, or with --json every record with all that is known of it."""
    from carat.jobs.sinks import JsonSink, TableSink
    from carat.results import ResultBatch

    if whole_records:
        return [JsonSink(job.model, typer.echo)]
    records: list[Sink[ResultBatch]] = []
    if beside is not None:
        records.append(TableSink(beside, ResultBatch.records, force=output.force))
    return [*records, *output.sinks(ResultBatch.rows, job.facts())]
