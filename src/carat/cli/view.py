"""Rows on a terminal: what does not belong, why, and what would have been normal, as a compact coloured diff.

Colour only repeats what the signs say: a likelihood in parentheses, an arrow, a tick.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from carat.cli.app import many, plain
from carat.data.text import visible

if TYPE_CHECKING:
    from carat.results import Counterfactual, EntityView, Explanation

FLAGGED, NEW, FAINT = "bold red", "bold green", "dim"
INDENT = (0, 0, 0, 2)


def diff(explanation: Explanation, *, words: bool = True, truth: int = 0) -> RenderableType:
    """A row as a few lines.

    Args:
        explanation: the row.
        words: also say why its values do not belong, and what limited the search.
        truth: rank of the fix that is known to be the original row, to be marked.
    """
    lines: list[RenderableType] = [_verdict(explanation), Padding(_Strip(explanation.entities), INDENT)]
    if words:
        lines += [Padding(Text(plain(sentence)), (0, 0, 0, 4)) for sentence in explanation.in_words()]
    if explanation.counterfactuals:
        lines.append(Padding(_Fixes(explanation, truth), INDENT))
    if words and explanation.reason:
        lines.append(Padding(Text(plain(f"Note: {explanation.reason}."), style=FAINT), INDENT))
    return Group(*lines)


def show(explanations: Sequence[Explanation], console: Console | None = None, *, words: bool = True) -> None:
    """Rows one below the other, with empty lines between and around them; by default on standard output."""
    console = console or Console()
    for explanation in explanations:
        console.print()
        console.print(diff(explanation, words=words))
    if explanations:
        console.print()


def _verdict(explanation: Explanation) -> Text:
    return Text.assemble(
        (f"Row {plain(str(explanation.record))}", "bold"),
        f": {explanation.verdict}",
        ("" if explanation.alarm is None else f", alarm {explanation.alarm:.2f}", ""),
        (f", percentile {explanation.percentile:.2f}, score {explanation.score:.2f}", FAINT),
    )


class _Strip:
    """All values; what does not belong stands out, with its likelihood. A value stands on one line where it fits."""

    def __init__(self, entities: Sequence[EntityView]) -> None:
        self.cells = [_cell(view) for view in entities]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in self._lines(options.max_width):
            yield Text.assemble((" · ", FAINT)).join(line)

    def _lines(self, width: int) -> Iterator[list[Text]]:
        line: list[Text] = []
        for cell in self.cells:
            if line and sum(other.cell_len + 3 for other in line) + cell.cell_len > width:
                yield line
                line = []
            line.append(cell)
        yield line


def _cell(view: EntityView) -> Text:
    domain = f"{plain(view.domain)} "
    if view.entity is None:
        return Text(f"{domain}missing", style=FAINT)
    if view.flagged:
        return Text.assemble(
            (domain, FLAGGED), (f"{plain(visible(view.entity))} ({view.likelihood:.2f})", f"{FLAGGED} reverse")
        )
    return Text.assemble((domain, FAINT), plain(visible(view.entity)))


class _Fixes:
    """The suggested fixes: what changes, and where the score then lies; in columns where they fit side by side."""

    def __init__(self, explanation: Explanation, truth: int) -> None:
        self.rows = [
            (
                Text(f"{change.rank}.", style=FAINT),
                _changes(change),
                Text(change.verdict(anomalous=explanation.anomalous), style="" if change.valid else FAINT).append_text(
                    _true(change, truth)
                ),
                Text(_support(change, explanation.entities), style=FAINT),
            )
            for change in explanation.counterfactuals
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        widths = [max(cell.cell_len for cell in column) + 2 for column in zip(*self.rows, strict=True)]
        beside = sum(widths) <= options.max_width
        shown = Table.grid(padding=(0, 2, 0, 0))
        shown.add_column(justify="right", no_wrap=True)
        for rank, *cells in self.rows:
            joined = Text("  ").join(cell for cell in cells if cell)
            shown.add_row(rank, *(cells if beside else (joined,)))
        yield shown


def _true(change: Counterfactual, truth: int) -> Text:
    return Text(" ✓ the original row", style=NEW) if change.rank == truth else Text()


def _changes(change: Counterfactual) -> Text:
    parts: list[tuple[str, str]] = []
    for domain, (before, after) in change.changes.items():
        old = "missing" if before is None else plain(visible(before))
        parts += [(f"{plain(domain)} ", FAINT), (old, "red"), (" → ", ""), (plain(visible(after)), NEW), (", ", FAINT)]
    return Text.assemble(*parts[:-1])


def _support(change: Counterfactual, entities: Sequence[EntityView]) -> str:
    """How familiar the new values are beside the others: the least count, or with how many of them there is one."""
    least = min(change.support.values(), default=0)
    if least:
        return f"seen together {least:,}×"
    beside = sum(view.entity is not None or view.domain in change.changes for view in entities) - 1
    known = min(change.known.values(), default=0)
    return f"seen with {known} of {many(beside, 'other value')}" if beside else ""
