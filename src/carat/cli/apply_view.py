"""What was changed, on a terminal: how many cells of which column and kind, and why the others were left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from carat.auditing.telling import counted
from carat.cli.app import CONSOLE, many, plain
from carat.cli.view import FAINT, INDENT

if TYPE_CHECKING:
    from carat.auditing.applying.choosing import Rules
    from carat.jobs import ApplySummary

COLUMNS = 12
"""Columns that the table lists."""


def show(done: ApplySummary, *, quiet: bool) -> None:
    """Changed cells by column and by kind."""
    if quiet or not done.changes:
        return
    kinds = ", ".join(
        f"{count:,} other" if kind == "other" else counted(kind, count) for kind, count in done.kinds.items()
    )
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column()
    shown.add_column(justify="right", no_wrap=True)
    for name, count in list(done.columns.items())[:COLUMNS]:
        shown.add_row(Text(plain(name)), f"{count:,}")
    lines: list[RenderableType] = [Text("Changed cells by column", style="bold"), Padding(shown, INDENT)]
    rest = len(done.columns) - COLUMNS
    if rest > 0:
        lines.append(Padding(Text(f"and {many(rest, 'more column')}", style=FAINT), INDENT))
    CONSOLE.print(Group(*lines, Text(f"By kind: {kinds}", style=FAINT)))


def left_in_words(done: ApplySummary, rules: Rules) -> str:
    """How many cells of the list were left as they are, and why; empty where there are none."""
    words = {
        "uncertain": f"below --certain {rules.certain:g}",
        "undecided": "undecided",
        "no fix": "without a suggested fix",
        "rejected": "rejected",
        "wrong": "wrong, but the right value is unknown",
        "group": "kept because a cell that belongs to it is",
        "same": "already as they should be",
    }
    if not done.left:
        return ""
    parts = "; ".join(f"{count:,} {words[reason]}" for reason, count in done.left.items())
    cells = sum(done.left.values())
    return f"; {cells:,} left as {'it is' if cells == 1 else 'they are'} ({parts})"
