"""`carat explain`: which entities of every record do not belong."""

from __future__ import annotations

from collections import Counter

import pyarrow.compute as pc

from carat.cli.app import app, say
from carat.cli.options import Data, Device, Force, ModelFolder, OutFile, Quiet
from carat.cli.stream import open_model, through


@app.command()
def explain(
    model: ModelFolder,
    data: Data,
    out: OutFile,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    """Say how likely every entity is in its context.

    Columns: record, one likelihood a domain (null where missing), flagged (the domains below 0.5).

    Example: [bold]carat explain model shipments.csv --out likelihoods.csv[/bold]
    """
    loaded = open_model(model, out, device, force=force)
    total = records = 0
    domains: Counter[str] = Counter()
    for part in through(loaded, data, out, loaded.explain_table, force=force, quiet=quiet):
        total += part.num_rows
        records += int(pc.sum(pc.greater(pc.list_value_length(part["flagged"]), 0)).as_py() or 0)
        flat = pc.value_counts(pc.list_flatten(part["flagged"])).to_pylist()
        domains.update({pair["values"]: pair["counts"] for pair in flat})
    most = ", ".join(f"{name} {count:,}" for name, count in domains.most_common(3))
    say(f"{out}: {total:,} records, {records:,} with a flagged entity" + (f" ({most})" if most else ""), quiet=quiet)
