"""The command `carat`: errors become one line, every command is a file of its own.

A command imports what it works with when it is called: torch takes seconds, and `--help`, a Tab or a mistyped option
should not wait for it.
"""

from __future__ import annotations

import errno
import inspect
import io
import json
import os
import re
import sys
import time
import traceback
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console

from carat._version import __version__
from carat.cli.mistyped import in_words
from carat.cli.options import FLAG
from carat.errors import CaratError, InputError
from carat.launched import Launched

HELP = """
Find the unusual rows of a table: which values do not belong together, and what would have made them normal.

[bold]See it work[/bold] on flight data that comes with carat (about three minutes):

    carat demo

[bold]Audit[/bold] a table: which cells are probably wrong, and what should be there. Nothing else is needed:

    carat audit shipments.csv --out cells.csv --report page.html

[bold]Fix[/bold] the table: write your decisions into the list. A corrected copy gets them, and every undecided fix \
that is certain enough. With [cyan]--decided-only[/cyan], carat applies only the fixes that you decided:

    carat apply cells.csv shipments.csv --out fixed.csv

[bold]Learn[/bold] what is normal in your table. [cyan]--columns A,B,C[/cyan] picks the columns:

    carat fit shipments.csv --out model

[bold]Look[/bold] at the rows with the highest alarm: what does not belong, why, and suggested fixes:

    carat recourse model shipments.csv --top 20

[bold]Save[/bold] the suggested fixes as a table, and as a page that opens in any browser:

    carat recourse model shipments.csv --out fixes.csv --report page.html

[bold]Every morning[/bold], check the new rows. Only anomalous ones get suggested fixes:

    carat score model today.csv --out scores.csv
    carat recourse model today.csv --out fixes.csv --report page.html

[bold]Every month[/bold], keep the model up to date, in seconds:

    carat update model month.csv --out model --force

[bold]In a hurry?[/bold] The profile instant skips the slow training and takes seconds:

    carat fit shipments.csv --out quick --profile instant

Every command has its own help, for example [cyan]carat fit --help[/cyan].
To complete commands with Tab, run [cyan]carat --install-completion[/cyan] once.
"""

app = typer.Typer(
    name="carat",
    help=HELP,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

CONSOLE = Console(stderr=True)
"""For people; the bars are on it too, so that a line said meanwhile stands above them and not among them."""
INTERRUPTED = 130
PATIENCE = 3.0
"""Seconds that a process waits for process 0 to say what is wrong."""
START, DAILY, RESEARCH = "Start", "Every day", "Look inside and compare"
"""Panels of `carat --help`."""
F = TypeVar("F", bound=Callable[..., Any])


def command(panel: str) -> Callable[[F], F]:
    """A command of the application. Its help is its docstring, each paragraph on one line: the terminal wraps it."""

    def add(function: F) -> F:
        paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
        help = "\n\n".join(paragraph.replace("\n", " ") for paragraph in paragraphs)
        return app.command(rich_help_panel=panel, help=help)(function)

    return add


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"carat {__version__}")
        raise typer.Exit


