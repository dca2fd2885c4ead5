"""What texts look like: capitals, small letters and digits as classes."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

import numpy as np


class _Classes(dict[int, str]):
    """The class of every character, found once."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category in ("Lu", "Lt"):
            found = "A"
        elif category == "Ll":
            found = "a"
        elif category[0] == "L":
            found = "字"
        elif category == "Nd":
            found = "9"
        elif category[0] == "M":
            found = ""  # part of the letter before it
        else:
            found = " " if char.isspace() else char
        self[code] = found
        return found


_CLASSES = _Classes()
_SIGNED = re.compile(r"\A[+\-−](?=\d[\d.,]*\Z)")
"""Whether a number is below zero is no matter of how it looks."""
_RUNS = re.compile(r"([Aa9字])\1+")


def unsigned(text: str) -> str:
    """A number without the sign before it; any other text as it is.

    >>> unsigned("-12.50"), unsigned("-12 kg")
    ('12.50', '-12 kg')
    """
    return _SIGNED.sub("", text, count=1) if text[:1] in "+-−" else text


def shape(text: str, *, lengths: bool = False) -> str:
    """What a text looks like: capitals `A`, small letters `a`, letters without case `字`, digits `9`, the rest as is.

    A number looks the same with a sign before it.

    >>> shape("12.0 oz"), shape("12.0 oz", lengths=True)
    ('9.9 a', '99.9 aa')

    Args:
        text: any.
        lengths: keep the length of runs; otherwise one sign stands for each.
    """
    found = unsigned(text).translate(_CLASSES)
    return found if lengths else _RUNS.sub(r"\1", found)


def shapes(values: Sequence[str], *, lengths: bool = False) -> tuple[np.ndarray, list[str]]:
    """The shapes of a column's values: a number for each, int64 [V], and what the numbers mean."""
    numbers: dict[str, int] = {}
    codes = np.fromiter(
        (numbers.setdefault(shape(text, lengths=lengths), len(numbers)) for text in values),
        dtype=np.int64,
        count=len(values),
    )
    return codes, list(numbers)
