"""Text formats: only the cells that are meant change, every other byte stays, and undoing it gives all of them back."""

from __future__ import annotations

import codecs
import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import carat
from carat.auditing.applying import content
from carat.data.sources import open_source
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row

ENCODINGS = ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16", "utf-16-be", "utf-32", "cp037", "cp1251", "gb18030"]


def cells_of(path: Path, encoding: str | None = None) -> list[list[str | None]]:
    """All cells, by carat's own reader."""
    source = open_source(path, encoding=encoding)
    rows = [one for batch in source.batches(source.names) for one in batch.to_pylist()]
    return [[cell or None for cell in one.values()] for one in rows]


@st.composite
def tables(draw: st.DrawFn) -> dict[str, Any]:
    """The bytes of a CSV file in some dialect, its cells, and new values for some of them."""
    encoding = draw(st.sampled_from(ENCODINGS))
    signs = [sign for sign in 'ab0 ",;|\t\r\né漢Жß' if _can(encoding, sign)]
    cell = st.text(alphabet=signs, max_size=5)
    columns = draw(st.integers(1, 4))
    delimiter = draw(st.sampled_from(",;\t|" if encoding != "gb18030" else ",;\t")) if columns > 1 else ","
    rows = draw(st.lists(st.lists(cell, min_size=columns, max_size=columns), min_size=1, max_size=6))
    lines = []
    for texts in rows:
        line = delimiter.join(_dialect(text, delimiter, draw(st.booleans())) for text in texts)
        lines.append((line or '""') + draw(st.sampled_from(["\n", "\r\n", "\r", "\n\n", "\r\n\r\n"])))
    if draw(st.booleans()):
        lines[-1] = lines[-1].rstrip("\r\n") or '""'
    text = delimiter.join(f"c{place}" for place in range(columns)) + "\n" + "".join(lines)
    places = st.tuples(st.integers(0, len(rows) - 1), st.integers(0, columns - 1))
    edits = draw(st.dictionaries(places, cell.map(str.strip), max_size=4))
    return {"encoding": encoding, "raw": text.encode(encoding), "rows": rows, "edits": edits, "text": text}


def _can(encoding: str, sign: str) -> bool:
    try:
        sign.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _dialect(text: str, delimiter: str, quoted: bool) -> str:
    must = any(sign in text for sign in (delimiter, "\n", "\r")) or text.startswith('"')
    if quoted or must:
        return '"' + text.replace('"', '""') + '"'
    return text


@settings(max_examples=250, deadline=None)
@given(tables(), st.integers(2, 60))
def test_every_dialect_and_encoding(given_table: dict[str, Any], piece: int) -> None:
    encoding, rows, edits = given_table["encoding"], given_table["rows"], given_table["edits"]
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "PIECE", piece)
        table, out, back = (Path(folder) / name for name in ("t.csv", "o.csv", "b.csv"))
        table.write_bytes(given_table["raw"])
        asked = [added(r, f"c{c}", f"={text}") for (r, c), text in edits.items()]
        done = carat.apply(listed(*asked), table, out=out, encoding=encoding)
        wanted = [[edits.get((r, c), text) or None for c, text in enumerate(texts)] for r, texts in enumerate(rows)]
        assert cells_of(out, encoding) == wanted
        assert done.changes == sum((rows[r][c] or "") != text for (r, c), text in edits.items())
        lines = [json.loads(line) for line in Path(f"{out}.changes.jsonl").read_text().splitlines()]
        rest = given_table["raw"]
        for line in lines[1:]:
            old, new = (len(content_of(line, which)) for which in ("bytes_before", "bytes_after"))
            assert out.read_bytes()[line["offset"] : line["offset"] + new] == content_of(line, "bytes_after")
            rest = rest[: line["offset"]] + content_of(line, "bytes_after") + rest[line["offset"] + old :]
        assert rest == out.read_bytes(), "every byte that the record does not name is the old one"
        carat.revert(f"{out}.changes.jsonl", out, back)
        assert back.read_bytes() == given_table["raw"]


def content_of(line: dict[str, Any], which: str) -> bytes:
    return codecs.decode(line[which].encode(), "base64")


