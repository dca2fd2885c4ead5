"""`carat recourse` of this tree against another one's, in turns, on the same model and records.

    python benchmarks/jobs.py --other PATH/TO/OTHER/src [--rows 20000] [--rounds 3]

Both run the whole command in a process of its own: an `instant` model of the first 30,000 flights, the next rows, every
record. Printed: seconds of each round, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

import carat

HERE = Path(__file__).parents[1] / "src"


def seconds(source: Path, model: Path, rows: Path, out: Path) -> float:
    """Of one run of the command."""
    command = [sys.executable, "-c", "from carat.cli import main; main()", "recourse", str(model), str(rows)]
    command += ["--out", str(out), "--all", "--k", "10", "--force", "--quiet", "--device", "cpu"]
    began = time.perf_counter()
    subprocess.run(command, check=True, env={**os.environ, "PYTHONPATH": str(source)})
    return time.perf_counter() - began


def main() -> None:
    """Print one line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--other", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    flights = carat.datasets.flights()
    with tempfile.TemporaryDirectory() as folder:
        model, rows = Path(folder) / "model", Path(folder) / "rows.parquet"
        carat.fit(flights.table.slice(0, 30_000), domains=flights.schema.domains, profile="instant").save(model)
        pq.write_table(flights.table.slice(30_000, arguments.rows), rows)
        took: dict[str, list[float]] = {"other": [], "this": []}
        for _ in range(arguments.rounds):
            for name, source in (("other", arguments.other), ("this", HERE)):
                took[name].append(round(seconds(source, model, rows, Path(folder) / f"{name}.csv"), 2))
        equal = (Path(folder) / "other.csv").read_bytes() == (Path(folder) / "this.csv").read_bytes()
    ratio = statistics.median(took["this"]) / statistics.median(took["other"])
    print(json.dumps({"rows": arguments.rows, "seconds": took, "ratio": round(ratio, 3), "equal_outputs": equal}))


if __name__ == "__main__":
    main()
