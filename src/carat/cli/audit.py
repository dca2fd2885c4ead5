"""`carat audit`: which cells of a table are wrong, and what should be there."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from carat.cli.app import START, command, conclude, many, say
from carat.cli.options import FLAG, Encoding, Force, Quiet, Ray, one_of, tables
from carat.errors import InputError

if TYPE_CHECKING:
    from carat.auditing.result import AuditResult
    from carat.cli.terminal import Output
    from carat.jobs import AuditJob, Sink
    from carat.report import AuditPage

_NAMES = "A,B,…"


@command(START)
def audit(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="A csv, csv.gz, parquet, jsonl or xlsx file; - for JSON lines on standard input; "
            "or a bundled table: flights, shipments:us_import, …",
            show_default=False,
            autocompletion=tables,
        ),
    ],
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="CELLS",
            help="A csv, csv.gz, parquet, jsonl or xlsx file; - for JSON lines on standard output. Without it, a "
            "terminal shows the most suspicious cells and a pipe gets JSON lines.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(metavar="page.html", help="Also write a page that opens in any browser, to look and decide."),
    ] = None,
    fixed: Annotated[
        str | None,
        typer.Option(
            "--fixed",
            metavar="FILE",
            help="Write a corrected copy of TABLE, with every suggested fix that is certain enough. "
            "FILE.changes.jsonl beside it lists the changes.",
            show_default=False,
        ),
    ] = None,
    certain: Annotated[
        float | None,
        typer.Option(
            metavar="P",
            help="With --fixed: apply a fix if its confidence is at least this. Default: 0.9.",
            show_default=False,
        ),
    ] = None,
    decisions: Annotated[
        str | None,
        typer.Option(
            "--decisions",
            metavar="CELLS",
            help="A list of an earlier audit, of this table or of last month's, with its decisions filled in: learn "
            "from them.",
            show_default=False,
        ),
    ] = None,
    patterns: Annotated[
        bool,
        typer.Option(
            "--patterns/--no-patterns",
            metavar=FLAG,
            help="If you made the same change in several cells of a column, suggest it for all cells like them. "
            "Default: on.",
            show_default=False,
        ),
    ] = True,
    without_pattern: Annotated[
        list[str] | None,
        typer.Option(
            "--without-pattern",
            metavar="NAME",
            help="Leave out one of the patterns that are learned from --decisions, by its name or its number. Can be "
            "repeated.",
            show_default=False,
        ),
    ] = None,
    cut: Annotated[
        float, typer.Option(metavar="P", help="List cells whose probability of being wrong is at least this.")
    ] = 0.5,
    top: Annotated[
        int | None,
        typer.Option("--top", min=1, metavar="N", help="List only the N most suspicious cells; a swap stays whole."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar=_NAMES, help="Check exactly these columns. Default: all that can be checked.")
    ] = None,
    also: Annotated[
        str | None, typer.Option(metavar=_NAMES, help="Check these columns too, whatever their values look like.")
    ] = None,
    without: Annotated[str | None, typer.Option(metavar=_NAMES, help="Leave these columns out.")] = None,
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column that identifies a row. Default: the row number."),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            metavar="instant|fast",
            help="fast also trains small networks over the rows, which takes a few minutes.",
            autocompletion=one_of(lambda: ("instant", "fast")),
        ),
    ] = "instant",
    minutes: Annotated[
        float | None,
        typer.Option(
            metavar="N",
            help="With --profile fast: train for at most this many minutes. Default: 4.",
            show_default=False,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="With --profile fast: train exactly this many steps in all. To repeat an audit, pass the number it "
            "printed.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="The same seed gives the same result.")] = 0,
    encoding: Encoding = None,
    show: Annotated[int, typer.Option("--show", metavar="N", min=0, help="Cells to show on a terminal.")] = 10,
    ray: Ray = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers",
            min=1,
            metavar="N",
            help="With --ray: this many processes, each with its own copy of the table. Default: one per processor.",
            show_default=False,
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", metavar=FLAG, help="Continue an interrupted audit.")] = False,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", metavar=FLAG, help="Print JSON on standard output: the cells, or with --out CELLS a summary."
        ),
    ] = False,
) -> None:
    """Find the cells of a table that are probably wrong, and what should be there.

    The table is all it needs: no clean history, no labels, no model. Similar rows vote on most cells, and the text of
    each is compared with what is usual in its column. Every column is checked unless it has only one value, has a
    different value in every row, or is left out by name.

    CELLS gets one row per suspicious cell, the most suspicious first: record (the row number or ID), column, value,
    kind (typo, variant, format, misplaced, mismatch or missing), error (the probability that it is wrong), proposal
    (the suggested fix; <blank> for an empty cell), confidence (the probability that the fix is right), alternatives,
    reason, group (cells to fix together share a number), and decision, which is empty for you to fill in. If CELLS is
    an xlsx file, it also has a copy of the table, with the suspicious cells coloured.

    Row numbers count from 0, without the header: row 205 is line 207 of the file, unless cells hold line breaks. With
    --id you see your own IDs instead.

    The page of --report shows each cell with its row and similar rows. Decide there, or in CELLS, and hand the
    decisions to carat apply; or let --fixed apply what is certain enough.

    If you stop an audit that writes to CELLS, the same command with --resume continues it.

    Example: [bold]carat audit suppliers.csv --report page.html[/bold]

    Example: [bold]carat audit suppliers.csv --id number --without Comment --out cells.csv[/bold]

    Example: [bold]carat audit suppliers.csv --out cells.csv --fixed fixed.csv[/bold]
    """
    from carat import jobs
    from carat.auditing.options import AuditOptions
    from carat.cli.audit_view import show as show_cells
    from carat.cli.terminal import Output, judges, terminal

    if certain is not None and fixed is None:
        raise InputError("--certain is for --fixed; add that, or leave out --certain")
    options = AuditOptions(
        columns=None if columns is None else _names(columns),
        also=_names(also),
        without=_names(without),
        id=id,
        profile=profile,
        minutes=minutes,
        steps=steps,
        cut=cut,
        certain=AuditOptions.certain if certain is None else certain,
        top=top,
        seed=seed,
    )
    page = None if report is None else _page(report, force=force or resume)
    fixing = _check_fixed(table, fixed, force=force or resume)
    reported = page is not None or fixing is not None
    output = Output.of(out, as_json=as_json, show=show, force=force or resume, quiet=quiet, reported=reported)
    partial = _prepare(output.file, resume=resume, force=force)
    if resume and partial is None:
        fix = "" if fixing is None else f"; to fix the table: carat apply {out} {table} --out {fixing}"
        conclude(f"{out}: already complete, nothing to resume{fix}", _stored(str(out)), as_json=as_json, quiet=quiet)
        return
    if resume and partial is not None and not partial.exists():
        say(f"{partial}: nothing to resume, starting from the beginning", quiet=quiet)
    kept = _Kept()
    try:
        with judges(ray, workers) as spread, terminal(quiet=quiet) as observer:
            job = jobs.audit(
                table,
                options,
                encoding=encoding,
                observer=observer,
                checkpoints=partial,
                decisions=decisions,
                patterns=patterns,
                without_patterns=without_pattern or (),
                spread=spread,
            )
            job.into(*_sinks(job, output), kept, *([page] if page else []))
    except KeyboardInterrupt:
        if partial is not None and partial.exists():
            say(f"{partial}: progress is saved; to continue, run the same command with --resume", quiet=quiet)
        raise
    if partial is not None:
        shutil.rmtree(partial)
    show_cells(kept.result, output.shown)
    if fixing is not None:
        _write_fixed(kept.result, table, fixing, encoding, force=force or resume, quiet=quiet)
    conclude(
        f"{output.named}{kept.result.headline()}{output.hint(len(kept.result))}",
        _facts(output.file, job.summary.facts(), report),
        as_json=as_json and not output.speaks_json,
        quiet=quiet,
    )
    if report is not None:
        say(
            f"{report}: {many(len(kept.result), 'cell')} to decide; open it in a browser",
            quiet=quiet or as_json,
        )


class _Kept:
    """A sink that keeps the result, for what is shown at the end."""

    result: AuditResult

    def __enter__(self) -> _Kept:
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing to close."""

    def take(self, batch: AuditResult) -> None:
        self.result = batch

    def finish(self, job: Any) -> None:
        """The result is complete."""


