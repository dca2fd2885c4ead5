"""Suspicious cells on a terminal: what is there, what should be, why, and how the columns were treated.

Colour only repeats what the words and signs say.
"""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from carat.auditing.telling import blank_or, instead, sentence, verdict
from carat.cli.app import many, plain
from carat.cli.view import FAINT, INDENT, NEW

if TYPE_CHECKING:
    from carat.auditing.result import AuditResult, Cell

COLUMNS = 12
"""Columns that the table at the end lists."""


def show(result: AuditResult, limit: int, console: Console | None = None) -> None:
    """The most suspicious cells, cells that are fixed together as one, and below them the columns."""
    if not limit or not len(result):
        return
    console = console or Console()
    console.print()
    for cells in _units(replace(result, findings=result.findings.top(limit)).cells()):
        console.print(_unit(cells))
        console.print()
    console.print(_columns(result))
    console.print()


def _units(cells: list[Cell]) -> list[list[Cell]]:
    """Cells one by one, those of a group together at the place of the first."""
    units: dict[object, list[Cell]] = {}
    for place, cell in enumerate(cells):
        units.setdefault(("cell", place) if cell.group is None else ("group", cell.group), []).append(cell)
    return list(units.values())


def _unit(cells: list[Cell]) -> RenderableType:
    if len(cells) == 1:
        return _cell(cells[0])
    rows = list(dict.fromkeys(_row(cell) for cell in cells))
    head = Text.assemble((", ".join(rows), "bold"), f"  {many(len(cells), 'cell')} to fix together")
    return Group(head, *(Padding(_cell(cell, row=len(rows) > 1), INDENT) for cell in cells))


def _row(cell: Cell) -> str:
    return f"Row {_level(str(cell.record))}"


def _cell(cell: Cell, *, row: bool = True) -> RenderableType:
    line = Text.assemble(
        (f"{_row(cell)}  " if row else "", "bold"),
        (_level(cell.column), FAINT),
        "  ",
        (_level(blank_or(cell.value)), "bold red" if cell.value else f"{FAINT} italic"),
    )
    if cell.proposal is not None:
        line.append(" → ").append(_level(blank_or(cell.proposal)), style=NEW if cell.proposal else f"{NEW} italic")
    line.append("  ").append(verdict(cell), style=FAINT)
    lines: list[RenderableType] = [line]
    if cell.reason:
        lines.append(Padding(Text(_level(sentence(cell.reason))), INDENT))
    if cell.alternatives:
        others = ", ".join(_level(blank_or(text)) for text in cell.alternatives)
        lines.append(Padding(Text(f"{instead(cell)}: {others}", style=FAINT), INDENT))
    return Group(*lines)


def _columns(result: AuditResult) -> RenderableType:
    """The columns with suspicious cells, those with the most first."""
    found = sorted((each for each in result.columns if each.suspicious), key=lambda each: -each.suspicious)
    shown = Table.grid(padding=(0, 2, 0, 0))
    shown.add_column()
    shown.add_column(justify="right", no_wrap=True)
    shown.add_column()
    for each in found[:COLUMNS]:
        share = each.suspicious / max(result.rows, 1)
        checked = f"{share:.1%} of its cells" + ("" if each.role == "voted" else "; only its text is checked")
        shown.add_row(Text(_level(each.name)), f"{each.suspicious:,}", Text(checked, style=FAINT))
    rest = len(found) - COLUMNS
    lines: list[RenderableType] = [Text("Suspicious cells by column", style="bold"), Padding(shown, INDENT)]
    if rest > 0:
        lines.append(Padding(Text(f"and {many(rest, 'more column')}", style=FAINT), INDENT))
    return Group(*lines)


def _level(text: str) -> str:
    """Text of the table; where it runs from right to left, set apart so that the line around it does not turn."""
    clean = plain(text)
    turned = any(unicodedata.bidirectional(sign) in ("R", "AL", "AN") for sign in clean)
    return f"\N{FIRST STRONG ISOLATE}{clean}\N{POP DIRECTIONAL ISOLATE}" if turned else clean
