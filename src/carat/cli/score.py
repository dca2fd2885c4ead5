"""`carat score`: how normal every record of a table is."""

from __future__ import annotations

from typing import Annotated

import typer

from carat.cli.app import app, say
from carat.cli.options import Data, Device, Force, ModelFolder, OutFile, Quiet
from carat.cli.stream import open_model, through
from carat.detectors import Threshold
from carat.errors import InputError


@app.command()
def score(
    model: ModelFolder,
    data: Data,
    out: OutFile,
    threshold: Annotated[
        float | None,
        typer.Option(metavar="Q", help="Anomalous: below this quantile of normal records (0.01 = strangest 1 %)."),
    ] = None,
    threshold_score: Annotated[
        float | None, typer.Option(metavar="S", help="Anomalous: below this score.", show_default=False)
    ] = None,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Score every record; higher = more normal.

    Columns: record, score, percentile (0 = strangest), anomalous.

    Example: [bold]carat score model shipments.csv --out scores.csv[/bold]
    """
    if threshold is not None and threshold_score is not None:
        raise InputError("give --threshold or --threshold-score, not both")
    loaded = open_model(model, out, device, force=force)
    if threshold is not None:
        loaded = loaded.with_threshold(threshold)
    elif threshold_score is not None:
        loaded = loaded.with_threshold(Threshold(value=threshold_score))
    total = anomalous = 0
    for part in through(loaded, data, out, loaded.score_table, force=force, quiet=quiet):
        total += part.num_rows
        anomalous += int(part["anomalous"].to_numpy().sum())
    share = f" ({100 * anomalous / total:.2f} %)" if total else ""
    say(f"{out}: {total:,} records, {anomalous:,} anomalous{share}", quiet=quiet)