def _page(path: Path, *, force: bool) -> AuditPage:
    from carat.report import AuditPage

    return AuditPage(path, force=force)


def _sinks(job: AuditJob, output: Output) -> list[Sink[AuditResult]]:
    from carat.auditing.result import AuditResult
    from carat.auditing.workbook import check_reading
    from carat.jobs import WorkbookSink

    sinks = output.sinks(AuditResult.to_file, {**job.options.facts(), "encoding": job.encoding})
    if output.file is not None and output.file.lower().endswith(".xlsx"):
        job.on_reading.append(check_reading)
        sinks[-1] = WorkbookSink(output.file, force=output.force)
    return sinks


def _check_fixed(table: str, fixed: str | None, *, force: bool) -> Path | None:
    """Where the corrected table goes; refused before the work where it could not be written at its end."""
    from carat.auditing.applying.changes import changes_of
    from carat.data.workbooks.package import split_sheet
    from carat.files import check_place
    from carat.jobs.apply_job import check_new

    if fixed is None:
        return None
    if table == "-" or not split_sheet(table)[0].exists():
        raise InputError(f"--fixed corrects a copy of a file, and {table} is none; save the table as a file first")
    if fixed == "-":
        raise InputError("--fixed must name a file: the log of the changes is written beside it")
    check_new(Path(table), Path(fixed), force=force)
    check_place(changes_of(Path(fixed)), force=force)
    return Path(fixed)


