"""Turning any column into text the same way every time, and telling what the text looks like."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.errors import InputError

_NUMBER = r"^\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*$"
_GROUPED = r"^\s*[+-]?((\d{1,3}(\.\d{3})+|\d+)(,\d+)?|\d{1,3}(,\d{3})+(\.\d+)?)\s*$"  # 1.234,56 or 795,64; 1,234.56
_DATE = (
    r"^\s*(\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))"
    r"([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?( ?[AaPp][Mm])?(Z|[+-]\d{2}:?\d{2})?)?\s*$"
)

_HIDDEN = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")
_SPACES = {"\t": "⇥", "\n": "⏎", "\r": "⏎", "\N{NO-BREAK SPACE}": "⍽", "\N{NARROW NO-BREAK SPACE}": "⍽"}


def to_text(array: pa.Array, column: str) -> pa.Array:
    """The entities of a column as text; empty text becomes missing.

    A float that is a whole number reads like an integer (`721.0` → `721`): a column of integers turns into
    floats as soon as pandas meets a null in it, and must not change its entities by that.

    A time or a span of time reads the same in seconds and in nanoseconds.

    >>> to_text(pa.array([721.0, None, 0.5]), "HSCode").to_pylist()
    ['721', None, '0.5']
    >>> to_text(pa.array([0, 1_500_000], pa.timestamp("us")), "Seen").to_pylist()
    ['1970-01-01 00:00:00', '1970-01-01 00:00:01.5']
    >>> to_text(pa.array([90, None], pa.duration("s")), "Took").to_pylist()
    ['0:01:30', None]
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        return to_text(array.dictionary, column).take(array.indices)
    if pa.types.is_floating(kind):
        array = _float_text(array)
    elif pa.types.is_duration(kind):
        array = _duration_text(array)
    elif pa.types.is_null(kind):
        array = pa.nulls(len(array), pa.string())
    elif pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        raise InputError(f"column '{column}' holds bytes, not text; decode it first")
    elif pa.types.is_nested(kind):
        raise InputError(f"column '{column}' holds lists or structs ({kind}); flatten it first")
    elif not pa.types.is_string(kind):
        try:
            array = array.cast(pa.string())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise InputError(f"column '{column}' of type {kind} can't be read as text: {error}") from error
        if pa.types.is_timestamp(kind) or pa.types.is_time(kind):
            array = _without_empty_fractions(array)
    empty = pc.equal(array, "")
    if pc.any(empty).as_py():
        array = pc.if_else(empty, pa.scalar(None, pa.string()), array)
    return array


def texts_of(values: Iterable[Any], column: str) -> list[str | None]:
    """Single values, of Python or NumPy, as they would read in a column of such values; None where missing.

    >>> import datetime
    >>> texts_of(["UA", True, 5, 5.0, datetime.date(2024, 3, 5), float("nan")], "Any")
    ['UA', 'true', '5', '5', '2024-03-05', None]
    """
    given = list(values)
    found: list[str | None] = [None] * len(given)
    for kind in {type(value) for value in given}:
        places = [place for place, value in enumerate(given) if type(value) is kind]
        mine = [given[place] for place in places]
        try:
            array = pa.array(mine, from_pandas=True)
        except (ValueError, TypeError, OverflowError):  # what Arrow does not know, such as a pandas Period
            array = pa.array([str(value) for value in mine], pa.string())
        for place, text in zip(places, to_text(array, column).to_pylist(), strict=True):
            found[place] = text
    return found


def _float_text(array: pa.Array) -> pa.Array:
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())
    values = pc.if_else(pc.is_nan(array), pa.scalar(None, array.type), array)
    unique = values.dictionary_encode()
    # The shortest text that gives the number back in its own precision: 0.1 in single precision is 0.1 too.
    numbers = unique.dictionary.to_numpy(zero_copy_only=False)
    texts = [str(int(v)) if float(v).is_integer() else str(v) for v in numbers]
    return pa.array(texts, pa.string()).take(unique.indices)


def _duration_text(array: pa.Array) -> pa.Array:
    """Spans of time in words that do not depend on their resolution: `1:30:00`, `2 days, 0:00:00`."""
    unique = array.cast(pa.duration("us"), safe=False).dictionary_encode()
    return pa.array([str(span) for span in unique.dictionary.to_pylist()], pa.string()).take(unique.indices)


