"""Arguments and options that several commands share, and what Tab offers for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated

import typer

from carat.registry import DATASETS, DETECTORS, PROFILES

FLAG = " "
"""For an option that takes no value, so that help shows nothing in its place."""
ENDINGS = (".csv", ".csv.gz", ".parquet", ".jsonl", ".xlsx")


def one_of(names: Callable[[], Iterable[str]]) -> Callable[[str], list[str]]:
    """Tab offers these names, as they are when it is pressed."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names() if name.startswith(incomplete)]

    return complete


def tables(incomplete: str) -> list[str]:
    """Tab offers the tables and folders that begin so, and the datasets that come along."""
    folder = Path(incomplete if incomplete.endswith("/") else Path(incomplete).parent)
    try:
        found = sorted(folder.iterdir())
    except OSError:
        found = []
    paths = [f"{path}/" if path.is_dir() else str(path) for path in found]
    return [
        path
        for path in (*paths, *DATASETS)
        if path.startswith(incomplete) and (path.endswith(("/", *ENDINGS)) or path in DATASETS)
    ]


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A csv, csv.gz, parquet, jsonl or xlsx file; - for JSON lines on standard input; "
        "or a bundled table: flights, shipments:us_import, …",
        show_default=False,
        autocompletion=tables,
    ),
]
ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder that carat fit wrote.", show_default=False)]
OutFile = Annotated[
    str | None,
    typer.Option(
        "--out",
        metavar="FILE",
        help="A csv, csv.gz, parquet, jsonl or xlsx file; - for JSON lines on standard output. Without it, a terminal "
        "only shows the rows with the highest alarm, and a pipe gets JSON lines.",
        show_default=False,
    ),
]
Quantile = Annotated[
    float | None,
    typer.Option(
        "--threshold",
        metavar="Q",
        help="Share of normal rows that may be called anomalous (0.01: the strangest 1%).",
        show_default=False,
    ),
]
LowestScore = Annotated[
    float | None,
    typer.Option("--threshold-score", metavar="S", help="Rows are anomalous below this score.", show_default=False),
]
Gate = Annotated[
    str,
    typer.Option(
        metavar="both|score",
        help="What makes a row anomalous: its score or its alarm, or the score alone.",
        autocompletion=one_of(lambda: ("both", "score")),
    ),
]
Show = Annotated[int, typer.Option("--show", metavar="N", min=0, help="Rows to show on a terminal.")]
Encoding = Annotated[
    str | None,
    typer.Option(
        metavar="E",
        help="How a csv file is written, such as latin-1, cp1252 or utf-16. Default: UTF-8.",
        show_default=False,
        autocompletion=one_of(lambda: ("utf-8", "latin-1", "cp1252", "utf-16")),
    ),
]
Force = Annotated[bool, typer.Option("--force", metavar=FLAG, help="Replace existing output.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar=FLAG, help="Print errors only.")]
Json = Annotated[
    bool,
    typer.Option("--json", metavar=FLAG, help="Print JSON on standard output: the rows, or with --out FILE a summary."),
]
Device = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="Where to compute: auto, cpu or cuda.",
        autocompletion=one_of(lambda: ("auto", "cpu", "cuda")),
    ),
]
Ray = Annotated[
    str | None,
    typer.Option(
        "--ray",
        metavar="[HOST:PORT]",
        help="Work on many machines: the Ray cluster at this address, or auto for the one that this machine is a part "
        "of. Without an address, a cluster of this machine alone is started.",
        show_default=False,
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=1,
        metavar="N",
        help="With --ray: this many processes, each with its own copy of the model. Default: one per processor.",
        show_default=False,
    ),
]
Detector = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="What scores the rows: counts, ape, mead or context. Default: the profile's choice.",
        show_default=False,
        autocompletion=one_of(lambda: DETECTORS),
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="instant skips the slow training and takes seconds; fast trains a small network; paper a large one.",
        autocompletion=one_of(lambda: PROFILES),
    ),
]
