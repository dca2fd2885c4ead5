"""Inside a lazy query of Polars."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa

import carat
from carat.batches import Recourse, Scoring
from tests.engines.conftest import in_order, named


def applied(function: Scoring | Recourse, rows: pl.LazyFrame) -> pl.LazyFrame:
    """As the documents show it."""
    given = rows.collect_schema().to_frame().to_arrow().schema
    return rows.map_batches(
        lambda part: pl.DataFrame(function(part.to_arrow())),
        schema=pl.DataFrame(function.schema(given).empty_table()).schema,
        streamable=True,
    )


def test_scores_join_their_rows(folder: Path, model: carat.Model, rows: pa.Table) -> None:
    lazy = pl.DataFrame(rows).lazy()
    found = lazy.join(applied(Scoring(folder, id="number"), lazy), left_on="number", right_on="record")
    found = found.filter(pl.col("anomalous")).select("number", "Port", "percentile").sort("number")
    expected = named(model.score(rows, judge_all=False))
    strange = expected.filter(expected["anomalous"])["record"].to_pylist()
    assert found.collect()["number"].to_list() == strange != []
    assert found.collect(engine="streaming")["number"].to_list() == strange


def test_fixes_have_rows_of_their_own(folder: Path, model: carat.Model, rows: pa.Table) -> None:
    fixes = applied(Recourse(folder, id="number", k=3), pl.DataFrame(rows).lazy()).collect()
    result = model.recourse(rows, k=3, judge_all=False)
    expected = in_order(named(pa.concat_tables([batch.rows() for batch in result.batches])))
    assert fixes.sort("record", "rank").drop("score").rows() == pl.DataFrame(expected).drop("score").rows()
