"""How long `instant` takes to learn a large table, and how much memory.

    python benchmarks/size.py [--rows 1000000] [--detector counts] [--score]

Makes a table of shipments of so many rows in a temporary folder (Parquet): records of the generator `us_import`, drawn
again, a tenth of them with one value drawn anew, so that the combinations keep growing with the rows. Fits it in a
process of its own. Printed: seconds of the fit and of its stages, the largest memory the process ever held, and with
`--score` the rows scored a second.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

PART = 1_000_000
ANEW = 0.1


def make(path: Path, rows: int) -> None:
    """Write the table, a part at a time."""
    from carat.experiments.bench import read_dataset

    dataset = read_dataset("shipments:us_import")
    table = dataset.table.select(list(dataset.schema.domains))
    columns = {name: table[name].combine_chunks().dictionary_encode() for name in table.column_names}
    generator = np.random.default_rng(0)
    writer = None
    for start in range(0, rows, PART):
        size = min(PART, rows - start)
        base = generator.integers(table.num_rows, size=size)
        anew = np.where(generator.random(size) < ANEW, generator.integers(len(columns), size=size), -1)
        other = generator.integers(table.num_rows, size=size)
        drawn = {
            name: column.take(pa.array(np.where(anew == number, other, base))).dictionary_decode()
            for number, (name, column) in enumerate(columns.items())
        }
        part = pa.table(drawn)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def measure(path: Path, detector: str, score: bool) -> None:
    """Fit in this process and say what it took."""
    import carat
    from carat.observing import Silent, Stage

    class Timing(Silent):
        """Notes when each stage began."""

        def __init__(self) -> None:
            self.began: list[tuple[str, float]] = []

        def stage(self, name: str, total: int | None) -> Stage:
            self.began.append((name, time.perf_counter()))
            return super().stage(name, total)

    timing = Timing()
    began = time.perf_counter()
    model = carat.fit(path, profile="instant", detector=detector, progress=timing)
    seconds = time.perf_counter() - began
    edges = [*timing.began, ("", time.perf_counter())]
    stages = {title: round(end - start, 1) for (title, start), (_, end) in itertools.pairwise(edges)}
    line = {
        "rows": model.training["records"] + model.training["held_out"],
        "values": model.vocabulary.entities,
        "different_rows": model.explainer.facts()["parts"]["memory"]["groups"],  # type: ignore[union-attr]
        "seconds": round(seconds, 1),
        "before_the_first_stage": round(edges[0][1] - began, 1),
        "stages": stages,
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
    }
    if score:
        from carat import jobs

        began = time.perf_counter()
        read = sum(len(batch) for batch in jobs.score(model, path))
        line["rows_scored_a_second"] = round(read / (time.perf_counter() - began))
    print(json.dumps(line), flush=True)


def main() -> None:
    """Make the table, then fit it in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--detector", default="counts")
    parser.add_argument("--score", action="store_true")
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit is not None:
        measure(arguments.fit, arguments.detector, arguments.score)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        make(path, arguments.rows)
        command = [sys.executable, __file__, "--fit", str(path), "--detector", arguments.detector]
        subprocess.run([*command, *(["--score"] if arguments.score else [])], check=True)


if __name__ == "__main__":
    main()
