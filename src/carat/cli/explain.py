"""`carat explain`: which entities of every record do not belong."""

from __future__ import annotations

from collections import Counter

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

    Columns: record, one likelihood a domain (null where missing), flagged (the domains below 0.5). A terminal shows the
    strangest records among those with a flagged entity, and why.

    Example: [bold]carat explain model shipments.csv --out likelihoods.csv[/bold]
    """
    import pyarrow.compute as pc
    import torch

    from carat.cli.stream import Output, Strangest, open_model, through

    output = Output.of(out, as_json=as_json, show=show, force=force, quiet=quiet)
    loaded = open_model(model, device)
    strangest = Strangest(loaded, output.shown)
    total = records = 0
    domains: Counter[str] = Counter()
    for piece, made in through(loaded, data, output, loaded.explain_table, "explaining"):
        doubted = pc.greater(pc.list_value_length(made["flagged"]), 0).to_numpy()
        total += made.num_rows
        records += int(doubted.sum())
        flat = pc.value_counts(pc.list_flatten(made["flagged"])).to_pylist()
        domains.update({pair["values"]: pair["counts"] for pair in flat})
        if output.shown:
            some = piece.take(torch.from_numpy(doubted.nonzero()[0]))
            strangest.add_table(some, loaded.detector.score(some.ids).cpu())
    strangest.show()
    most = ", ".join(f"{name} {count:,}" for name, count in domains.most_common(3))
    where = f" ({most})" if most else ""
    conclude(
        f"{output.named}{total:,} records, {records:,} with a flagged entity{where}{output.hint(records)}",
        {"out": output.file, "records": total, "with_flagged": records, "flagged": dict(domains.most_common())},
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
