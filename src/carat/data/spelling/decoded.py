"""Texts that were read in a wrong encoding: `ZÃ¼rich` for `Zürich`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from carat.data.spelling.affixes import Affixes

GARBLED = "undo a wrong text encoding"
TIMES = 3
"""A text may have been read wrongly several times over."""
_BYTES = {bytes([code]).decode("cp1252", "ignore") or chr(code): code for code in range(0x80, 0x100)}
_BYTES |= {chr(code): code for code in range(0x80, 0xA0)}
"""Characters that stand for one byte in the encoding of Windows, and in Latin-1."""
_RUN = re.compile(f"[{re.escape(''.join(_BYTES))}]+")
_TYPED = frozenset("“”‘’–—…•\N{NO-BREAK SPACE}")
"""What people write behind a letter: `“CAFÉ”` is right as it is."""
_LIKELY = ((0xA0, 0x17F), (0x2010, 0x2044), (0x20AC, 0x20AC), (0x2122, 0x2122))
"""Characters that a short text may well hold: letters of Europe, quotes, dashes, the euro, the trademark sign."""
_SCRIPTS = ((0x370, 0x3FF), (0x400, 0x4FF), (0x590, 0x6FF), (0x3040, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3))
"""Scripts of which one letter alone proves nothing."""


def decoded(values: Sequence[str], counts: np.ndarray) -> Affixes:
    """Texts as they read in the right encoding, where they were written as UTF-8 and read as Windows-1252 or Latin-1.

    Two or three characters that make up one in UTF-8 hardly ever meet in a text that was read rightly.

    Args:
        values: the unique values of a column.
        counts: how often each occurs, int [V]; it makes no difference.

    >>> decoded(["ZÃ¼rich", "Zürich", "â‚¬ 5"], np.array([1, 9, 1])).text
    ['Zürich', None, '€ 5']
    """
    text = [None if value.isascii() else undone(value) for value in values]
    return Affixes(text, [GARBLED if made else None for made in text])


def undone(value: str) -> str | None:
    """A text as it should read; None where nothing shows that it was read wrongly."""
    made = value
    for _ in range(TIMES):
        again = _RUN.sub(_read, made)
        if again == made:
            break
        made = again
    return made if made != value else None


def _read(found: re.Match[str]) -> str:
    run = found[0]
    try:
        made = bytes(_BYTES[char] for char in run).decode("utf-8")
    except UnicodeDecodeError:
        return run
    scripts = sum(_within(char, _SCRIPTS) for char in made)
    if not all(_within(char, _LIKELY) or _within(char, _SCRIPTS) for char in made) or scripts == 1:
        return run
    if set(run[1:]) <= _TYPED:
        before, after = found.string[: found.start()][-1:], found.string[found.end() :][:1]
        if not before.islower() and not after.isalpha():
            return run
    return made


def _within(char: str, ranges: Sequence[tuple[int, int]]) -> bool:
    return any(first <= ord(char) <= last for first, last in ranges)
