"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="csv, csv.gz, parquet or jsonl by its ending; - for JSON lines on standard input; "
        "or flights, shipments:us_import, …",
        show_default=False,
    ),
]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A folder that carat fit wrote.", show_default=False)
]
OutFile = Annotated[
    str,
    typer.Option("--out", metavar="FILE", help="csv, csv.gz, parquet or jsonl; - for JSON lines.", show_default=False),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]
Device = Annotated[str, typer.Option(metavar="auto|cpu|cuda", help="Where to compute.")]