def _without_empty_fractions(texts: pa.Array) -> pa.Array:
    """Times without the zeros that only their resolution puts there."""
    whole = pc.replace_substring_regex(texts, r"\.0+($|[^0-9])", r"\1")
    return pc.replace_substring_regex(whole, r"(\.[0-9]*[1-9])0+($|[^0-9])", r"\1\2")


def truth(texts: pa.Array) -> pa.Array:
    """`true` or `false` for every way to spell them; null for anything else.

    >>> truth(pa.array(["True", "FALSE", "1", "0", "yes"])).to_pylist()
    ['true', 'false', 'true', 'false', None]
    """
    ways = pa.array(["true", "false", "1", "0"])
    return pa.array(["true", "false", "true", "false"]).take(pc.index_in(pc.utf8_lower(texts), value_set=ways))


def is_typed(kind: pa.DataType) -> bool:
    """Whether a column holds numbers or times by its type, so that how they read as text is `to_text`'s doing.

    >>> is_typed(pa.float64()), is_typed(pa.date32()), is_typed(pa.string())
    (True, True, False)
    """
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    return bool(number or pa.types.is_temporal(kind))


def to_number(array: pa.Array, column: str) -> np.ndarray:
    """A numeric column as float64, NaN where missing; text is parsed, anything else in it is an error."""
    values, odd = read_numbers(array, column)
    if odd is not None:
        first = odd.drop_null()[0].as_py()
        raise InputError(
            f"column '{column}' is declared numeric but holds {first!r}; "
            + ("write it with a decimal point and nothing else" if _grouped(first) else "clean it")
            + ", or leave it out of `numeric`"
        )
    return values


def read_numbers(array: pa.Array, column: str) -> tuple[np.ndarray, pa.Array | None]:
    """A numeric column as float64, NaN where there is no number, and the text of cells that hold something else, null
    elsewhere; None where there are none."""
    kind, odd = array.type, None
    if pa.types.is_dictionary(kind):
        array = array.dictionary.take(array.indices)
        kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        text = pc.utf8_trim_whitespace(to_text(array, column))
        text = pc.if_else(pc.equal(text, ""), pa.scalar(None, pa.string()), text)
        bad = pc.invert(pc.match_substring_regex(text, _NUMBER))
        if pc.any(bad).as_py():
            odd = pc.if_else(bad, text, pa.scalar(None, pa.string()))
            text = pc.if_else(bad, pa.scalar(None, pa.string()), text)
        # Arrow's parser knows no leading plus sign.
        array = pc.replace_substring_regex(text, r"^\+", "")
    elif not (
        pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)  # nothing but missing values, as in a single row without one
    ):
        raise InputError(f"column '{column}' of type {kind} can't be numeric; leave it out of `numeric`")
    values: np.ndarray = array.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values, odd


def all_numbers(entities: pa.Array) -> bool:
    """Whether every entity reads as a number, also with a decimal comma or thousands set apart."""
    return len(entities) > 0 and bool(pc.all(is_number(entities)).as_py())


def is_number(entities: pa.Array) -> pa.Array:
    """Which entities read as a number, bool [n]."""
    plain = pc.match_substring_regex(entities, _NUMBER)
    grouped = pc.match_substring_regex(entities, _GROUPED)
    return pc.or_(plain, grouped)


def _grouped(text: str) -> bool:
    return re.match(_GROUPED, text) is not None


def all_dates(entities: pa.Array) -> bool:
    """Whether every entity reads as a date or a timestamp."""
    return len(entities) > 0 and bool(pc.all(is_date(entities)).as_py())


def is_date(entities: pa.Array) -> pa.Array:
    """Which entities read as a date or a timestamp, bool [n]."""
    return pc.match_substring_regex(entities, _DATE)


def visible(text: str) -> str:
    """A text with the spaces drawn that nobody would see: at its ends, next to each other, and unusual ones.

    >>> visible("Leith "), visible("New  York"), visible("New York")
    ('Leith␠', 'New␠␠York', 'New York')
    """
    return _HIDDEN.sub(lambda found: "".join(_SPACES.get(sign, "␠") for sign in found[0]), text)
