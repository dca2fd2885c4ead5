"""Fixtures shared by the whole suite."""

from __future__ import annotations

import os

# As the command line has it, and before torch is imported: threads that wait without taking each other's cores.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import pyarrow as pa
import pytest
from hypothesis import settings

from tests.support.planted import planted_table

# The same examples on every run, and a slow machine fails nothing.
settings.register_profile("carat", derandomize=True, deadline=None)
settings.load_profile("carat")


@pytest.fixture(scope="session")
def planted() -> pa.Table:
    """The planted table: six groups of entities that belong together, 1,200 records."""
    return planted_table()
