"""`carat apply`: from decisions to a clean table, and back."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated

import typer

from carat.cli.app import START, command, conclude
from carat.cli.options import FLAG, Encoding, Force, Quiet, tables
from carat.errors import InputError

if TYPE_CHECKING:
    from carat.jobs import ApplySummary


@command(START)
def apply(
    cells: Annotated[
        str,
        typer.Argument(
            metavar="CELLS",
            help="The list that carat audit wrote to --out or that you downloaded from its page, with your decisions "
            "in it; with --revert, FILE.changes.jsonl.",
            show_default=False,
            autocompletion=tables,
        ),
    ],
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="The table that was audited: a csv, csv.gz, parquet, jsonl or xlsx file. It is not changed.",
            show_default=False,
            autocompletion=tables,
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="FILE",
            help="The corrected table, in the format of TABLE. FILE.changes.jsonl beside it lists every change.",
            show_default=False,
        ),
    ],
    certain: Annotated[
        float,
        typer.Option(
            metavar="P", help="Apply suggested fixes that you left undecided if their confidence is at least this."
        ),
    ] = 0.9,
    decided_only: Annotated[
        bool,
        typer.Option(
            "--decided-only",
            metavar=FLAG,
            help="Apply only the fixes that you decided, however certain the others are.",
        ),
    ] = False,
    revert: Annotated[
        bool, typer.Option("--revert", metavar=FLAG, help="Undo the changes that FILE.changes.jsonl lists.")
    ] = False,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="Column that identifies a row. Default: the one in CELLS.about.json, or the row number.",
            show_default=False,
        ),
    ] = None,
    encoding: Encoding = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[
        bool, typer.Option("--json", metavar=FLAG, help="Print a summary as JSON on standard output.")
    ] = False,
) -> None:
    """Fix a table: write a corrected copy, applying your decisions and every undecided fix that is certain enough.

    A fix that you left undecided is applied if its confidence is at least --certain (0.9). With --decided-only, carat
    applies only the fixes that you decided.

    Write your decisions into the column decision of CELLS: accept (take the suggested fix), reject (the value is
    right), wrong (it is wrong, but you don't know the right value), =text for another value, or = to empty the cell.
    You can also add rows for cells that are not listed: record (the row number or ID), column and decision are enough.
    Row numbers count from 0, without the header: row 205 is line 207 of the file, unless cells hold line breaks.

    Everything else stays as it was, in csv and jsonl files byte for byte: quotes, encoding, line ends. A workbook keeps
    its other sheets, styles and formulas. Cells to fix together, such as two that were swapped, are changed together
    or not at all. A list that does not fit the table is refused.

    FILE.changes.jsonl lists every change, and --revert undoes them all.

    Example: [bold]carat apply cells.csv suppliers.csv --out fixed.csv[/bold]

    Example: [bold]carat apply fixed.csv.changes.jsonl fixed.csv --revert --out original.csv[/bold]
    """
    from carat.auditing.applying.choosing import Rules
    from carat.cli.apply_view import left_in_words, show
    from carat.cli.terminal import terminal
    from carat.jobs import ApplyJob, RevertJob

    if out == "-":
        raise InputError("--out must name a file: the log of the changes is written beside it")
    if revert and (decided_only or id is not None or encoding is not None):
        raise InputError("--revert takes nothing but the log and the table; leave the other options away")
    with terminal(quiet=quiet) as observer:
        if revert:
            done = RevertJob(cells, table, out, force=force, observer=observer).run()
            line = _reverted(done)
        else:
            rules = Rules(certain, decided_only)
            job = ApplyJob(cells, table, out, rules=rules, id=id, encoding=encoding, force=force, observer=observer)
            done = job.run()
            line = f"{applied(done)}{left_in_words(done, rules)}{undo(done, table)}"
    if not revert and not as_json:
        show(done, quiet=quiet)
    conclude(line, done.facts(), as_json=as_json, quiet=quiet)


def applied(done: ApplySummary) -> str:
    """How many cells were changed, and by whose word."""
    from carat.cli.app import many

    if not done.changes:
        return f"{done.out}: nothing was changed, it is a copy"
    you, carat = done.by["you"], done.by["carat"]
    whose = f" ({you:,} decided by you, {carat:,} certain)" if you and carat else ""
    return f"{done.out}: {many(done.changes, 'cell')} changed{whose}"


def undo(done: ApplySummary, table: str) -> str:
    """The command that takes it back; empty where there is nothing to take back.

    Args:
        done: what was changed.
        table: the original, of whose copy the same sheet is meant.
    """
    from carat.data.workbooks.package import split_sheet

    if not done.changes:
        return ""
    sheet = split_sheet(table)[1]
    name = done.out if sheet is None else shlex.quote(f"{done.out}#{sheet}")
    return f"; to undo: carat apply {done.log} {name} --revert --out ORIGINAL"


def _reverted(done: ApplySummary) -> str:
    from carat.cli.app import many

    return f"{done.out}: {many(done.changes, 'change')} undone"
