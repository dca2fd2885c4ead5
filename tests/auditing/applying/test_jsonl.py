"""JSON lines: rows that no list names are copied unread, and those that it names change in the right bytes."""

from __future__ import annotations

import codecs
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import carat
from carat.auditing.applying import content
from carat.data.sources import jsonl, open_source
from carat.data.sources.jsonl import JsonLinesSource
from carat.errors import InputError
from tests.auditing.applying.support import added, listed, row

LINES = [
    codecs.BOM_UTF8 + b'{"city":"Lei\\"th\\\\","n":1,"note":{"in":["}",{"city":"no"}]}}\r\n',
    b"\r\n",
    b'{"city": "\\u004cieth", "n": 2.50, "note": "a, \\"city\\": 1"}\n',
    b" \t \n",
    b'  {"n": 3, "city": "first", "city": "Bergen", "note": null}  \r\n',
    '{"note":"漢字 \U0001f41f","city":"Łódź","n":4}\n'.encode(),
    b'{"n": 5}\n',
    b'{"city":"\\ud83d\\ude00","note":"\xed\xa0\x80","n":6}\n',
    b"\x0c\n",
    b'{"city": "last", "n": 7, "note": []}',
]
"""Ten lines, of which seven are rows."""
CHANGED = {
    0: ("city", 'Lei"th\\', "Leith", b'"Lei\\"th\\\\"', b'"Leith"'),
    1: ("city", "Lieth", 'Le"ith\\', b'"\\u004cieth"', b'"Le\\"ith\\\\"'),
    2: ("city", "Bergen", "Åse", b'"Bergen"', '"Åse"'.encode()),
    3: ("city", "Łódź", "Lodz", '"Łódź"'.encode(), b'"Lodz"'),
    4: ("city", None, "Oslo", b'{"n": 5}', b'{"n": 5, "city": "Oslo"}'),
    5: ("city", "\U0001f600", "smile", b'"\\ud83d\\ude00"', b'"smile"'),
    6: ("n", "7", "70", b'"n": 7', b'"n": 70'),
}
"""By row: the column, its value and new value, and the bytes that stand for them."""
FILLED = [place for place, line in enumerate(LINES) if line.strip()]


