"""The second pass: any text goes in and comes out again, in one piece or in parts."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.data import FIRST, MISSING, UNSEEN, Schema, Table, open_source, scan
from carat.data.sources import frames, jsonl, parquet
from tests.support.planted import DOMAINS, planted_table
from tests.support.sources import vocabulary_of

SCHEMA = Schema(domains=("Port", "Good"))
VOCABULARY = vocabulary_of(Port=["A", "B", "é"], Good=["A", "x,y", '"', "z\n"])
# Words of the vocabulary among any other text, so that known, unseen and missing entities all occur.
word = st.one_of(st.none(), st.sampled_from(["A", "B", "é", "x,y", '"', "z\n"]), st.text(min_size=1, max_size=6))
rows = st.lists(st.tuples(word, word), max_size=8)
Rows = list[tuple[str | None, str | None]]


def columns(rows: Rows) -> dict[str, list[str | None]]:
    return {name: [row[place] for row in rows] for place, name in enumerate(SCHEMA.domains)}


def table_of(rows: Rows) -> pa.Table:
    return pa.table({name: pa.array(texts, pa.string()) for name, texts in columns(rows).items()})


def read(data: Any) -> Table:
    return Table.read(open_source(data), SCHEMA, VOCABULARY)


FRAMES: dict[str, Callable[[Rows], Any]] = {
    "pyarrow": table_of,
    "dictionary": lambda rows: table_of(rows).to_pydict(),
    "pandas": lambda rows: pd.DataFrame(columns(rows), columns=list(SCHEMA.domains), dtype=object),
    "polars": lambda rows: pl.DataFrame(columns(rows), schema=dict.fromkeys(SCHEMA.domains, pl.String)),
    "polars lazy": lambda rows: pl.LazyFrame(columns(rows), schema=dict.fromkeys(SCHEMA.domains, pl.String)),
}


@pytest.mark.parametrize("library", FRAMES)
@given(rows=rows)
def test_any_text_comes_back_from_a_frame(library: str, rows: Rows) -> None:
    table = read(FRAMES[library](rows))
    assert table.decode().to_pydict() == columns(rows)
    for number, texts in enumerate(columns(rows).values()):
        known = VOCABULARY.domains[number].entities.to_pylist()
        kinds = [MISSING if text is None else FIRST if text in known else UNSEEN for text in texts]
        assert table.ids[:, number].clamp(max=FIRST).tolist() == kinds


def write_csv(rows: Rows, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(SCHEMA.domains)
        writer.writerows(rows)


def write_jsonl(rows: Rows, path: Path) -> None:
    path.write_text("".join(json.dumps(dict(zip(SCHEMA.domains, row, strict=True))) + "\n" for row in rows))


FILES: dict[str, Callable[[Rows, Path], Any]] = {
    ".parquet": lambda rows, path: pq.write_table(table_of(rows), path),
    ".csv": write_csv,
    ".jsonl": write_jsonl,
}


@pytest.mark.parametrize("ending", FILES)
@given(rows=rows.filter(len))
def test_any_text_comes_back_from_a_file(ending: str, rows: Rows) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"records{ending}"
        FILES[ending](rows, path)
        assert read(path).decode().to_pydict() == columns(rows)


@given(rows=rows, data=st.data())
def test_take(rows: Rows, data: st.DataObject) -> None:
    table = read(table_of(rows))
    index = data.draw(st.permutations(range(len(rows))))[: data.draw(st.integers(0, len(rows)))]
    taken = table.take(torch.tensor(index, dtype=torch.int64))
    assert taken.decode().to_pylist() == [table_of(rows).to_pylist()[number] for number in index]
    assert taken.names_of_records().to_pylist() == index, "a record keeps its row number"


@pytest.mark.parametrize("ending", [None, ".parquet", ".jsonl"])
def test_parts_are_the_whole(ending: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows: Rows = [("A", "x,y"), (None, "new"), ("B", None), ("other", "A"), ("é", "new"), ("A", '"'), ("new", "A")]
    data: Any = table_of(rows)
    if ending:
        data = tmp_path / f"records{ending}"
        FILES[ending](rows, data)
    whole = read(data)
    for module in (frames, parquet, jsonl):
        monkeypatch.setattr(module, "BATCH_ROWS", 3)
    parts = list(Table.stream(open_source(data), SCHEMA, VOCABULARY))
    assert [len(part) for part in parts] == [3, 3, 1]
    assert [part.start for part in parts] == [0, 3, 6]
    assert parts[1].names_of_records().to_pylist() == [3, 4, 5]
    assert sum((part.decode().to_pylist() for part in parts), []) == whole.decode().to_pylist()
    for joined in (read(data), Table.read(open_source(data), SCHEMA, VOCABULARY, len(rows))):
        assert torch.equal(joined.ids, whole.ids)
        assert joined.decode() == whole.decode() == table_of(rows)


def test_csv_in_blocks_is_the_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = planted_table(3000)
    path = tmp_path / "records.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(DOMAINS)
        writer.writerows(zip(*table.to_pydict().values(), strict=True))
    found = scan(open_source(table))
    options = pyarrow.csv.ReadOptions
    monkeypatch.setattr(pyarrow.csv, "ReadOptions", lambda **_: options(block_size=1 << 14))
    parts = list(Table.stream(open_source(path), found.schema, found.vocabulary))
    assert len(parts) > 1
    assert pa.concat_tables(part.decode() for part in parts).to_pydict() == table.to_pydict()


def test_unseen_entities_are_counted_by_name() -> None:
    table = read({"Port": ["new", "A", "new", None], "Good": ["A", "A", "odd", "A"]})
    assert table.unseen.by_name(VOCABULARY) == {"Port": {"new": 2}, "Good": {"odd": 1}}
    assert table.complete().tolist() == [False, True, False, False]


@pytest.mark.parametrize("kind", [pa.string(), pa.dictionary(pa.int32(), pa.string())])
def test_id_and_time_travel_along(kind: pa.DataType) -> None:
    schema = Schema(domains=("Port", "Good"), id="Name", time="Day")
    names = pa.array(["r1", "r2", "r3"]).cast(kind)
    data = pa.table({"Port": ["A"] * 3, "Good": ["A"] * 3, "Name": names, "Day": [3, 1, 2]})
    table = Table.read(open_source(data), schema, VOCABULARY)
    assert table.names_of_records().to_pylist() == ["r1", "r2", "r3"]
    taken = table.take(torch.tensor([2, 0]))
    assert taken.time is not None
    assert (taken.names_of_records().to_pylist(), taken.time.to_pylist()) == (["r3", "r1"], [2, 3])
    without_time = Table.read(open_source(data.drop_columns("Day")), schema, VOCABULARY)
    assert without_time.time is None, "a table to score need not have the time column"