def _write_fixed(
    result: AuditResult, table: str, fixed: Path, encoding: str | None, *, force: bool, quiet: bool
) -> None:
    from carat.auditing.applying.choosing import Rules
    from carat.cli.apply import applied, undo
    from carat.cli.apply_view import left_in_words
    from carat.cli.terminal import terminal
    from carat.jobs import ApplyJob

    rules = Rules(result.options.certain)
    with terminal(quiet=quiet) as observer:
        done = ApplyJob(result, table, fixed, rules=rules, encoding=encoding, force=force, observer=observer).run()
    say(f"{applied(done)}{left_in_words(done, rules)}{undo(done, table)}", quiet=quiet)


def _prepare(file: str | None, *, resume: bool, force: bool) -> Path | None:
    """The folder for checkpoints, cleared as the options say; None where there is none, or nothing left to resume."""
    from carat.files import locked
    from carat.jobs.audit_job import CLAIM

    if file is None or file == "-":
        if resume:
            raise InputError("--resume continues an audit that writes to a file; add its --out CELLS")
        return None
    partial = Path(f"{file}.partial")
    with locked(Path(file)):  # else one audit could clear away what another is writing
        if partial.exists() and not (partial / CLAIM).exists() and (not partial.is_dir() or any(partial.iterdir())):
            raise InputError(f"{partial}: is in the way and not from an audit; move it, or choose another --out")
        if resume:
            return None if Path(file).exists() and not partial.exists() else partial
        if partial.exists():
            if not force:
                raise InputError(
                    f"{partial}: holds an unfinished audit; continue with --resume or start over with --force"
                )
            shutil.rmtree(partial)
    return partial


def _facts(file: str | None, summary: dict[str, Any], report: Path | None = None) -> dict[str, Any]:
    """How an audit ended, for machines."""
    return {"out": file, "report": None if report is None else str(report), **summary}


def _stored(file: str) -> dict[str, Any]:
    """The facts of an audit that ended before, as the file beside its output has them."""
    from carat.files import sidecar_of

    try:
        summary = json.loads(sidecar_of(file).read_text(encoding="utf-8"))["summary"]
    except (OSError, ValueError, KeyError):
        summary = {}
    return _facts(file, summary)


def _names(text: str | None) -> list[str]:
    """Names between commas; one with a comma of its own is put in quotes.

    >>> _names('City, "Name, first",ZIP')
    ['City', 'Name, first', 'ZIP']
    """
    if text is None:
        return []
    return [name.strip() for name in next(csv.reader([text], skipinitialspace=True), []) if name.strip()]
