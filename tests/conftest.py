"""Fixtures shared by the whole suite."""

from __future__ import annotations

import os

# As the command line has it, and before torch is imported: threads that wait without taking each other's cores.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# The models are small: threads that wait for each other cost more than they bring, and two workers share two cores. In
# the environment, for what the tests start has it too.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import pyarrow as pa
import pytest
import torch
from hypothesis import settings

from tests.support.planted import planted_table

# The same examples on every run, and a slow machine fails nothing.
settings.register_profile("carat", derandomize=True, deadline=None)
settings.load_profile("carat")


@pytest.fixture(autouse=True)
def seeded() -> None:
    """No test depends on which ones ran before it."""
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def planted() -> pa.Table:
    """The planted table: six groups of entities that belong together, 1,200 records."""
    return planted_table()
