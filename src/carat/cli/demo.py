"""`carat demo`: the bundled flights, from the table to the strangest records."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import pyarrow.compute as pc
import torch
import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table as RichTable

from carat.cli.app import app, say
from carat.data import Table, TableWriter, open_source
from carat.datasets import flights
from carat.errors import InputError
from carat.fitting import fit as fit_model
from carat.model import Model
from carat.training import terminal_progress

TRAIN_ROWS = 60_000
LATER_ROWS = 20_000
SHOWN = 8


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write what is made.")] = Path("carat-demo"),
) -> None:
    """Fit the bundled flights, score the weeks after, and show the strangest records."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    dataset = flights()
    say(f"{dataset.about} {dataset.table.num_rows:,} departures.")
    say(f"Learning what is normal from the first {TRAIN_ROWS:,} of them …")
    schema = dataset.schema
    train = dataset.table.slice(0, TRAIN_ROWS)
    later = dataset.table.slice(TRAIN_ROWS, LATER_ROWS)
    with terminal_progress() as progress:
        model = fit_model(
            train,
            domains=schema.domains,
            time=schema.time,
            metapaths=schema.metapaths,
            progress=progress,
        )
    model.save(out / "model", force=True)
    table = Table.read(open_source(later), model.schema, model.vocabulary)
    scores = model.score_table(table)
    with TableWriter(out / "scores.csv", force=True) as writer:
        writer.write(scores)
    count = int(pc.sum(scores["anomalous"]).as_py())
    say(f"Of the next {len(table):,} departures, {count:,} are anomalous. The strangest:")
    _show(model, table)
    say(f"Written: {out}/model and {out}/scores.csv")
    say(f"Next: carat inspect {out}/model, then your own table: carat fit my.csv --out model")


def _show(model: Model, table: Table) -> None:
    """The strangest records whose entities are all known, each kind once."""
    scores = model.detector.score(table.ids).cpu()
    scores = torch.where(table.complete(), scores, torch.inf)
    order = scores.argsort()
    decoded = table.decode()
    shown = RichTable(*model.vocabulary.names, "percentile", box=SIMPLE, pad_edge=False)
    flights_shown: set[str] = set()
    for row in order.tolist():
        record = decoded.slice(row, 1).to_pylist()[0]
        if record["Flight"] in flights_shown:
            continue
        flights_shown.add(record["Flight"])
        percentile = float(model.percentile(scores[row : row + 1]))
        shown.add_row(*record.values(), f"{percentile:.2f}")
        if len(flights_shown) == SHOWN:
            break
    # A pipe has no width of its own; a table cut to 80 columns would hide the very entities it is to show.
    Console(width=None if sys.stdout.isatty() else 110).print(shown)
