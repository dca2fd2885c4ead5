"""Which keys lie beside which, on the keyboards that Latin text and numbers are typed on."""

from __future__ import annotations

from functools import cache
from math import hypot

REACH = 1.3
"""Keys whose centres are at most this far apart, in widths of a key, are neighbours."""

_Rows = tuple[tuple[float, float, str], ...]
"""Rows of keys: how far down, how far the first key is to the right, and what the keys write."""

LAYOUTS: dict[str, _Rows] = {
    "qwerty": (
        (0, 0.0, "1234567890-="),
        (1, 0.5, "qwertyuiop[]"),
        (2, 0.75, "asdfghjkl;'"),
        (3, 1.25, "zxcvbnm,./"),
    ),
    "qwertz": (
        (0, 0.0, "1234567890ß"),
        (1, 0.5, "qwertzuiopü+"),
        (2, 0.75, "asdfghjklöä#"),
        (3, 0.25, "<yxcvbnm,.-"),
    ),
    "azerty": (
        (0, 0.0, "1234567890"),
        (0, 0.0, "&é\"'(-è_çà)="),
        (1, 0.5, "azertyuiop^$"),
        (2, 0.75, "qsdfghjklmù*"),
        (3, 0.25, "<wxcvbn,;:!"),
    ),
    "pad": (
        (0, 0.0, "789"),
        (1, 0.0, "456"),
        (2, 0.0, "123"),
        (3, 0.0, "00."),
    ),
}
"""Three keyboards and the numeric pad; on AZERTY, digits and accented letters share their keys."""


@cache
def _beside(layout: str) -> dict[str, str]:
    keys = [(right + place, down, char) for down, right, row in LAYOUTS[layout] for place, char in enumerate(row)]
    found: dict[str, dict[str, None]] = {}
    for x, y, char in keys:
        near = found.setdefault(char, {})
        near.update((other, None) for u, v, other in keys if other != char and hypot(x - u, y - v) <= REACH)
    return {char: "".join(near) for char, near in found.items()}


@cache
def neighbours(char: str, layout: str) -> str:
    """What the keys beside a character's key write, in the case of that character; empty where it has no key.

    >>> neighbours("s", "qwerty")
    'weadzx'
    >>> neighbours("5", "pad")
    '8462'
    """
    near = _beside(layout).get(char.lower(), "")
    if char == char.lower():
        return near
    # What has no capital of one character, such as ß, stays out.
    return "".join(other.upper() for other in near if len(other.upper()) == 1 and other.isalpha())
