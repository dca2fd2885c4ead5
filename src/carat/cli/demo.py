"""`carat demo`: see it work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import START, command


@command(START)
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder to write to. Files of an earlier demo are replaced.")
    ] = Path("carat-demo"),
) -> None:
    """See carat work on bundled flight data: learn what is normal, corrupt some rows, then find, explain and fix them.

    Takes about three minutes on two idle cores. Writes the model, all outputs and report.html, a page for any browser.
    """
    from carat.cli.demo_job import show_all

    show_all(out)
