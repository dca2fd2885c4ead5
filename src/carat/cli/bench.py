"""`carat bench`: methods side by side, on any data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import RESEARCH, app, conclude
from carat.cli.options import Device, Quiet
from carat.cli.options import tables as table_names
from carat.errors import InputError


@app.command(rich_help_panel=RESEARCH)
def bench(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write.", show_default=False)],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="NAME|FILE",
            help="flights, shipments:us_import, …, or a table; repeatable.",
            autocompletion=table_names,
        ),
    ] = None,
    methods: Annotated[
        str, typer.Option(metavar="M,M,…|all", help="replace-2, dice-random and dice-genetic by name only.")
    ] = "all",
    anomalies: Annotated[int, typer.Option(min=1, help="For each dataset, half with two corruptions.")] = 400,
    k: Annotated[int, typer.Option("--k", min=1, help="Counterfactuals per anomaly.")] = 50,
    profile: Annotated[str, typer.Option(metavar="fast|paper", help="That models are fitted with.")] = "fast",
    detector: Annotated[
        str, typer.Option(metavar="mead,ape,…", help="Of the models: mead, ape, counts, context, or several of them.")
    ] = "mead",
    seeds: Annotated[str, typer.Option(metavar="N,N,…", help="Each dataset is run once with each.")] = "0",
    dial: Annotated[bool, typer.Option("--dial/--no-dial", help="Also carat-plus along its dial.")] = True,
    stability: Annotated[bool, typer.Option("--stability", help="Also MEAD against APE.")] = False,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Annotated[bool, typer.Option("--json", help="How it ended, as JSON on standard output.")] = False,
) -> None:
    """Compare methods: corrupt later records, ask every method for repairs, measure all of them the same way.

    Writes results.json, tables.md and figures; cells/ keeps every anomaly's values, models/ the models. A run that was
    interrupted goes on where it was.

    Example: [bold]carat bench --data flights --methods all --anomalies 100 --out results[/bold]
    """
    from carat.cli.terminal import terminal
    from carat.experiments.bench import Bench, BenchPlan, all_methods

    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: is a file; name a folder")
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError as error:
        raise InputError(f"--seeds must be whole numbers with commas between, got '{seeds}'") from error
    named = tuple(name.strip() for name in methods.split(",") if name.strip())
    plan = BenchPlan(
        data=tuple(data or ("flights",)),
        methods=all_methods() if named == ("all",) else named,
        anomalies=anomalies,
        k=k,
        profile=profile,
        detectors=tuple(name.strip() for name in detector.split(",") if name.strip()),
        seeds=numbers,
        device=device,
        dial=dial,
        stability=stability,
    )
    with terminal(quiet=quiet) as observer:
        run = Bench(plan, out, observer)
        cells = run.run()
        drawn = run.write(cells)
    conclude(
        f"{out}: results.json, tables.md" + (f", {len(drawn)} figures" if drawn else ""),
        {"out": str(out), "cells": len(cells), "figures": drawn},
        as_json=as_json,
        quiet=quiet,
    )
