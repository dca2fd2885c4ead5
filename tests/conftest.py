"""Fixtures shared by the whole suite."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tests.planted import planted_table


@pytest.fixture(scope="session")
def planted() -> pa.Table:
    """The planted table: six groups of entities that belong together, 1,200 records."""
    return planted_table()
