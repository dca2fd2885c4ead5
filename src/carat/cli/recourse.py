"""`carat recourse`: what would have made the anomalous records normal."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import DAILY, app, conclude, say
from carat.cli.options import (
    Data,
    Device,
    Force,
    Json,
    LowestScore,
    ModelFolder,
    OutFile,
    Quantile,
    Quiet,
    Show,
    one_of,
)
from carat.errors import InputError

METHODS = ("carat-plus", "carat", "instant", "replace-m", "replace-2", "xformer-r", "rceaa")


@app.command(rich_help_panel=DAILY)
def recourse(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    k: Annotated[int, typer.Option("--k", min=1, help="Counterfactuals a record, at most.")] = 50,
    method: Annotated[
        str | None,
        typer.Option(
            metavar="carat-plus|carat|instant|…",
            help="Default: the best the model can do. Baselines: replace-m, replace-2, xformer-r, rceaa.",
            show_default=False,
            autocompletion=one_of(*METHODS),
        ),
    ] = None,
    top: Annotated[
        int | None, typer.Option("--top", min=1, metavar="N", help="The N strangest records, anomalous or not.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="Every record, not only the anomalous ones.")] = False,
    threshold: Quantile = None,
    threshold_score: LowestScore = None,
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
        typer.Option(min=1, help="Combinations a record. Default: 200,000; 2,000 without a closed form."),
    ] = None,
    seconds: Annotated[float, typer.Option(help="For a batch of 256 records; then a quicker search.")] = 60.0,
    show: Show = 5,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Find what would have made anomalous records normal.

    One row a counterfactual: record, rank (1 = best), score, percentile, valid, changed (the domains), then every
    domain's column. Beside FILE, FILE.records.jsonl has one line a record: how many were found, whether the search was
    exhausted, and the reason if anything stood in the way.

    Without --out a terminal shows the strangest records and their best repairs:

    Example: [bold]carat recourse model shipments.csv --top 20[/bold]

    Example: [bold]carat recourse model shipments.csv --top 200 --out repairs.csv --report page.html[/bold]
    """
    if top is not None and every:
        raise InputError("give --top or --all, not both")
    from carat.cli.recourse_job import Job, check_files, records_file
    from carat.cli.stream import Output, open_model
    from carat.model import as_constraints
    from carat.recourse import Settings

    settings = Settings(
        k=k,
        neighbours=neighbours,
        constraints=as_constraints(constraints),
        diversity=diversity,
        budget=budget,
        seconds=seconds,
    )
    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet, reported=report is not None)
    check_files(output, report)
    loaded = open_model(model, device, threshold=threshold, threshold_score=threshold_score)
    unknown = settings.constraints.resolve(loaded.vocabulary).unknown
    if unknown:
        more = f" and {len(unknown) - 5:,} more" if len(unknown) > 5 else ""
        say(f"constraints: never seen in training, so without effect: {', '.join(unknown[:5])}{more}", quiet=quiet)
    chosen = loaded.method(method, prefer=prefer)
    job = Job(loaded, chosen, settings, output, page=report)
    job.run(data, top=top, every=every)
    where = records_file(output)
    conclude(
        f"{output.named}{job.records:,} records, {job.found:,} counterfactuals by {chosen.name}"
        + (f", {job.without:,} records without any" if job.without else "")
        + (f" (why: {where})" if job.without and where else "")
        + output.hint(job.records),
        {
            "out": output.file,
            "report": None if report is None else str(report),
            "method": chosen.name,
            "records": job.records,
            "counterfactuals": job.found,
            "without_any": job.without,
        },
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
    if report is not None:
        say(f"{report}: {job.on_page:,} records to look at", quiet=quiet or as_json)
