"""`carat fit`: learn what is normal in a table."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carat.cli.app import START, command, conclude, say
from carat.cli.options import FLAG, Data, Detector, Device, Encoding, Force, Profile, Quiet
from carat.errors import InputError

if TYPE_CHECKING:
    from carat.config import TableOptions
    from carat.fitting import Model


@command(START)
def fit(
    data: Data,
    out: Annotated[Path, typer.Option("--out", metavar="MODEL", help="Model folder to write.", show_default=False)],
    config: Annotated[
        Path | None, typer.Option(metavar="carat.toml", help="File with the columns and other settings.")
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            metavar="A,B,…", help="Use exactly these columns. Default: all text columns in which values repeat."
        ),
    ] = None,
    also: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Use these columns too, such as numeric codes.")
    ] = None,
    numeric: Annotated[
        str | None,
        typer.Option(metavar="A=10,B=5,…", help="Use these columns of numbers, cut into this many ranges each."),
    ] = None,
    without: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Leave these columns out, such as an outcome known later.")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="NAME", help="Column that identifies a row. Default: the row number."),
    ] = None,
    profile: Profile = "fast",
    detector: Detector = None,
    explainer: Annotated[
        bool,
        typer.Option(
            "--explainer/--no-explainer",
            metavar=FLAG,
            help="Without it, fitting is faster, but there is no memory, judge or alarm, only scores. Default: on.",
            show_default=False,
        ),
    ] = True,
    memory: Annotated[
        bool,
        typer.Option(
            "--memory/--no-memory",
            metavar=FLAG,
            help="Without it, the model does not hold the training rows, but finds fewer wrong values. Default: on.",
            show_default=False,
        ),
    ] = True,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="MODEL", help="Begin with the networks of this model.", show_default=False),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="M",
            help="Train for at most this many minutes. Default: 4 in fast, no limit in paper; inf for no limit.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Train exactly this many steps in all. To repeat a fit, pass the number it printed.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    device: Device = "auto",
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same model.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", metavar=FLAG, help="Continue an interrupted fit.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print a summary as JSON on standard output.")
    ] = False,
) -> None:
    """Learn what is normal in a table and write a model folder.

    By default, carat uses every text column in which values repeat. It lists the columns it used, and those it left
    out with the reason. A time column, the threshold and paths of columns that belong together go into a carat.toml
    file.

    Example: [bold]carat fit shipments.csv --out model[/bold]

    Example: [bold]carat fit shipments.csv --out model --columns Shipper,HSCode,PortOfLading --profile instant[/bold]

    Example: [bold]carat fit shipments.csv --out model --also HSCode --numeric Weight=10[/bold]
    """
    from carat.arguments import check_seed
    from carat.cli.terminal import terminal
    from carat.devices import pick_device
    from carat.fitting import load
    from carat.fitting.fit import fit_table, run_for
    from carat.fitting.found import in_words
    from carat.fitting.recipe import Recipe
    from carat.training.team import joined

    options = _table_options(config, domains=columns, also=also, without=without, numeric=numeric, id=id)
    with joined() as team:
        quiet = quiet or not team.leads
        partial = team.agreed(_prepare(out, resume=resume, force=force) if team.leads else None)
        if partial is None:
            _conclude(f"{out}: already complete, nothing to resume", out, load(out), as_json=as_json, quiet=quiet)
            return
        if resume and not partial.exists():
            say(f"{partial}: nothing to resume, starting from the beginning", quiet=quiet)
        try:
            with terminal(quiet=quiet) as observer:
                recipe = Recipe.of(
                    profile=profile,
                    detector=detector,
                    explainer=None if explainer else False,
                    memory=memory,
                    threshold=0.01 if options.threshold is None else options.threshold,
                    minutes=minutes,
                    steps=steps,
                )
                run = run_for(team, data, check_seed(seed), pick_device(device), observer, partial)
                model = fit_table(data, options.columns, recipe, run, encoding=encoding, start=start)
        except KeyboardInterrupt:
            if partial.exists():
                say(f"{partial}: progress is saved; to continue, run the same command with --resume", quiet=quiet)
            raise
        if not team.leads:
            return
        model.save(out, force=force or resume)
        shutil.rmtree(partial)
    for line in in_words(model.training):
        say(line, quiet=quiet or as_json)
    _conclude(_told(out, model), out, model, as_json=as_json, quiet=quiet)


def _told(out: Path, model: Model) -> str:
    """How a fit ended, in a line."""
    facts = _facts(out, model)
    return (
        f"{out}: {facts['records']:,} rows, {len(facts['domains'])} columns, {facts['entities']:,} distinct values, "
        f"detector {facts['detector']}, explainer {facts['explainer']}, {facts['seconds']:.1f} s"
    )


def _conclude(line: str, out: Path, model: Model, *, as_json: bool, quiet: bool) -> None:
    """The line for people, the facts for machines; nothing of a process that is quiet for another one."""
    from carat.launched import Launched

    if not Launched.follows():
        conclude(line, _facts(out, model), as_json=as_json, quiet=quiet)


def _facts(out: Path, model: Model) -> dict[str, Any]:
    """How a fit ended, for people and for machines."""
    return {
        "model": str(out),
        "identity": model.identity,
        "records": model.training["records"] + model.training["held_out"],
        "domains": model.vocabulary.names,
        "left_out": model.training["left_out"],
        "entities": model.vocabulary.entities,
        "detector": model.detector.name,
        "explainer": model.explainer.name if model.explainer else "none",
        "seconds": model.training["seconds"],
        "steps": model.training.get("steps"),
        "holds_records": model.holds_records,
        "found": model.training.get("found"),
    }


def _prepare(out: Path, *, resume: bool, force: bool) -> Path | None:
    """The folder for checkpoints, cleared as the options say; None where a resumed fit is complete already."""
    from carat.fitting.store import check_target

    if not out.name:
        raise InputError(f"{out}: name a folder to write, such as --out model")
    partial = out.with_name(f"{out.name}.partial")
    if resume and out.exists() and not partial.exists():
        check_target(out, force=True)
        return None
    check_target(out, force=force or resume)
    if partial.exists() and not resume:
        if not force:
            raise InputError(f"{partial}: holds an unfinished fit; continue with --resume or start over with --force")
        shutil.rmtree(partial)
    return partial


def _table_options(config: Path | None, **named: str | None) -> TableOptions:
    """What the configuration file says of the table; what the command names wins over it."""
    from dataclasses import replace

    from carat.config import TableOptions, read_config

    options = TableOptions() if config is None else read_config(config)
    given = {name: _READ.get(name, _names)(value) for name, value in named.items() if value is not None}
    return replace(options, columns=options.columns.replace(**given))


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _bins(text: str) -> dict[str, int]:
    """Columns and their number of ranges.

    >>> _bins("Weight=10, Value=5")
    {'Weight': 10, 'Value': 5}
    """
    found = {}
    for part in _names(text):
        name, _, number = part.rpartition("=")
        if not name.strip() or not number.strip().isdecimal():
            raise InputError(f"--numeric takes columns and their number of ranges, as Weight=10,Value=5; got '{part}'")
        found[name.strip()] = int(number)
    return found


_READ: dict[str, Callable[[str], Any]] = {"id": str, "numeric": _bins}
"""How an option is read that is no list of columns."""
