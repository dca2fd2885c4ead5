"""`carat score`: how normal every record of a table is."""

from __future__ import annotations

from carat.cli.app import DAILY, app, conclude
from carat.cli.options import Data, Device, Force, Json, LowestScore, ModelFolder, OutFile, Quantile, Quiet, Show


@app.command(rich_help_panel=DAILY)
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
    """Score every record; higher = more normal.

    Columns: record, score, percentile (0 = strangest), anomalous.

    Example: [bold]carat score model shipments.csv --out scores.csv[/bold]
    """
    import torch

    from carat.cli.stream import Output, Strangest, open_model, through

    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device, threshold=threshold, threshold_score=threshold_score)
    strangest = Strangest(loaded, output.shown)
    total = anomalous = 0
    for piece, made in through(loaded, data, output, loaded.score_table, "scoring"):
        total += made.num_rows
        anomalous += int(made["anomalous"].to_numpy().sum())
        if output.shown:
            scores = torch.from_numpy(made["score"].to_numpy().copy()).float()
            strangest.add_table(piece, scores)
    strangest.show(words=False)
    share = f" ({100 * anomalous / total:.2f} %)" if total else ""
    conclude(
        f"{output.named}{total:,} records, {anomalous:,} anomalous{share}{output.hint(total)}",
        {"out": output.file, "records": total, "anomalous": anomalous},
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
