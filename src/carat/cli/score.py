"""`carat score`: how normal every row of a table is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from carat.cli.app import DAILY, command, conclude, many
from carat.cli.options import (
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
)

if TYPE_CHECKING:
    from carat.results import Scale


@command(DAILY)
def score(
    model: ModelFolder,
    data: Data,
    out: OutFile = None,
    threshold: Quantile = None,
    threshold_score: LowestScore = None,
    gate: Gate = "both",
    encoding: Encoding = None,
    show: Show = 5,
    device: Device = "auto",
    ray: Ray = None,
    workers: Workers = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score every row. A higher score is more normal.

    Output columns: record (the row number or ID), score, percentile (0 = least normal), anomalous, alarm (the
    probability that some value of the row is wrong; empty if the model has no memory, or --gate is score).

    A row is anomalous if its score is low or its alarm is high. In tables of more than 100,000 rows, rows in which the
    counts show nothing wrong get no alarm.

    Example: [bold]carat score model shipments.csv --out scores.csv[/bold]
    """
    from carat import jobs
    from carat.cli.terminal import Output, check_ray, open_model, run_job, terminal
    from carat.cli.view import show as show_records
    from carat.results import ScoreBatch

    check_ray(data, out, ray, workers)
    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device, threshold=threshold, threshold_score=threshold_score, gate=gate)
    strangest = jobs.Strangest(loaded, output.shown)
    with terminal(quiet=quiet) as observer:
        job = jobs.score(loaded, data, encoding=encoding, observer=observer)
        sinks = output.sinks(ScoreBatch.rows, _cuts(loaded.scale))
        run_job(job, data, *sinks, strangest, ray=ray, workers=workers)
    show_records(strangest.explained, words=False)
    total, anomalous = job.summary.records, job.summary.anomalous
    share = f" ({100 * anomalous / total:.2f}%)" if total else ""
    conclude(
        f"{output.named}{many(total, 'row')}, {anomalous:,} anomalous{share}{output.hint(total)}",
        {"out": output.file, "model": loaded.identity, "records": total, "anomalous": anomalous},
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )


def _cuts(scale: Scale) -> dict[str, float | None]:
    """Where anomalous begins, for the file beside the output."""
    return {"threshold": scale.threshold, "alarm": scale.alarm}
