"""`carat.datasets.spoil`: the user's own frame library, index and all, and a truth that fits it."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from carat.datasets import spoil
from carat.errors import InputError


def test_pandas_keeps_its_index() -> None:
    frame = pd.DataFrame(
        {"City": ["Rome", "Oslo", "Bern"] * 20, "Zip": [101.0, 202.0, None] * 20}, index=[f"r{i}" for i in range(60)]
    )
    before = frame.copy()
    dirty, truth = spoil(frame, share=0.2, seed=1)
    pd.testing.assert_frame_equal(frame, before)
    assert isinstance(dirty, pd.DataFrame)
    assert list(dirty.index) == list(frame.index)
    assert list(truth.columns) == ["record", "column", "before", "after", "kind", "group"]
    assert len(truth) == 20, "a fifth of the hundred cells that hold something"
    text = {"City": frame["City"], "Zip": frame["Zip"].map({101.0: "101", 202.0: "202"})}
    for each in truth.itertuples():
        assert dirty.loc[each.record, each.column] == each.after or pd.isna(dirty.loc[each.record, each.column])
        assert text[each.column][each.record] == each.before or pd.isna(text[each.column][each.record])


def test_polars_arrow_and_paths(tmp_path: Path) -> None:
    columns = {"City": ["Rome", "Oslo", "Bern", None] * 10, "Code": ["a", "b", "c", "d"] * 10}
    table = pa.table(columns)
    path = tmp_path / "table.csv"
    pl.DataFrame(columns).write_csv(path)
    dirty, truth = spoil(table, share=0.3)
    assert isinstance(dirty, pa.Table)
    for other in (pl.DataFrame(columns), path, columns):
        made, told = spoil(other, share=0.3)
        assert isinstance(made, pl.DataFrame if isinstance(other, pl.DataFrame) else pa.Table)
        rows = made.to_dicts() if isinstance(made, pl.DataFrame) else made.to_pylist()
        assert rows == dirty.to_pylist()
        assert (told.to_dicts() if isinstance(told, pl.DataFrame) else told.to_pylist()) == truth.to_pylist()


def test_mistakes_are_named() -> None:
    with pytest.raises(InputError, match="did you mean 'City'"):
        spoil({"City": ["Rome"]}, columns=["Citty"])
    with pytest.raises(InputError, match="no such file"):
        spoil("nowhere.csv")
