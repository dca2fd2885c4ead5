"""`carat update`: add new rows to a model, or remove rows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from carat.cli.app import DAILY, command, conclude, many
from carat.cli.options import FLAG, Device, Encoding, Force, ModelFolder, Quiet, tables

if TYPE_CHECKING:
    from carat.jobs import UpdateSummary


@command(DAILY)
def update(
    model: ModelFolder,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Rows to add: a csv, csv.gz, parquet, jsonl or xlsx file, or - for JSON lines on standard input.",
            show_default=False,
            autocompletion=tables,
        ),
    ] = None,
    out: Annotated[
        Path,
        typer.Option(
            "--out", metavar="MODEL", help="Model folder to write; the same one with --force.", show_default=False
        ),
    ] = ...,  # type: ignore[assignment]
    forget: Annotated[
        str | None,
        typer.Option(
            metavar="DATA",
            help="Rows to forget. A row that is in the file twice is forgotten twice.",
            show_default=False,
            autocompletion=tables,
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", metavar=FLAG, help="Also add the rows that the model calls anomalous.")
    ] = False,
    decisions: Annotated[
        str | None,
        typer.Option(
            metavar="CELLS",
            help="Output of carat audit on DATA with the column decision filled in; the rows are added as decided.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print a summary as JSON on standard output.")
    ] = False,
) -> None:
    """Add new rows to a model, or remove rows from it, in seconds.

    New rows join the counts and the memory, and new values become known. The threshold and the alarm are recalibrated
    on the newest rows. Rows that the model calls anomalous are skipped; otherwise errors would vouch for themselves.

    Except for the small judge, no network is trained again. To the others, values that came later are new, and what
    they learned from forgotten rows stays in their weights until the next fit.

    Example: [bold]carat update model june.csv --out model --force[/bold]

    Example: [bold]carat update model --forget withdrawn.csv --out model2[/bold]
    """
    from carat import jobs
    from carat.cli.terminal import open_model, terminal
    from carat.fitting.store import check_target

    check_target(out, force=force)
    loaded = open_model(model, device)
    with terminal(quiet=quiet) as observer:
        job = jobs.update(
            loaded, data, forget=forget, all=every, decisions=decisions, encoding=encoding, observer=observer
        )
        job.into()
    job.updated.save(out, force=force)
    done = job.summary
    conclude(
        f"{out}: {_done(done)}; {many(job.updated.training['records'] + job.updated.training['held_out'], 'row')}, "
        f"{done.seconds:.1f} s",
        {
            "model": str(out),
            "identity": job.updated.identity,
            "from": loaded.identity,
            **done.facts(),
            "remarks": [remark.text for remark in done.remarks],
        },
        as_json=as_json,
        quiet=quiet,
    )


def _done(done: UpdateSummary) -> str:
    """What was added and forgotten, in words."""
    said = [f"{many(done.added, 'row')} added"] if done.added or not done.forgotten else []
    if done.forgotten:
        said.append(f"{many(done.forgotten, 'row')} forgotten")
    if done.new_values:
        said.append(f"{many(done.new_values, 'new value')}")
    if done.gone_values:
        said.append(f"{many(done.gone_values, 'value')} no longer known")
    return ", ".join(said)