def test_a_cell_is_quoted_only_if_it_must_be(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b'a,b\r\n1,"2"\n"3",4')
    cells = listed(added(0, "a", "=x, y"), added(0, "b", "=z"), added(1, "a", "="), added(1, "b", "=0007"))
    carat.apply(cells, table, out=tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes() == b'a,b\r\n"x, y","z"\n"",0007'


def test_the_only_cell_of_a_row_is_not_lost(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"a\n1\n2\n")
    carat.apply(listed(added(0, "a", "=")), table, out=tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes() == b'a\n""\n2\n'


@pytest.mark.parametrize("text", ["=1+1", "+49 30", "-5", "@here", "=cmd|' /C calc'!A0"])
def test_a_value_that_looks_like_a_formula_is_data(tmp_path: Path, text: str) -> None:
    table = tmp_path / "t.csv"
    table.write_bytes(b"a,b\nx,y\n")
    carat.apply(listed(row(0, "a", "x", text)), table, out=tmp_path / "o.csv")
    assert (tmp_path / "o.csv").read_bytes() == f"a,b\n{text},y\n".encode()


def test_gzip_keeps_its_content(tmp_path: Path) -> None:
    table = tmp_path / "t.csv.gz"
    table.write_bytes(gzip.compress(b"a,b\nx,y\n") + gzip.compress(b"z,w\n"))
    for out in ("o.csv.gz", "o.csv"):
        carat.apply(listed(row(1, "b", "w", "v")), table, out=tmp_path / out)
        raw = (tmp_path / out).read_bytes()
        assert (gzip.decompress(raw) if out.endswith("gz") else raw) == b"a,b\nx,y\nz,v\n"
        carat.revert(tmp_path / f"{out}.changes.jsonl", tmp_path / out, tmp_path / f"b-{out}")
    assert gzip.decompress((tmp_path / "b-o.csv.gz").read_bytes()) == b"a,b\nx,y\nz,w\n"


@pytest.mark.parametrize(
    ("raw", "change", "message"),
    [
        ("a,b\nx,é\n".encode("latin-1"), "=Ł", "'Ł' for row 0, column 'b' can't be written in iso8859-1"),
        (b"a,b\nx,\xe9\n", "=e", None),
    ],
)
def test_what_the_encoding_cannot_write(tmp_path: Path, raw: bytes, change: str, message: str | None) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "o.csv"
    table.write_bytes(raw)
    if message is None:
        carat.apply(listed(added(0, "b", change)), table, out=out, encoding="latin-1")
        assert out.read_bytes() == b"a,b\nx,e\n"
        return
    with pytest.raises(InputError, match=message):
        carat.apply(listed(added(0, "b", change)), table, out=out, encoding="latin-1")
    assert [path.name for path in tmp_path.iterdir()] == ["t.csv"]


LINES = (
    b'\xef\xbb\xbf{"a":"x" , "n":1.50,"b":true}\n\n  \n{"a": null, "b": false, "a": "y"}\r\n'
    b'{ }\n{"n":7,"a":"\\u00e9\\"{}"}'
)


def test_json_lines_keep_every_other_byte(tmp_path: Path) -> None:
    table, out = tmp_path / "t.jsonl", tmp_path / "o.jsonl"
    table.write_bytes(LINES)
    cells = listed(
        row(0, "a", "x", "é"),
        row(0, "n", "1.5", "2"),
        row(0, "b", "true", "false"),
        row(1, "a", "y", "z"),
        row(1, "n", None, "3.25", kind="missing"),
        row(2, "n", None, "4", kind="missing"),
        row(2, "a", None, "w", kind="missing"),
        added(3, "a", "="),
    )
    assert carat.apply(cells, table, out=out).changes == 8
    assert (
        out.read_bytes()
        == (
            '\ufeff{"a":"é" , "n":2,"b":false}\n\n  \n{"a": null, "b": false, "a": "z", "n": 3.25}\r\n'
            '{ "a": "w", "n": 4}\n{"n":7,"a":null}'
        ).encode()
    )
    carat.revert(f"{out}.changes.jsonl", out, tmp_path / "b.jsonl")
    assert (tmp_path / "b.jsonl").read_bytes() == LINES


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.dictionaries(st.sampled_from("abc"), st.text(max_size=4) | st.none()), min_size=1, max_size=6),
    st.dictionaries(st.tuples(st.integers(0, 5), st.sampled_from("abc")), st.text('xyé"\\ \n', max_size=4), max_size=5),
    st.booleans(),
    st.integers(2, 40),
)
def test_json_lines_of_every_shape(
    rows: list[dict[str, str | None]], changes: dict[tuple[int, str], str], ascii_only: bool, piece: int
) -> None:
    rows = [{"a": "first", "b": "x", "c": "y"}, *rows]
    changes = {(r, c): text.strip() for (r, c), text in changes.items() if r < len(rows)}
    raw = b"".join(json.dumps(one, ensure_ascii=ascii_only).encode() + b"\n" for one in rows)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(content, "PIECE", piece)
        table, out = Path(folder) / "t.jsonl", Path(folder) / "o.jsonl"
        table.write_bytes(raw)
        carat.apply(listed(*(added(r, c, f"={text}") for (r, c), text in changes.items())), table, out=out)
        wanted = [[changes.get((r, c), one.get(c)) or None for c in "abc"] for r, one in enumerate(rows)]
        assert cells_of(out) == wanted
        carat.revert(f"{out}.changes.jsonl", out, Path(folder) / "b.jsonl")
        assert (Path(folder) / "b.jsonl").read_bytes() == raw


def test_json_keeps_the_kind_of_a_column(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_bytes(b'{"n": 1}\n{"n": null}\n')
    for record in (0, 1):
        with pytest.raises(InputError, match="column 'n' holds numbers, so 'many' can't be put into row"):
            carat.apply(listed(added(record, "n", "=many")), table, out=tmp_path / "o.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]
