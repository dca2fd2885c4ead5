"""Everything that can be read, and how each way of saying the same gives the same text."""

from __future__ import annotations

import csv
import datetime as dt
import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from carat.data import open_source
from carat.data.sources import frame_like
from carat.data.sources.csv import CsvSource
from carat.errors import InputError
from tests.support.books import write_book
from tests.support.sources import columns_of

EXPECTED = {"HSCode": ["0721", "NA", None], "Port": ["Äå", None, "x\ny"]}


def csv_text(delimiter: str = ",") -> str:
    return 'HSCode,Port\n0721,Äå\nNA,\n"","x\ny"\n'.replace(",", delimiter)


def jsonl_text() -> str:
    rows = [{"HSCode": "0721", "Port": "Äå"}, {"HSCode": "NA"}, {"HSCode": None, "Port": "x\ny"}]
    return "\n\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"


WRITERS: dict[str, Callable[[Path], Any]] = {
    "plain.csv": lambda path: path.write_text(csv_text(), encoding="utf-8"),
    "semicolon.csv": lambda path: path.write_text(csv_text(";"), encoding="utf-8"),
    "tab.csv": lambda path: path.write_text(csv_text("\t"), encoding="utf-8"),
    "bom.csv": lambda path: path.write_text(csv_text(), encoding="utf-8-sig"),
    "crlf.csv": lambda path: path.write_bytes(csv_text().replace("\n", "\r\n").replace("x\r\n", "x\n").encode()),
    "cr.csv": lambda path: path.write_bytes(csv_text().replace("\n", "\r").replace("x\r", "x\n").encode()),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(csv_text().encode())),
    "lines.jsonl": lambda path: path.write_text(jsonl_text(), encoding="utf-8"),
    "book.xlsx": lambda path: write_book(path, {"Table": [list(EXPECTED), *zip(*EXPECTED.values(), strict=True)]}),
    "columns.parquet": lambda path: pq.write_table(pa.table(EXPECTED), path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_files(name: str, tmp_path: Path) -> None:
    WRITERS[name](tmp_path / name)
    source = open_source(tmp_path / name)
    assert source.names == ["HSCode", "Port"]
    assert columns_of(source) == EXPECTED
    assert columns_of(source, ["Port"]) == {"Port": EXPECTED["Port"]}, "a source can be read again, in part"


FRAMES: dict[str, Callable[[], Any]] = {
    "pandas": lambda: pd.DataFrame(EXPECTED),
    "pandas categories": lambda: pd.DataFrame(EXPECTED).astype("category"),
    "polars": lambda: pl.DataFrame(EXPECTED),
    "polars categories": lambda: pl.DataFrame(EXPECTED).with_columns(pl.all().cast(pl.Categorical)),
    "polars lazy": lambda: pl.LazyFrame(EXPECTED),
    "pyarrow": lambda: pa.table(EXPECTED),
    "pyarrow batch": lambda: pa.RecordBatch.from_pydict(EXPECTED),
    "dictionary": lambda: EXPECTED,
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames(name: str) -> None:
    assert columns_of(open_source(FRAMES[name]())) == EXPECTED


def test_frame_like_gives_back_the_library_it_got() -> None:
    table = pa.table({"score": [1.0]})
    assert isinstance(frame_like(table, pd.DataFrame()), pd.DataFrame)
    assert isinstance(frame_like(table, pl.DataFrame()), pl.DataFrame)
    assert isinstance(frame_like(table, "file.csv"), pa.Table)


def test_a_delimiter_within_a_quoted_name_is_no_delimiter(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"Port, city, country";Good\nA;B\n')
    assert columns_of(open_source(tmp_path / "t.csv")) == {"Port, city, country": ["A"], "Good": ["B"]}


def test_quoted_names_may_span_lines(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"Port\nof lading","say ""hi"""\nA,B\n')
    assert columns_of(open_source(tmp_path / "t.csv")) == {"Port\nof lading": ["A"], 'say "hi"': ["B"]}


def test_numbers_in_json_read_like_numbers_in_frames(tmp_path: Path) -> None:
    rows = [{"n": 721, "b": True}, {"n": 721.0, "b": False}, {"n": 0.5, "b": None}]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    expected = {"n": ["721", "721", "0.5"], "b": ["true", "false", None]}
    assert columns_of(open_source(tmp_path / "t.jsonl")) == expected
    assert columns_of(open_source({"n": [721.0, 721.0, 0.5], "b": [True, False, None]})) == expected


def test_long_integers_in_json_keep_every_digit(tmp_path: Path) -> None:
    digits = "1" + "0" * 400
    (tmp_path / "t.jsonl").write_text(f'{{"n": {digits}}}\n')
    assert columns_of(open_source(tmp_path / "t.jsonl")) == {"n": [digits]}


def test_nan_in_json_is_missing_as_in_frames(tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"n": 1.5}\n{"n": NaN}\n')
    assert columns_of(open_source(tmp_path / "t.jsonl")) == {"n": ["1.5", None]}


@pytest.mark.parametrize("gap", [pd.NaT, pd.NA, None, float("nan")], ids=str)
@pytest.mark.parametrize("value", ["Leith", dt.datetime(2024, 1, 2), pd.Timestamp("2024-01-02"), 7, True], ids=str)
def test_what_pandas_calls_missing_is_missing_in_dictionaries(gap: Any, value: Any) -> None:
    expected = columns_of(open_source({"a": [value, None]}))
    for data in ({"a": [value, gap]}, [{"a": value}, {"a": gap}], [{"a": value}, {}]):
        assert columns_of(open_source(data)) == expected
    assert columns_of(open_source({"a": ["x", gap, 7]})) == {"a": ["x", None, "7"]}
    assert columns_of(open_source({"a": [gap], "b": ["x"]})) == columns_of(open_source([{"a": gap, "b": "x"}]))


@pytest.mark.parametrize(
    ("data", "got"),
    [([], "an empty list"), ([["a", "b"]], r"a list of rows without names; wrap it in pd.DataFrame\(…\)")],
)
def test_lists_that_are_no_rows(data: Any, got: str) -> None:
    with pytest.raises(InputError, match=f"a list of dictionaries, got {got}$"):
        open_source(data)


def test_a_pipe_is_read_once_or_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def pipe() -> SimpleNamespace:
        return SimpleNamespace(buffer=io.BytesIO(jsonl_text().encode()))

    monkeypatch.setattr(sys, "stdin", pipe())
    kept = open_source("-")
    assert columns_of(kept) == columns_of(kept) == EXPECTED
    monkeypatch.setattr(sys, "stdin", pipe())
    passing = open_source("-", once=True)
    assert columns_of(passing) == EXPECTED
    with pytest.raises(InputError, match="only once"):
        columns_of(passing)


@pytest.mark.parametrize(
    "frame",
    [
        pa.Table.from_arrays([pa.array(["a"])] * 2, names=["Port", "Port"]),
        pd.DataFrame([["a", "b"]], columns=["Port", "Port"]),
    ],
    ids=["pyarrow", "pandas"],
)
def test_duplicate_names_are_refused(frame: Any) -> None:
    with pytest.raises(InputError, match="2 columns named 'Port'"):
        open_source(frame)


MIXED = ["a", 1, 721.0, 0.5, True, None, float("nan")]


@pytest.mark.parametrize(
    "frame",
    [pd.DataFrame({"Port": MIXED}, dtype=object), {"Port": MIXED}, [{"Port": cell} for cell in MIXED]],
    ids=["pandas", "dictionary", "dictionaries"],
)
def test_text_and_numbers_in_one_column_are_text(frame: Any) -> None:
    """As a column of a spreadsheet comes; a whole number reads as such."""
    (batch,) = open_source(frame).batches(["Port"])
    assert batch.column(0).to_pylist() == ["a", "1", "721", "0.5", "True", None, None]


@pytest.mark.parametrize("odd", [pd.Timestamp("2024-01-01"), ["list"], object()])
@pytest.mark.parametrize("made", [dict, lambda cells: pd.DataFrame(cells, dtype=object)], ids=["dictionary", "pandas"])
def test_other_mixed_types_are_refused(odd: Any, made: Any) -> None:
    with pytest.raises(InputError, match="'Port' mixes types"):
        next(open_source(made({"Port": ["a", odd]})).batches(["Port"]))


def test_a_column_that_cannot_be_read_is_no_matter_until_it_is_asked_for() -> None:
    frame = pd.DataFrame({"Port": ["a", "b"], "Odd": pd.Series([3j, 1j]), "Goods": ["x", "y"]})
    source = open_source(frame)
    assert source.names == ["Port", "Odd", "Goods"]
    assert columns_of(source, ["Port", "Goods"]) == {"Port": ["a", "b"], "Goods": ["x", "y"]}
    with pytest.raises(InputError, match="'Odd'"):
        columns_of(source)


@pytest.mark.parametrize(
    ("cells", "texts"),
    [
        (pd.Series(pd.cut(pd.Series([1, 9]), [0, 5, 10])), ["(0, 5]", "(5, 10]"]),
        (pd.Series(pd.arrays.SparseArray([0, 1])), ["0", "1"]),
        (pd.Series(pd.period_range("2024-01", periods=2, freq="M")).astype("category"), ["2024-01", "2024-02"]),
        (pd.Series([pd.Period("2024-01"), None], dtype=object), ["2024-01", None]),
        (pd.Series(pd.to_timedelta(["1h", "2 days"])), ["1:00:00", "2 days, 0:00:00"]),
    ],
    ids=["intervals", "sparse", "periods", "objects", "spans"],
)
def test_types_of_pandas_read_as_what_they_mean(cells: Any, texts: list[str | None]) -> None:
    assert columns_of(open_source(pd.DataFrame({"Port": cells}))) == {"Port": texts}


@pytest.mark.parametrize(
    "cells",
    [
        pd.to_datetime(["2024-01-01", "2024-02-01"]).tz_localize("UTC"),
        pd.to_datetime(["2024-01-01 10:30", "2024-02-01 00:00"]),
        pd.to_timedelta(["1h", "2h"]),
        pd.period_range("2024-01", periods=2, freq="M"),
        pd.Series([0.5, 3.0]),
    ],
    ids=["zoned", "times", "spans", "periods", "floats"],
)
def test_a_record_reads_like_the_frame_that_it_is_a_row_of(cells: Any) -> None:
    frame = pd.DataFrame({"Port": ["a", "b"], "Seen": cells})
    whole = columns_of(open_source(frame))["Seen"]
    assert columns_of(open_source(frame.iloc[0]))["Seen"] == whole[:1]
    assert columns_of(open_source(frame.iloc[0].to_dict()))["Seen"] == whole[:1]


@pytest.mark.parametrize("data", [3, object(), [1, 2]])
def test_what_is_no_table_is_refused(data: Any) -> None:
    with pytest.raises(InputError, match=type(data).__name__):
        open_source(data)


def test_columns_of_different_lengths_are_refused() -> None:
    with pytest.raises(InputError, match="column 'b' has 2 values, 'a' has 1"):
        open_source({"a": ["x"], "b": ["x", "y"]})


def test_a_missing_column_is_named_with_its_neighbour() -> None:
    with pytest.raises(InputError, match=r"no column 'port'; did you mean 'Port'\?"):
        columns_of(open_source({"Port": ["a"]}), ["port"])


def corrupt_gzip() -> bytes:
    packed = bytearray(gzip.compress(csv_text().encode()))
    packed[10:14] = b"\xff" * 4
    return bytes(packed)


@pytest.mark.parametrize(
    ("name", "content", "hint"),
    [
        ("latin.csv", "Port,Good\nÄ,b\n".encode("latin-1"), "not UTF-8.*`encoding`.*in Excel"),
        ("latin-header.csv", "Pört,Good\na,b\n".encode("latin-1"), "not UTF-8"),
        ("utf16.csv", csv_text().encode("utf-16"), "not UTF-8"),
        ("utf16-no-bom.csv", "Port,Good\na,b\n".encode("utf-16-le"), "not UTF-8"),
        ("latin.jsonl", '{"Port": "Ä"}'.encode("latin-1"), "not UTF-8 text; save it as UTF-8$"),
        ("ragged.csv", b"Port,Good\na,b\n\nc\n", r"ragged.csv, line 4: 1 cell instead of 2 \(c\); add the missing c"),
        ("more.csv", b'Port;Good\n"a\nb";c\nd;e;f\n', r"line 4: 3 cells instead of 2 \(d;e;f\); quote .* semicolon"),
        ("open.csv", b'Port,Good\na,b\n"c,d\ne,f\n', "line 3: 1 cell instead of 2 .*is a quote never closed"),
        ("packed.csv.gz", gzip.compress(b"Port,Good\na,b\nc\n"), "packed.csv.gz, line 3: 1 cell instead of 2"),
        ("blank.csv", b"\nPort,Good\n", "first line must name the columns"),
        ("not-packed.csv.gz", csv_text().encode(), "can't be read"),
        ("cut.csv.gz", gzip.compress(csv_text().encode())[:-12], "cut.csv.gz"),
        ("broken.csv.gz", corrupt_gzip(), "broken.csv.gz"),
        ("text.parquet", csv_text().encode(), "not a Parquet file"),
        ("list.jsonl", b'["a"]\n', "line 1.*object"),
        ("broken.jsonl", b'{"Port": "a"}\n{"Port": \n', "line 2: not JSON"),
        ("nested.jsonl", b'{"Port": ["a"]}\n', "line 1: 'Port' holds a list"),
        ("mixed.jsonl", b'{"Port": "a"}\n{"Port": 1}\n', "line 2: column 'Port' mixes types, text before"),
        ("blank.jsonl", b"\n\n", "no rows"),
        ("surrogate.jsonl", b'{"Port": "\\ud800"}\n', "line 1"),
        ("huge.jsonl", b'{"Port": 1' + b"0" * 5000 + b"}\n", "line 1"),
        ("deep.jsonl", b'{"Port": ' + b"[" * 100_000, "line 1"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value and " " not in value else "",
)
def test_files_that_can_not_be_read(name: str, content: bytes, hint: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=hint):
        columns_of(open_source(tmp_path / name))


def test_a_column_that_begins_late_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("carat.data.sources.jsonl.BATCH_ROWS", 2)
    (tmp_path / "late.jsonl").write_text('{"a": "1"}\n{"a": "2"}\n{"a": "3", "b": "x"}\n', encoding="utf-8")
    assert open_source(tmp_path / "late.jsonl").names == ["a", "b"]


def test_endings_in_capitals(tmp_path: Path) -> None:
    (tmp_path / "T.CSV").write_text("a,b\n1,2\n", encoding="utf-8")
    assert open_source(tmp_path / "T.CSV").names == ["a", "b"]


@pytest.mark.parametrize("place", [0, 1, 500, 999])
def test_a_row_too_long_for_small_blocks_is_read_in_large_ones(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("carat.data.sources.csv.SMALL_BLOCK", 1 << 8)
    rows = [[str(number), f"port {number % 7}"] for number in range(1000)]
    rows[place][1] = 'long, "quoted"\n' * 200
    table = tmp_path / "long.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([["number", "port"], *rows])
    batches = list(CsvSource(str(table), by_place=True).cells([1, 0]))
    assert len(batches) > 1  # the blocks are small as long as they can be
    read = [[number, port] for batch in batches for port, number in zip(*(c.to_pylist() for c in batch), strict=True)]
    assert read == rows
