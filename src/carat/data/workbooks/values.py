"""A cell's value as the text that a person sees, and any text as one that a workbook can hold."""

from __future__ import annotations

import re
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from carat.errors import InputError

MAX_ROWS, MAX_COLUMNS, MAX_TEXT = 1_048_576, 16_384, 32_767
"""What a sheet holds, its header included, and what a cell holds."""
BLANK, TEXT, NUMBER, DATE, TRUTH, ERROR = range(6)
"""Kinds of cells."""

_KINDS: dict[type, int] = {
    str: TEXT,
    float: NUMBER,
    int: NUMBER,
    bool: TRUTH,
    date: DATE,
    datetime: DATE,
    time: DATE,
    timedelta: DATE,
}
# What XML 1.0 can't hold, and a text that would read as the escape of a sign.
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_ESCAPE = re.compile("_x((?![dD][89A-Fa-f])[0-9A-Fa-f]{4})_")  # half a character is no text


def cell_text(value: Any) -> str | None:
    """What a person sees in a cell; None where it is blank.

    >>> [cell_text(value) for value in ("0721", 721.0, 0.5, True, "", date(2024, 3, 1))]
    ['0721', '721', '0.5', 'TRUE', None, '2024-03-01']
    """
    if isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, float | int):
        return number_text(value)
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02d}:{seconds:02d}"
    return None if value is None else str(value)


def number_text(number: float) -> str:
    """A number in the 15 digits that Excel shows, whole ones without a point.

    >>> number_text(0.1 + 0.2), number_text(4000.0), number_text(12345678901234567.0), number_text(1e300)
    ('0.3', '4000', '12345678901234600', '1e+300')
    """
    shown = f"{number:.15g}"
    return str(int(Decimal(shown))) if abs(number) < 1e21 and float(number).is_integer() else shown


def kinds_of(values: list[Any]) -> np.ndarray:
    """The kind of each cell, int8 [n]."""
    found = [BLANK if value == "" or value is None else _KINDS.get(type(value), TEXT) for value in values]
    return np.array(found, dtype=np.int8)


def zeros_of(code: str) -> str | None:
    """The pattern of a number format that shows leading zeros, such as that of a postcode; None for all others.

    >>> zeros_of("00000"), zeros_of('000\\\\-00'), zeros_of("0.00"), zeros_of("0")
    ('00000', '000-00', None, None)
    """
    if re.fullmatch(r'(?:[0 /()-]|\\.|"[^"]*")+', code) is None:
        return None
    bare = re.sub(r'\\(.)|"([^"]*)"', lambda found: (found[1] or found[2] or "").replace("0", "\ufffd"), code)
    return bare if bare.count("0") > 1 and "\ufffd" not in bare else None


def padded(number: float, pattern: str) -> str:
    """A number as a pattern of zeros shows it; one that is no whole number is left as it is.

    >>> padded(721, "00000"), padded(12345, "000-00"), padded(123456, "000-00"), padded(-1, "00")
    ('00721', '123-45', '1234-56', '-1')
    """
    if number < 0 or not float(number).is_integer():
        return number_text(number)
    digits = list(str(int(number)).zfill(pattern.count("0")))
    first = pattern.index("0")
    shown = [digits.pop() if sign == "0" else sign for sign in reversed(pattern[first + 1 :])]
    return pattern[:first] + "".join(digits) + "".join(reversed(shown))


def escaped(text: str) -> str:
    """A text that a workbook can hold: signs that XML has no place for as `_x0007_`, as Excel writes them itself.

    >>> escaped("a bell \\x07, or _x0041_")
    'a bell _x0007_, or _x005F_x0041_'
    """
    return _ESCAPED.sub(lambda found: f"_x{ord(found[0]):04X}_", text)


def unescaped(text: str) -> str:
    """The text that was escaped.

    >>> unescaped(escaped("a bell \\x07, or _x0041_")) == "a bell \\x07, or _x0041_"
    True
    """
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def check_fits(rows: int, columns: int, label: str) -> None:
    """Refuse a table that is larger than a sheet; `rows` without the header."""
    if rows >= MAX_ROWS:
        raise InputError(
            f"{label}: {rows:,} rows, and a sheet of a workbook holds {MAX_ROWS - 1:,}; write .csv instead"
        )
    if columns > MAX_COLUMNS:
        raise InputError(
            f"{label}: {columns:,} columns, and a sheet of a workbook holds {MAX_COLUMNS:,}; write .csv instead"
        )


def check_length(text: str, where: str) -> str:
    """The text, where a cell of a workbook holds it."""
    if len(text) > MAX_TEXT:
        raise InputError(
            f"{where}: a text of {len(text):,} characters, and a cell of a workbook holds {MAX_TEXT:,}; "
            "write .csv instead"
        )
    return text


def column_letters(place: int) -> str:
    """How a sheet calls a column, counted from 0.

    >>> column_letters(0), column_letters(27), column_letters(16_383)
    ('A', 'AB', 'XFD')
    """
    letters = ""
    place += 1
    while place:
        place, rest = divmod(place - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def cell_name(row: int, column: int) -> str:
    """How a sheet calls a cell, both counted from 0: `B5`."""
    return f"{column_letters(column)}{row + 1}"
