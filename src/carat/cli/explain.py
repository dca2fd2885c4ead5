"""`carat explain`: which entities of every record do not belong."""

from __future__ import annotations

from carat.cli.app import DAILY, app, conclude
from carat.cli.options import Data, Device, Force, Json, ModelFolder, OutFile, Quiet, Show


@app.command(rich_help_panel=DAILY)
def explain(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    show: Show = 5,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Say how likely every entity is in its context.

    Columns: record, one likelihood per domain (null where missing), flagged (the domains below 0.5). A terminal shows
    the strangest records among those with a flagged entity, and why.

    Example: [bold]carat explain model shipments.csv --out likelihoods.csv[/bold]
    """
    from carat import jobs
    from carat.cli.terminal import Output, open_model, terminal
    from carat.cli.view import show as show_records
    from carat.results import ExplainBatch

    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device)
    strangest = jobs.Strangest(loaded, output.shown)
    with terminal(quiet=quiet) as observer:
        job = jobs.explain(loaded, data, observer=observer)
        job.into(*output.sinks(ExplainBatch.rows), strangest)
    show_records(strangest.explained)
    total, doubted, flagged = job.summary.records, job.summary.with_flagged, job.summary.flagged
    most = ", ".join(f"{name} {count:,}" for name, count in flagged.most_common(3))
    where = f" ({most})" if most else ""
    conclude(
        f"{output.named}{total:,} records, {doubted:,} with a flagged entity{where}{output.hint(doubted)}",
        {
            "out": output.file,
            "model": loaded.identity,
            "records": total,
            "with_flagged": doubted,
            "flagged": dict(flagged.most_common()),
        },
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
