"""`carat score`: how normal every record of a table is."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import app, say
from carat.cli.options import Data, Device, Force, ModelFolder, OutFile, Quiet
from carat.data import Table, TableWriter, open_source
from carat.data.writers import check_output
from carat.datasets import find_dataset
from carat.detectors import Threshold
from carat.errors import InputError
from carat.model import Model, load
from carat.training import pick_device


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
    if out != "-":
        check_output(Path(out), force=force)
    loaded = load(model).to(pick_device(device))
    if threshold is not None and threshold_score is not None:
        raise InputError("give --threshold or --threshold-score, not both")
    if threshold is not None:
        loaded = loaded.with_threshold(threshold)
    elif threshold_score is not None:
        loaded = loaded.with_threshold(Threshold(value=threshold_score))
    dataset = None if Path(data).exists() else find_dataset(data)
    source = open_source(data if dataset is None else dataset.table, once=True)
    total = anomalous = 0
    unseen: Counter[tuple[str, str]] = Counter()
    with TableWriter(out, force=force) as writer:
        for part in loaded.stream(source):
            scored = loaded.score_table(part)
            writer.write(scored)
            total += scored.num_rows
            anomalous += int(scored["anomalous"].to_numpy().sum())
            _note_unseen(unseen, part, loaded)
        if not total:
            writer.write(loaded.score_table(loaded.empty()))
    if line := _unseen_line(unseen):
        say(line, quiet=quiet)
    share = f" ({100 * anomalous / total:.2f} %)" if total else ""
    say(f"{out}: {total:,} records, {anomalous:,} anomalous{share}", quiet=quiet)


def _note_unseen(unseen: Counter[tuple[str, str]], part: Table, model: Model) -> None:
    for domain, entities in part.unseen.by_name(model.vocabulary).items():
        for entity, count in entities.items():
            unseen[domain, entity] += count


def _unseen_line(unseen: Counter[tuple[str, str]]) -> str | None:
    """The entities that training never met, by name, the most frequent first."""
    if not unseen:
        return None
    shown = ", ".join(f"{domain} {entity} ({count:,}×)" for (domain, entity), count in unseen.most_common(5))
    more = f" and {len(unseen) - 5:,} more" if len(unseen) > 5 else ""
    return f"never seen in training, and skipped in the scores: {shown}{more}"
