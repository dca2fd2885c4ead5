"""Doctests in docstrings become blocks of code on the site, without a heading of their own in the source."""

from __future__ import annotations

import re
from typing import Any

import griffe

DOCTEST = re.compile(r"^>>> .*(?:\n(?!\s*$).*)*", re.MULTILINE)


class Examples(griffe.Extension):
    """Puts fences around every doctest."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Called for everything that has been read."""
        if obj.docstring is not None:
            obj.docstring.value = fenced(obj.docstring.value)


def fenced(text: str) -> str:
    """A docstring with its doctests as blocks.

    >>> fenced("Adds.").count("```")
    0
    >>> fenced(chr(10).join(["Adds.", "", ">" * 3 + " 1 + 1", "2"])).count("```")
    2
    """
    return DOCTEST.sub(lambda found: f"```pycon\n{found[0]}\n```", text)
