"""`carat score`: how normal every row of a table is."""

from __future__ import annotations

from carat.cli.app import DAILY, command, conclude, many
from carat.cli.options import Data, Device, Force, Json, LowestScore, ModelFolder, OutFile, Quantile, Quiet, Show


@command(DAILY)
def score(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    threshold: Quantile = None,
    threshold_score: LowestScore = None,
    show: Show = 5,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score every row. A higher score is more normal.

    Output columns: record (the row number or ID), score, percentile (0 = strangest), anomalous.

    Example: [bold]carat score model shipments.csv --out scores.csv[/bold]
    """
    from carat import jobs
    from carat.cli.terminal import Output, open_model, terminal
    from carat.cli.view import show as show_records
    from carat.results import ScoreBatch

    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device, threshold=threshold, threshold_score=threshold_score)
    strangest = jobs.Strangest(loaded, output.shown)
    with terminal(quiet=quiet) as observer:
        job = jobs.score(loaded, data, observer=observer)
        job.into(*output.sinks(ScoreBatch.rows, {"threshold": loaded.threshold_score}), strangest)
    show_records(strangest.explained, words=False)
    total, anomalous = job.summary.records, job.summary.anomalous
    share = f" ({100 * anomalous / total:.2f}%)" if total else ""
    conclude(
        f"{output.named}{many(total, 'row')}, {anomalous:,} anomalous{share}{output.hint(total)}",
        {"out": output.file, "model": loaded.identity, "records": total, "anomalous": anomalous},
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