@pytest.fixture(params=[3, 64, content.PIECE])
def piece(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(content, "PIECE", request.param)
    return int(request.param)


@pytest.mark.parametrize("rows", [[0], [1], [2], [3], [4], [5], [6], [0, 6], [2, 4, 5], list(range(7))])
def test_only_the_bytes_of_the_cell_change(tmp_path: Path, piece: int, rows: list[int]) -> None:
    table, out, back = (tmp_path / name for name in ("t.jsonl", "o.jsonl", "b.jsonl"))
    table.write_bytes(b"".join(LINES))
    wanted = list(LINES)
    for number in rows:
        _, _, _, old, new = CHANGED[number]
        assert wanted[FILLED[number]].count(old) == 1
        wanted[FILLED[number]] = wanted[FILLED[number]].replace(old, new)
    carat.apply(listed(*(row(n, *CHANGED[n][:3]) for n in rows)), table, out=out)
    assert out.read_bytes() == b"".join(wanted)
    log = [json.loads(line) for line in Path(f"{out}.changes.jsonl").read_text(encoding="utf-8").splitlines()][1:]
    assert [(line["row"], line["column"], line["before"], line["after"]) for line in log] == [
        (n, *CHANGED[n][:3]) for n in rows
    ]
    assert [line["place"] for line in log] == [{"city": 0, "n": 1}[CHANGED[n][0]] for n in rows]
    carat.revert(f"{out}.changes.jsonl", out, back)
    assert back.read_bytes() == b"".join(LINES)


def test_rows_of_an_id_column(tmp_path: Path, piece: int) -> None:
    table, out = tmp_path / "t.jsonl", tmp_path / "o.jsonl"
    table.write_bytes(b"".join(LINES[:5] + LINES[6:7]))
    carat.apply(listed(row("3", "city", "Bergen", "Oslo")), table, out=out, id="n")
    assert out.read_bytes() == table.read_bytes().replace(b'"Bergen"', b'"Oslo"')


def test_a_value_in_another_row_does_not_count(tmp_path: Path) -> None:
    """A list that names the wrong row is refused though the value stands elsewhere."""
    table = tmp_path / "t.jsonl"
    table.write_bytes(b"".join(LINES))
    for number in (0, 1, 3, 4, 5, 6):
        with pytest.raises(InputError, match=f"in row {number}, column 'city', not 'Bergen'"):
            carat.apply(listed(row(number, "city", "Bergen", "Oslo")), table, out=tmp_path / "o.jsonl")
    with pytest.raises(InputError, match="there is no row 7 in .*, which has 7 rows"):
        carat.apply(listed(added(7, "city", "=Oslo")), table, out=tmp_path / "o.jsonl")
    with pytest.raises(InputError, match="line 1: 'note' holds a list or an object"):
        carat.apply(listed(added(0, "note", "=Oslo")), table, out=tmp_path / "o.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_a_line_that_is_no_json_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    table = tmp_path / "t.jsonl"
    table.write_bytes(b'{"a": "x"}\n{"a": "y"\n{"a": "z"}\n')
    with pytest.raises(InputError, match="line 2: not JSON"):
        carat.apply(listed(row(0, "a", "x", "w")), table, out=tmp_path / "o.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["t.jsonl"]


def test_rows_that_nobody_asked_for_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "t.jsonl"
    table.write_text("".join(f'{{"a": "{n}"}}\n' for n in range(1_000)), encoding="utf-8")
    read: list[int] = []
    plain = jsonl._object

    def counted(line: bytes, label: str, number: int) -> dict[str, Any]:
        read.append(number)
        return plain(line, label, number)

    monkeypatch.setattr(jsonl, "_object", counted)
    carat.apply(listed(row(17, "a", "17", "x"), row(900, "a", "900", "y")), table, out=tmp_path / "o.jsonl")
    assert read == [*range(1, 1_001), 18, 901]


def test_few_rows_are_held_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches are as large as ever; what is made of Python's own objects on the way is not."""
    monkeypatch.setattr(jsonl, "PARSED_ROWS", 10)
    monkeypatch.setattr(jsonl, "BATCH_ROWS", 40)
    held: list[int] = []
    grouped = jsonl._grouped

    def watched(rows: Iterator[jsonl.Row], size: int) -> Iterator[jsonl.Rows]:
        for part in grouped(rows, size):
            held.append(len(part))
            yield part

    monkeypatch.setattr(jsonl, "_grouped", watched)
    table = tmp_path / "t.jsonl"
    table.write_text("".join(f'{{"a": "{n}", "n": {n}}}\n' for n in range(95)), encoding="utf-8")
    batches = list(open_source(table).batches(["n", "a"]))
    assert [batch.num_rows for batch in batches] == [40, 40, 15]
    assert max(held) == 10
    assert [cell for batch in batches for cell in batch.column(0).to_pylist()] == [str(n) for n in range(95)]


def test_cells_of_some_rows_are_those_of_all(tmp_path: Path) -> None:
    draw = random.Random(0)
    table = tmp_path / "t.jsonl"
    lines = [json.dumps({"a": draw.choice(["x", "é", None]), "n": n}) + draw.choice(["\n", "\n\n"]) for n in range(300)]
    table.write_text("".join(lines), encoding="utf-8")
    source = open_source(table)
    assert isinstance(source, JsonLinesSource)
    (whole,) = source.batches(["a", "n"])
    chosen = set(draw.sample(range(300), 40))
    (some,) = source.cells(["a", "n"], chosen)
    assert some.num_rows == whole.num_rows
    for name in ("a", "n"):
        known, found = whole.column(name).to_pylist(), some.column(name).to_pylist()
        assert found == [cell if number in chosen else None for number, cell in enumerate(known)]