@app.callback()
def carat(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", metavar=FLAG, callback=_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """The options that stand before a command."""
    if context.invoked_subcommand != "fit" and Launched.by_torchrun():
        raise InputError(f"torchrun is for carat fit; run carat {context.invoked_subcommand} by itself")


def plain(text: str) -> str:
    """Text of the user's table or file names, without the signs that would command a terminal or turn a line round."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\N{REPLACEMENT CHARACTER}", text)


def many(count: int, one: str, more: str | None = None) -> str:
    """A count and what is counted.

    >>> many(1, "row"), many(1_200, "row"), many(2, "fix", "fixes")
    ('1 row', '1,200 rows', '2 fixes')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def say(line: str, *, quiet: bool = False) -> None:
    """A line for the person at the terminal; standard output is for data alone."""
    if not quiet:
        text = plain(" ".join(line.split()))
        CONSOLE.print(text, markup=False, emoji=False, highlight=False, soft_wrap=True)


def conclude(line: str, facts: dict[str, Any], *, as_json: bool, quiet: bool) -> None:
    """How a command ended: a line for people, or its facts as JSON on standard output."""
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False))
    else:
        say(line, quiet=quiet)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0 done, 2 bad input (one clear line), 1 our fault."""
    _speak_utf8()
    sys.exit(run(arguments))


def _speak_utf8() -> None:
    """Data goes out in UTF-8, whatever the locale says; a terminal that lacks a sign shows another one."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            if stream.isatty():
                stream.reconfigure(errors="replace")
            else:
                stream.reconfigure(encoding="utf-8")


def run(arguments: list[str] | None = None) -> int:
    """As `main`, but give the exit code back."""
    typed = spelled_out(sys.argv[1:] if arguments is None else arguments)
    try:
        result: Any = app(args=typed, standalone_mode=False)
    except CaratError as error:
        return _fail(with_flags(str(error)), 2)
    except typer.Exit as error:
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", INTERRUPTED)
    except SystemExit as stop:
        # typer's answer where the reader of our standard output has gone, as `head` does; nothing is wrong.
        gone = isinstance(stop.__context__, OSError) and stop.__context__.errno == errno.EPIPE
        return 0 if gone else stop.code if isinstance(stop.code, int) else 1
    except OSError as error:  # no permission, a full disk, a name too long
        return _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of the option parser
            message = in_words(error, typed)
            # Without a message the help was asked for by naming no command, and is printed already.
            return _fail(message, 2) if message else 0
        if os.environ.get("CARAT_DEBUG"):
            traceback.print_exc()
        return _fail(
            f"internal error, {type(error).__name__}: {error} (please report it; set CARAT_DEBUG=1 to see where)", 1
        )
    code = result if isinstance(result, int) else 0
    return _fail("interrupted", code) if code == INTERRUPTED else code  # typer has caught it, and says nothing


def spelled_out(arguments: list[str]) -> list[str]:
    """The same with an address after every --ray: it may be left out, and options of typer's have a value or none.

    >>> spelled_out(["model", "--ray", "new.parquet"]), spelled_out(["--ray", "10.0.0.1:6379"])
    (['model', '--ray=local', 'new.parquet'], ['--ray', '10.0.0.1:6379'])
    """
    after = [*arguments[1:], ""]
    return [
        "--ray=local" if each == "--ray" and not ADDRESS.fullmatch(following) else each
        for each, following in zip(arguments, after, strict=False)
    ]


ADDRESS = re.compile(r"auto|local|(ray://)?[^/\\\s]+:\d+")
"""What may stand after --ray; a path may not."""


FLAGS = {"domains": "--columns", "start": "--from", "without_patterns": "--without-pattern"} | {
    name: f"--{name}"
    for name in (
        "also",
        "without",
        "numeric",
        "id",
        "force",
        "profile",
        "detector",
        "device",
        "top",
        "all",
        "k",
        "method",
        "minutes",
        "seed",
        "steps",
        "explainer",
        "gate",
        "columns",
        "cut",
        "encoding",
        "certain",
        "revert",
        "out",
        "forget",
        "decisions",
        "patterns",
        "ray",
        "workers",
        "prefer",
        "diversity",
        "neighbours",
        "budget",
        "seconds",
        "shortlist",
        "constraints",
    )
}
"""The flags of arguments that the library's errors name."""


def with_flags(message: str) -> str:
    """An error of the library in the words of the command line: an `argument` in backticks becomes its flag.

    >>> with_flags("a.csv: exists already; use `force` to replace it")
    'a.csv: exists already; use --force to replace it'
    """
    return re.sub(r"`([a-z_]+)`", lambda found: FLAGS.get(found[1], found[1]), message)


def _fail(message: str, code: int) -> int:
    if Launched.follows():
        # What is wrong is nearly always wrong for all processes. Process 0 says it, and torchrun then ends this one.
        time.sleep(PATIENCE)
    say(f"carat: {message}")
    return code
