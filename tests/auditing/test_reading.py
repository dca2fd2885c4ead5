"""A table read for an audit: the same codes from every kind of data, in batches or at once."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from carat.auditing import reading as module
from carat.auditing.options import AuditOptions
from carat.auditing.reading import Reading, read_table
from carat.auditing.table import AuditTable
from carat.errors import InputError
from tests.jobs.test_jobs import Watching
from tests.support.audits import cities


def plain(found: Reading) -> list[tuple[str, tuple[str, ...], list[int], list[int]]]:
    return [(c.name, c.values, c.counts.tolist(), c.codes.tolist()) for c in found.table.columns]


def expected(table: pa.Table) -> list[tuple[str, tuple[str, ...], list[int], list[int]]]:
    return plain(Reading(AuditTable.of(table), "", ""))


def write(folder: Path, table: pa.Table) -> list[Path]:
    paths = [folder / name for name in ("t.csv", "t.csv.gz", "t.parquet", "t.jsonl")]
    pyarrow.csv.write_csv(table, paths[0])
    paths[1].write_bytes(gzip.compress(paths[0].read_bytes()))
    pq.write_table(table, paths[2])
    paths[3].write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), encoding="utf-8")
    return paths


def test_every_kind_of_data_reads_alike(tmp_path: Path) -> None:
    table = cities()
    given: list[Any] = [table, table.to_pandas(), pl.from_arrow(table), table.to_pydict(), *write(tmp_path, table)]
    found = [read_table(data) for data in given]
    for one in found:
        assert plain(one) == expected(table)
        assert one.table.rows == 40
        assert one.names is None
    assert len({one.fingerprint for one in found}) == 1


def test_batches_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    cells = [None if n == 0 else f"v{n}" for n in draw.integers(0, 300, 1_000)]
    table = pa.table({"a": pa.array(cells, pa.string()), "b": [f"u{n}" for n in range(1_000)]})
    path = tmp_path / "t.parquet"
    pq.write_table(table, path)
    monkeypatch.setattr("carat.data.sources.parquet.BATCH_ROWS", 64)
    monkeypatch.setattr(module, "MERGED", 100)
    watching = Watching()
    assert plain(read_table(path, observer=watching)) == expected(table)
    assert len(watching.stages["reading the table"]) == 16
    assert sum(watching.stages["reading the table"]) == 1_000


def test_fingerprints_tell_tables_apart() -> None:
    table = {"a": ["x", "y", "y"], "b": ["1", "2", "3"]}
    mine = read_table(table).fingerprint
    assert mine == read_table(pd.DataFrame(table)).fingerprint
    others = [
        {"a": ["x", "y", "y"], "c": ["1", "2", "3"]},
        {"a": ["x", "y", "z"], "b": ["1", "2", "3"]},
        {"a": ["y", "x", "y"], "b": ["1", "2", "3"]},
        {"a": ["x", "y", None], "b": ["1", "2", "3"]},
        {"b": ["1", "2", "3"], "a": ["x", "y", "y"]},
    ]
    assert len({mine, *(read_table(other).fingerprint for other in others)}) == 6


def test_numbers_dates_and_truth_become_text() -> None:
    frame = pd.DataFrame(
        {"n": [1.0, None, 3.5], "d": pd.to_datetime(["2024-01-02", None, "2024-01-03"]), "t": [True, False, True]}
    )
    values = [column.values for column in read_table(frame).table.columns]
    assert values[0] == ("1", "3.5")
    assert values[1][0].startswith("2024-01-02")
    assert values[2] == ("true", "false")


def test_nulls_and_empty_text_are_blank() -> None:
    found = read_table({"a": ["", None, "x"], "b": pa.nulls(3, pa.string())}).table
    assert found.columns[0].codes.tolist() == [-1, -1, 0]
    assert found.columns[1].values == ()
    assert found.columns[1].blank == 3


def test_small_tables() -> None:
    assert read_table({"a": "x", "b": "y"}).table.rows == 1
    assert len(read_table({f"c{n}": ["x", "y"] for n in range(500)}).table.columns) == 500
    with pytest.raises(InputError, match="there are no rows to audit"):
        read_table(pa.table({"a": pa.array([], pa.string())}))


def test_scripts_and_names(tmp_path: Path) -> None:
    table = pa.table({"都市": ["東京", "大阪"], "مدينة": ["القاهرة", "דוד"], "score": ["ß", "ẞ"], "": ["é", "e\u0301"]})
    for path in write(tmp_path, table):
        assert plain(read_table(path)) == expected(table), "what differs only in its normal form stays different"


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path: Path) -> None:
    (tmp_path / "bom.csv").write_bytes("\ufeffCity,Land\nLeith,Scotland\n".encode())
    assert [column.name for column in read_table(tmp_path / "bom.csv").table.columns] == ["City", "Land"]


def test_encodings(tmp_path: Path) -> None:
    text = 'Stadt,"Land, lang"\r\nKöln,Österreich\r\n€,Århus\r\n'
    for name in ("latin-1", "cp1252", "utf-16", "utf-8-sig", "UTF8"):
        path = tmp_path / f"{name}.csv"
        path.write_bytes(text.replace("€", "E").encode(name) if name == "latin-1" else text.encode(name))
        packed = tmp_path / f"{name}.csv.gz"
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for file in (path, packed):
            columns = read_table(file, encoding=name).table.columns
            assert [column.name for column in columns] == ["Stadt", "Land, lang"]
            assert "Köln" in columns[0].values
            assert "Århus" in columns[1].values


def test_a_wrong_encoding_is_one_line_that_names_the_option(tmp_path: Path) -> None:
    latin, utf16, odd = tmp_path / "l.csv", tmp_path / "u.csv", tmp_path / "o.csv"
    latin.write_bytes("Stadt,Land\nKöln,x\n".encode("latin-1"))
    utf16.write_bytes("Stadt,Land\nKöln,x\n".encode("utf-16"))
    odd.write_bytes(b"Stadt,Land\nK\x81ln,x\n")
    cases = [
        (latin, None, "l.csv: not UTF-8 text; say how it is written with `encoding`, such as latin-1"),
        (utf16, None, "u.csv: not UTF-8 text; say how it is written with `encoding`"),
        (utf16, "latin-1", "u.csv: not latin-1 text; try another `encoding`"),
        (odd, "cp1252", "o.csv: not cp1252 text"),
        (latin, "utf-16", "l.csv: not utf-16 text"),
        (latin, "klingon", "unknown `encoding` 'klingon'; for example: utf-8, latin-1"),
        (latin, "rot13", "unknown `encoding` 'rot13'"),
    ]
    for path, encoding, said in cases:
        with pytest.raises(InputError) as raised:
            read_table(path, encoding=encoding)
        assert said in str(raised.value)
        assert "\n" not in str(raised.value)
    with pytest.raises(InputError, match="`encoding` is for csv files"):
        read_table({"a": ["x"]}, encoding="latin-1")


def test_names_that_repeat_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,a\n1,2,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="there are 2 columns named 'a'; rename all but one"):
        read_table(tmp_path / "t.csv")


def test_columns_without_text_are_passed_over(tmp_path: Path) -> None:
    table = pa.table({"a": ["x", "y"], "list": [[1], [2]], "raw": [b"1", b"2"], "b": ["1", "2"]})
    found = read_table(table)
    assert [column.name for column in found.table.columns] == ["a", "b"]
    assert found.unread == (("list", "lists or structs"), ("raw", "bytes, not text"))
    with pytest.raises(InputError, match="column 'list' holds lists or structs"):
        read_table(table, AuditOptions(also=["list"]))
    pd.DataFrame({"a": ["x", "y"]}, index=[7, 9]).to_parquet(tmp_path / "i.parquet")
    assert read_table(tmp_path / "i.parquet").unread == (("__index_level_0__", "the index of a pandas frame"),)


def test_what_names_the_rows() -> None:
    frame = cities().to_pandas().set_index(pd.Index(range(100, 140)))
    found = read_table(frame)
    assert found.names is not None
    assert found.names.to_pylist() == list(range(100, 140))
    named = read_table(frame, AuditOptions(id="number"))
    assert named.names is not None
    assert named.names.to_pylist()[:2] == ["N-000", "N-001"]
    assert [column.name for column in named.table.columns] == ["number", "City", "Land", "Kind"]
    numbers = read_table({"n": [5, 6], "a": ["x", "y"]}, AuditOptions(id="n"))
    assert numbers.names is not None
    assert numbers.names.to_pylist() == [5, 6], "an id keeps its type"
    twice = read_table(pd.DataFrame({"a": ["x", "y", "x"]}, index=[1, 1, 2]))
    assert (twice.names, twice.ambiguous) == (None, "repeats labels")


def test_an_id_that_does_not_identify_is_refused_with_a_hint() -> None:
    hint = "use another column, or omit `id` to use row numbers"
    for cells, said in (
        (["a", "b", "a", "a"], "'a' appears in 3 rows"),
        (["a", None, "b", ""], "it is blank in 2 rows"),
    ):
        with pytest.raises(InputError) as raised:
            read_table({"n": cells, "x": ["1", "2", "3", "4"]}, AuditOptions(id="n"))
        assert str(raised.value) == f"the table: column 'n' can't identify the rows: {said}; {hint}"


def test_a_name_that_is_not_there_is_told_before_reading(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"City,Land\nLeith,\xff\n")
    with pytest.raises(InputError, match="no column 'Cty'; did you mean 'City'"):
        read_table(tmp_path / "t.csv", AuditOptions(without=["Cty"]))


def test_the_bundled_tables() -> None:
    found = read_table("flights")
    assert found.table.rows > 1_000
    assert "Carrier" in [column.name for column in found.table.columns]
