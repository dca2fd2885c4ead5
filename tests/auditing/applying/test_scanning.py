"""The scanner and carat's own reader tell rows and cells apart in the same way, whatever the file looks like."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from carat.auditing.applying.letters import Letters
from carat.auditing.applying.scanning import cell_bounds, row_bounds, unquoted, written
from carat.data.sources.csv import CsvSource
from carat.errors import InputError


def scanned(text: bytes, delimiter: bytes) -> list[list[str]]:
    """Rows of cells, as the scanner finds them in one go."""
    starts, ends, _ = row_bounds(text, delimiter, final=True)
    rows = [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    return [[unquoted(str(row[a:b], "utf-8")) for a, b in cell_bounds(row, delimiter)] for row in rows]


def in_pieces(text: bytes, delimiter: bytes, size: int) -> list[bytes]:
    """Rows as they are found when the file comes piece by piece."""
    rows, held = [], b""
    for start in range(0, len(text) + 1, size):
        held += text[start : start + size]
        starts, ends, told = row_bounds(held, delimiter, final=start + size > len(text))
        rows += [held[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]
        held = held[told:]
    return rows


def read(text: bytes) -> list[list[str]] | None:
    """Rows of cells, as the reader finds them; None where it refuses the file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(text)
        try:
            source = CsvSource(str(path), by_place=True)
            batches = list(source.cells(range(len(source.names))))
        except InputError:
            return None
        return [[cell or "" for cell in row.values()] for batch in batches for row in batch.to_pylist()]


BODIES = st.text(alphabet='ab",\n\r é', max_size=40)


@settings(max_examples=400, deadline=None)
@given(BODIES)
@example('"a"b"c,d\n')
@example('5" x,"q\n1,2\n')
@example('a,"b\n')
@example('a,"b""')
@example('"",""\r\r\n\n""""",x\r')
@example("a\ra,b\n")
def test_the_reader_and_the_scanner_agree(body: str) -> None:
    text = b"x,y\n" + body.encode()
    rows = read(text)
    if rows is not None:
        assert scanned(text, b",")[1:] == rows


@settings(max_examples=300, deadline=None)
@given(BODIES, st.integers(1, 9))
def test_pieces_make_no_difference(body: str, size: int) -> None:
    text = b"x,y\n" + body.encode()
    starts, ends, told = row_bounds(text, b",", final=True)
    assert told == len(text)
    assert in_pieces(text, b",", size) == [text[a:b] for a, b in zip(starts.tolist(), ends.tolist(), strict=True)]


CELLS = st.text(alphabet='ab",;|\t\n\r é漢', max_size=6)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=6), st.sampled_from(",;\t|"), st.booleans())
def test_what_is_written_reads_as_it_was_meant(rows: list[list[str]], delimiter: str, quoted: bool) -> None:
    lines = [delimiter.join(written(cell, delimiter, quoted=quoted) for cell in row) for row in rows]
    text = f"x{delimiter}y\n" + "".join(line + "\n" for line in lines)
    assert scanned(text.encode(), delimiter.encode())[1:] == rows
    assert read(text.encode()) == rows


@pytest.mark.parametrize(
    ("codec", "text"),
    [("utf-16", "a,é\n漢,😀"), ("utf-32-be", 'a,"é"'), ("cp037", 'x,"y"\n'), ("latin-1", "é,x"), ("gbk", "漢,字")],
)
def test_letters_show_ascii_and_hide_the_rest(codec: str, text: str) -> None:
    raw = text.encode(codec)
    letters = Letters.of(codec, raw, "the table")
    body = raw[len(letters.mark) :]
    seen = letters.ascii(body)
    assert len(seen) * letters.width == len(body)
    assert [chr(byte) for byte in seen if chr(byte) in '",\n'] == [sign for sign in text if sign in '",\n']
    assert letters.decode(body) == text
    assert letters.encode(text) == body


@pytest.mark.parametrize("codec", ["utf-7", "iso2022_jp", "hz", "punycode"])
def test_encodings_that_cannot_be_patched_are_refused(codec: str) -> None:
    with pytest.raises(InputError, match="convert it to UTF-8 first"):
        Letters.of(codec, b"a,b\n", "the table")
    with pytest.raises(InputError, match="convert it to UTF-8 first"):
        Letters.of("shift_jis", b"a|b\n", "the table", "|")
