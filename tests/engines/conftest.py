"""A model folder, rows to ask it about, and what the model itself says of them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import carat
from carat.testing.parts import judging
from carat.testing.planted import corrupted, planted_table


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with a judge and no id column."""
    path = tmp_path_factory.mktemp("engines") / "model"
    judging().save(path)
    return path


@pytest.fixture(scope="session")
def model(folder: Path) -> carat.Model:
    return carat.load(folder)


@pytest.fixture(scope="session")
def rows() -> pa.Table:
    """Normal rows with strange ones among them, and a number for each."""
    strange = pa.Table.from_pylist(corrupted()[0], schema=planted_table(1).schema)
    table = pa.concat_tables([planted_table(150, seed=5), strange, planted_table(126, seed=6)])
    return table.append_column("number", pa.array(range(1_000, 1_000 + len(table)), pa.int64()))


def in_order(table: pa.Table) -> pa.Table:
    """Results in the order of their rows: an engine may hand them out in any."""
    keys = [(name, "ascending") for name in ("record", "rank") if name in table.column_names]
    return table.sort_by(keys).combine_chunks()


def named(table: pa.Table) -> pa.Table:
    """What a model says of `rows`, with the numbers of the rows in place of their places."""
    return table.set_column(0, "record", pa.compute.add(table["record"], 1_000))
