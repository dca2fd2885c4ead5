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
from rich.text import Text

from carat.cli.app import app, say
from carat.data import Table, TableWriter, open_source
from carat.datasets import flights
from carat.errors import InputError
from carat.explain import CUT, TransformerExplainer
from carat.fitting import fit as fit_model
from carat.model import Model
from carat.training import terminal_progress

TRAIN_ROWS = 30_000
LATER_ROWS = 10_000
SHOWN = 8
CANDIDATES = 200


@app.command()
def demo(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to write what is made.")] = Path("carat-demo"),
) -> None:
    """Fit the bundled flights, score the days after, and show the strangest records and what is strange about them."""
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
            # The profile `fast` with fewer epochs: a demo should not outlast a coffee.
            explainer=TransformerExplainer(epochs=(8, 4, 4)),
            progress=progress,
        )
    model.save(out / "model", force=True)
    table = Table.read(open_source(later), model.schema, model.vocabulary)
    scores = model.score_table(table)
    for name, made in (("scores.csv", scores), ("likelihoods.csv", model.explain_table(table))):
        with TableWriter(out / name, force=True) as writer:
            writer.write(made)
    count = int(pc.sum(scores["anomalous"]).as_py())
    say(
        f"Of the next {len(table):,} departures, {count:,} are anomalous. The strangest, and in brackets how likely "
        "an entity is beside the others where it does not seem to belong:"
    )
    _show(model, table)
    say(f"Written: {out}/model, {out}/scores.csv, {out}/likelihoods.csv")
    say(f"Next: carat inspect {out}/model, then your own table: carat fit my.csv --out model")


def _show(model: Model, table: Table) -> None:
    """The strangest records whose entities are all known, each flight once, flagged entities with their likelihood."""
    assert model.explainer is not None
    scores = model.detector.score(table.ids).cpu()
    order = torch.where(table.complete(), scores, torch.inf).argsort()[:CANDIDATES]
    likelihood = model.explainer.likelihood(table.ids[order])
    decoded = table.take(order).decode().to_pylist()
    percentile = model.percentile(scores[order]).tolist()
    shown = RichTable(*model.vocabulary.names, "percentile", box=SIMPLE, pad_edge=False)
    seen: set[str] = set()
    for record, likelihoods, where in zip(decoded, likelihood.tolist(), percentile, strict=True):
        if record["Flight"] in seen or len(seen) == SHOWN:
            continue
        seen.add(record["Flight"])
        cells = [
            Text(f"{text} ({value:.2f})", style="bold red") if value < CUT else Text(text)
            for text, value in zip(record.values(), likelihoods, strict=True)
        ]
        shown.add_row(*cells, f"{where:.2f}")
    # A pipe has no width of its own; a table cut to 80 columns would hide the very entities it is to show.
    Console(width=None if sys.stdout.isatty() else 120).print(shown)
