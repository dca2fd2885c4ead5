"""The command `carat`: errors become one line, every command is a file of its own."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Any

import typer
from rich.console import Console

from carat.errors import CaratError

app = typer.Typer(
    name="carat",
    help="Which entities of a flagged record do not belong together, and what would have made it normal.",
    epilog="Start with: carat demo. Then: carat fit my.csv --out model, carat score model my.csv --out scores.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def say(line: str, *, quiet: bool = False) -> None:
    """A line for the person at the terminal; standard output is for data alone."""
    if not quiet:
        console().print(" ".join(line.split()), markup=False, emoji=False, highlight=False, soft_wrap=True)


def console() -> Console:
    """Standard error as it is now, so that tests and pipes see the same."""
    return Console(stderr=True)


def main(arguments: list[str] | None = None) -> None:
    """Run the command line: exit code 0 done, 2 bad input (one clear line), 1 our fault."""
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """As `main`, but give the exit code back."""
    try:
        result: Any = app(args=arguments, standalone_mode=False)
    except CaratError as error:
        return _fail(str(error), 2)
    except typer.Exit as error:
        return error.exit_code
    except (typer.Abort, KeyboardInterrupt):
        return _fail("interrupted", 130)
    except BrokenPipeError:
        # The reader of our standard output has gone, as `head` does; nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 0
    except OSError as error:  # no permission, a full disk, a name too long
        return _fail(f"{error.filename or 'input or output'}: {error.strerror or error}", 2)
    except Exception as error:
        if hasattr(error, "format_message"):  # a usage error of the option parser
            message = error.format_message()
            # Without a message the help was asked for by naming no command, and is printed already.
            return _fail(f"{message} (see carat --help)", 2) if message else 0
        if os.environ.get("CARAT_DEBUG"):
            traceback.print_exc()
        return _fail(
            f"internal error, {type(error).__name__}: {error} (CARAT_DEBUG=1 shows where; please report it)", 1
        )
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    say(f"carat: {message}")
    return code
