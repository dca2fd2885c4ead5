"""`carat fit`: learn what is normal in a table."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carat.cli.app import CONSOLE, START, app, conclude, say
from carat.cli.options import Data, Device, Force, Profile, Quiet, one_of
from carat.errors import InputError

if TYPE_CHECKING:
    from carat.model import Model


@app.command(rich_help_panel=START)
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", help="Folder to write.", show_default=False)],
    config: Annotated[Path | None, typer.Option(metavar="carat.toml", help="Columns and their roles.")] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="The columns to model; default: every text column worth it.")
    ] = None,
    also: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Columns to take besides, such as codes that are numbers.")
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Columns to leave out, such as an outcome known only later.")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="NAME", help="The column that names a record; default: its row number."),
    ] = None,
    profile: Profile = "fast",
    detector: Annotated[
        str | None,
        typer.Option(
            metavar="mead|ape|context|counts",
            help="Default: the profile's.",
            show_default=False,
            autocompletion=one_of("mead", "ape", "context", "counts"),
        ),
    ] = None,
    explainer: Annotated[
        bool, typer.Option("--explainer/--no-explainer", help="Without it: scores alone, and a quicker fit.")
    ] = True,
    device: Device = "auto",
    seed: Annotated[
        int, typer.Option(metavar="N", min=0, max=2**63 - 1, help="The same seed gives the same model.")
    ] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with a fit that was interrupted.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="How it ended, as JSON on standard output.")] = False,
) -> None:
    """Learn what is normal in a table, and write a model folder.

    Every text column worth it becomes a domain; what is left out is said, and why. Numeric columns, metapaths and
    the threshold go into a carat.toml.

    Example: [bold]carat fit shipments.csv --out model[/bold]

    Example: [bold]carat fit shipments.csv --out model --columns Shipper,HSCode,PortOfLading --profile instant[/bold]
    """
    from carat.fitting import fit as fit_model
    from carat.loading import load
    from carat.training import terminal_progress

    partial = _prepare(out, resume=resume, force=force)
    if partial is None:
        line = f"{out}: complete already, nothing to resume"
        conclude(line, _facts(out, load(out)), as_json=as_json, quiet=quiet)
        return
    if resume and not partial.exists():
        say(f"{partial}: nothing to resume there; starting from the beginning", quiet=quiet)
    try:
        with terminal_progress(quiet=quiet, console=CONSOLE) as progress:
            model = fit_model(
                data,
                **_table_options(config, id, columns=columns, also=also, without=without),
                profile=profile,
                detector=detector,
                explainer=None if explainer else False,
                device=device,
                seed=seed,
                checkpoints=partial,
                progress=progress,
                notify=lambda line: say(line, quiet=quiet),
            )
    except KeyboardInterrupt:
        if partial.exists():
            say(f"{partial}: what was learned so far; the same command with --resume goes on from there", quiet=quiet)
        raise
    model.save(out, force=force or resume)
    shutil.rmtree(partial)
    facts = _facts(out, model)
    conclude(
        f"{out}: {facts['records']:,} records, {len(facts['domains'])} domains, {facts['entities']:,} entities, "
        f"detector {facts['detector']}, explainer {facts['explainer']}, {facts['seconds']:.1f} s",
        facts,
        as_json=as_json,
        quiet=quiet,
    )


def _facts(out: Path, model: Model) -> dict[str, Any]:
    """How a fit ended, for people and for machines."""
    return {
        "model": str(out),
        "records": model.training["records"] + model.training["held_out"],
        "domains": model.vocabulary.names,
        "left_out": model.training["left_out"],
        "entities": model.vocabulary.entities,
        "detector": model.detector.name,
        "explainer": model.explainer.name if model.explainer else "none",
        "seconds": model.training["seconds"],
    }


def _prepare(out: Path, *, resume: bool, force: bool) -> Path | None:
    """The folder for checkpoints, cleared as the options say; None where a resumed fit is complete already."""
    from carat.store import check_target

    if not out.name:
        raise InputError(f"{out}: name a folder to write, inside this one")
    partial = out.with_name(f"{out.name}.partial")
    if resume and out.exists() and not partial.exists():
        check_target(out, force=True)
        return None
    check_target(out, force=force or resume)
    if partial.exists() and not resume:
        if not force:
            raise InputError(f"{partial}: an unfinished fit is there; go on with --resume, or start again with --force")
        shutil.rmtree(partial)
    return partial


def _table_options(
    config: Path | None, id: str | None, *, columns: str | None, also: str | None, without: str | None
) -> dict[str, Any]:
    """What the configuration file says of the table; what the command names wins over it."""
    options: dict[str, Any] = {}
    if config is not None:
        from carat.config import read_config

        table = read_config(config).table
        options = {
            "domains": table.domains,
            "also": table.also,
            "without": table.without,
            "numeric": table.numeric or None,
            "id": table.id,
            "time": table.time,
            "metapaths": table.metapaths,
            "min_count": table.min_count,
        }
        if table.threshold is not None:
            options["threshold"] = table.threshold
    if id is not None:
        options["id"] = id
    for key, names in (("domains", columns), ("also", also), ("without", without)):
        if names is not None:
            options[key] = [name.strip() for name in names.split(",") if name.strip()]
    return options
