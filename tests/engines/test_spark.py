"""Inside `mapInArrow` of a real Spark with two worker processes."""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import carat
from carat.batches import Explaining, Recourse, Scoring
from tests.engines.conftest import in_order, named

pytestmark = pytest.mark.slow


def _missing() -> str | None:
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "pyspark"
    return None if shutil.which("java") else "Java"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    """A session on this machine; skips, loudly, where there is no pyspark or no Java."""
    missing = _missing()
    if missing is not None:
        warnings.warn(f"NO {missing.upper()}: the batch functions are not tested in Spark", stacklevel=1)
        pytest.skip(f"NO {missing.upper()}: the batch functions are not tested in Spark")
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "50")
        .getOrCreate()
    )
    yield session
    session.stop()


def applied(function: Scoring | Explaining | Recourse, frame: Any) -> pa.Table:
    """As the documents show it; two partitions, each in several batches."""
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

    columns = from_arrow_schema(function.schema(to_arrow_schema(frame.schema)))
    return in_order(frame.repartition(2).mapInArrow(function.each, columns).toArrow())


def test_the_answers_are_the_models_own(spark: Any, folder: Path, model: carat.Model, rows: pa.Table) -> None:
    frame = spark.createDataFrame(rows)
    found = applied(Scoring(folder, id="number", threads=1), frame)
    expected = in_order(named(model.score(rows, judge_all=False)))
    assert found["record"].to_pylist() == expected["record"].to_pylist()
    assert found["anomalous"].to_pylist() == expected["anomalous"].to_pylist()
    assert found["score"].to_pylist() == pytest.approx(expected["score"].to_pylist(), abs=1e-5)
    told = applied(Explaining(folder, id="number", threads=1), frame)
    assert told["flagged"].to_pylist() == model.explain(rows)["flagged"].to_pylist()
    fixes = applied(Recourse(folder, id="number", threads=1, k=2), frame)
    result = model.recourse(rows, k=2, judge_all=False)
    best = in_order(named(pa.concat_tables([batch.rows() for batch in result.batches])))
    for name in ("record", "rank", "changed", *model.vocabulary.names):
        assert fixes[name].to_pylist() == best[name].to_pylist(), name
    assert len(fixes) > 20
