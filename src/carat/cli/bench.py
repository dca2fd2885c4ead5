"""`carat bench`: methods side by side, on any data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import RESEARCH, command, conclude, many
from carat.cli.options import FLAG, Device, Quiet
from carat.cli.options import tables as table_names
from carat.errors import InputError


@command(RESEARCH)
def bench(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to write to.", show_default=False)],
    data: Annotated[
        list[str] | None,
        typer.Option(
            "--data",
            metavar="NAME|FILE",
            help="flights (the default), shipments:us_import, … or a table file. Repeat it for more tables.",
            autocompletion=table_names,
        ),
    ] = None,
    methods: Annotated[
        str, typer.Option(metavar="M,M,…|all", help="Methods to compare. all leaves out replace-2 and dice-*.")
    ] = "all",
    anomalies: Annotated[
        int, typer.Option(min=1, help="Corrupted rows per dataset, half with two wrong values.")
    ] = 400,
    k: Annotated[int, typer.Option("--k", metavar="K", min=1, help="Counterfactuals per anomaly.")] = 50,
    profile: Annotated[str, typer.Option(metavar="fast|paper", help="Profile of the models.")] = "fast",
    detector: Annotated[
        str, typer.Option(metavar="mead,ape,…", help="Detectors of the models: mead, ape, counts, context.")
    ] = "mead",
    seeds: Annotated[str, typer.Option(metavar="N,N,…", help="Run each dataset once per seed.")] = "0",
    dial: Annotated[
        bool,
        typer.Option(
            "--dial/--no-dial",
            metavar=FLAG,
            help="Also run carat-plus with other values of --prefer. Default: on.",
            show_default=False,
        ),
    ] = True,
    stability: Annotated[bool, typer.Option("--stability", metavar=FLAG, help="Also compare MEAD with APE.")] = False,
    device: Device = "auto",
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print a summary as JSON on standard output.")
    ] = False,
) -> None:
    """Compare methods: corrupt later rows, ask every method for fixes, and measure all of them the same way.

    Writes results.json, tables.md and figures. cells/ keeps the numbers of every anomaly, models/ the models. To
    continue an interrupted run, run the same command again.

    Example: [bold]carat bench --data flights --methods all --anomalies 100 --out results[/bold]
    """
    from carat.cli.terminal import terminal
    from carat.experiments.bench import Bench, BenchPlan, all_methods

    if out.exists() and not out.is_dir():
        raise InputError(f"{out}: this is a file; name a folder")
    try:
        numbers = tuple(int(seed) for seed in seeds.split(","))
    except ValueError as error:
        raise InputError(f"--seeds must be whole numbers separated by commas, got '{seeds}'") from error
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
        f"{out}: results.json, tables.md" + (f", {many(len(drawn), 'figure')}" if drawn else ""),
        {"out": str(out), "cells": len(cells), "figures": drawn},
        as_json=as_json,
        quiet=quiet,
    )
