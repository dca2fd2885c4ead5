"""Usage errors of the option parser in words for people: it speaks of strings, parsing and integers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

KIND = re.compile(r"valid (number|float|integer)")
"""How the parser says that a text is no number; the words differ between its versions."""
BOUND = re.compile(r"should be (?:greater|less) than or equal to (\S+)")
EXAMPLES = {"a number": 0.5, "a whole number": 10}
"""What is shown where an option has no default."""


def in_words(error: Any, arguments: Sequence[str]) -> str:
    """What is wrong, in one line; empty where the help was asked for by naming no command.

    Args:
        error: of the option parser.
        arguments: what was typed.
    """
    message = str(error.format_message())
    flags = [flag for flag in getattr(getattr(error, "param", None), "opts", ()) if flag.startswith("--")]
    if flags:
        kind, bound = KIND.search(message), BOUND.search(message)
        got = typed(flags[0], arguments)
        said = "" if got is None else f"; got '{got}'"
        if kind is not None:
            wanted = "a whole number" if kind[1] == "integer" else "a number"
            default = getattr(error.param, "default", None)
            usual = default if isinstance(default, int | float) else EXAMPLES[wanted]
            return f"{flags[0]} needs {wanted} such as {usual:g}{said}"
        if bound is not None:
            return f"{flags[0]} must be at {'least' if 'greater' in bound[0] else 'most'} {bound[1]}{said}"
    return f"{message} (see {_command(error)} --help)" if message else ""


def typed(flag: str, arguments: Sequence[str]) -> str | None:
    """What was typed as the value of an option, the last time it was; None if that can't be told.

    >>> typed("--top", ["audit", "--top", "x"]), typed("--top", ["audit", "--top=y"]), typed("--top", ["audit"])
    ('x', 'y', None)
    """
    found = None
    for place, each in enumerate(arguments):
        if each.startswith(f"{flag}="):
            found = each.partition("=")[2]
        elif each == flag and place + 1 < len(arguments):
            found = arguments[place + 1]
    return found


def _command(error: Any) -> str:
    """The command that a usage error speaks of, as it is typed."""
    context = getattr(error, "ctx", None)
    names = [] if context is None else str(context.command_path).split()[1:]
    return " ".join(["carat", *names])
