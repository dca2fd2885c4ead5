"""`carat demo`: see it work."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from carat.cli.app import START, app


@app.command(rich_help_panel=START)
def demo(
    out: Annotated[
        Path, typer.Option(metavar="DIR", help="Where to write; what an earlier demo wrote is replaced.")
    ] = Path("carat-demo"),
) -> None:
    """Learn the bundled flights, spoil some of the days after, then find, explain and repair them.

    Takes two to three minutes on two cores; writes the model, all outputs and report.html, a page for any browser.
    """
    from carat.cli.demo_job import show_all

    show_all(out)
