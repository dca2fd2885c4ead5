"""`carat explain`: which values of every row do not belong."""

from __future__ import annotations

from carat.cli.app import DAILY, command, conclude, many
from carat.cli.options import Data, Device, Encoding, Force, Json, ModelFolder, OutFile, Quiet, Ray, Show, Workers

NAMED = 3
"""Columns with the most flagged values that the last line names."""


@command(DAILY)
def explain(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    encoding: Encoding = None,
    show: Show = 5,
    device: Device = "auto",
    ray: Ray = None,
    workers: Workers = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Show how well every value fits the rest of its row.

    Output columns: record (the row number or ID), one likelihood per column (null if the value is missing), flagged
    (the columns with a likelihood below 0.5).

    A terminal shows the strangest rows with a flagged value, and why it was flagged.

    Example: [bold]carat explain model shipments.csv --out likelihoods.csv[/bold]
    """
    from carat import jobs
    from carat.cli.terminal import Output, check_ray, open_model, run_job, terminal
    from carat.cli.view import show as show_records
    from carat.results import ExplainBatch

    check_ray(data, out, ray, workers)
    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device)
    strangest = jobs.Strangest(loaded, output.shown)
    with terminal(quiet=quiet) as observer:
        job = jobs.explain(loaded, data, encoding=encoding, observer=observer)
        run_job(job, data, *output.sinks(ExplainBatch.rows), strangest, ray=ray, workers=workers)
    show_records(strangest.explained)
    total, doubted, flagged = job.summary.records, job.summary.with_flagged, job.summary.flagged
    most = ", ".join(f"{name} {count:,}" for name, count in flagged.most_common(NAMED))
    most += f", {many(len(flagged) - NAMED, 'more column')}" if len(flagged) > NAMED else ""
    where = f" ({most})" if most else ""
    conclude(
        f"{output.named}{many(total, 'row')}, {doubted:,} with a flagged value{where}{output.hint(doubted)}",
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
