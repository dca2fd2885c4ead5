"""On a query of DuckDB, as a stream, and back into its tables."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import carat
from carat.batches import Explaining, Recourse, Scoring
from tests.engines.conftest import in_order, named


@pytest.fixture
def connection(rows: pa.Table) -> Any:
    """A database with the rows in it."""
    try:
        import duckdb
    except ImportError:
        warnings.warn("NO DUCKDB: the batch functions are not tested in it", stacklevel=1)
        pytest.skip("NO DUCKDB: the batch functions are not tested in it")
    connection = duckdb.connect()
    connection.register("given", rows)
    connection.execute("create table rows as select * from given")
    return connection


def test_scores_stream_into_a_table(connection: Any, folder: Path, model: carat.Model, rows: pa.Table) -> None:
    stream = connection.cursor().sql("from rows").to_arrow_reader(64)
    connection.register("scored", Scoring(folder, id="number").reader(stream))
    connection.execute("create table scores as from scored")
    found = connection.sql(
        "select record, anomalous, Port from scores join rows on record = number order by record"
    ).to_arrow_table()
    expected = in_order(named(model.score(rows, judge_all=False)))
    assert found["anomalous"].to_pylist() == expected["anomalous"].to_pylist()
    assert found["record"].to_pylist() == rows["number"].to_pylist()
    assert found["Port"].to_pylist() == rows["Port"].to_pylist()


def test_lists_and_fixes_come_through(connection: Any, folder: Path, model: carat.Model, rows: pa.Table) -> None:
    explained = Explaining(folder, id="number")(connection.sql("from rows").to_arrow_table())
    connection.register("explained", explained)
    counted = connection.sql("select count(*) from explained where len(flagged) > 0").fetchall()
    flagged = model.explain(rows)["flagged"].to_pylist()
    assert counted == [(sum(map(bool, flagged)),)]
    assert counted != [(0,)]
    fixes = Recourse(folder, id="number", k=1).reader(connection.cursor().sql("from rows").to_arrow_reader(100))
    connection.register("fixes", fixes)
    best = dict(connection.sql("select record, Port from fixes where rank = 1").fetchall())
    result = model.recourse(rows, k=1, judge_all=False)
    expected = named(pa.concat_tables([batch.rows() for batch in result.batches]))
    assert best == dict(zip(expected["record"].to_pylist(), expected["Port"].to_pylist(), strict=True))
