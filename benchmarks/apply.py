"""Apply decisions to a table of a million rows and ten columns, with time and peak memory, and take them back.

    python benchmarks/apply.py [--rows 1000000] [--share 0.01] [--formats jsonl,parquet]

Prints seconds and peak memory for csv, a csv with every cell in quotes, csv.gz, jsonl and parquet, beside the limit of
a minute. To show that memory does not grow with the table, a csv and a jsonl four times as long are measured too. Each
runs in a process of its own. `--formats` measures some of them only.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

LIMIT_SECONDS, COLUMNS, BATCH = 60.0, 10, 100_000
FORMATS = ("csv", "quoted.csv", "csv.gz", "jsonl", "parquet")
LONG = ("csv", "jsonl")
"""Formats that are measured four times as long, too."""


def write_table(folder: Path, kind: str, rows: int, share: float) -> tuple[Path, Path]:
    """A table of text whose cells say where they stand, and a list that accepts a fix for a share of its rows."""
    table, cells = folder / f"table-{rows}.{kind}", folder / f"cells-{rows}.csv"
    names = [f"column {place}" for place in range(COLUMNS)]
    schema = pa.schema([(name, pa.string()) for name in names])
    quoting = "all_valid" if kind == "quoted.csv" else "none"
    with pa.CompressedOutputStream(str(table), "gzip") if kind == "csv.gz" else table.open("wb") as file:
        options = pyarrow.csv.WriteOptions(quoting_style=quoting)
        writer = None
        if kind == "parquet":
            writer = pq.ParquetWriter(file, schema)
        elif kind != "jsonl":
            writer = pyarrow.csv.CSVWriter(file, schema, write_options=options)
        for start in range(0, rows, BATCH):
            numbers = range(start, min(start + BATCH, rows))
            part = pa.table({name: [f"{place}-{n % 5000}" for n in numbers] for place, name in enumerate(names)})
            if writer is None:
                file.write("".join(json.dumps(row) + "\n" for row in part.to_pylist()).encode())
            else:
                writer.write_table(part)
        if writer is not None:
            writer.close()
    draw = np.random.default_rng(0)
    chosen = np.sort(draw.choice(rows, int(rows * share), replace=False))
    place = draw.integers(0, COLUMNS, len(chosen))
    listed = {
        "record": chosen,
        "column": [names[p] for p in place],
        "value": [f"{p}-{n % 5000}" for p, n in zip(place, chosen, strict=True)],
        "kind": ["typo"] * len(chosen),
        "proposal": [f"fix, {n}" for n in chosen],
        "decision": ["accept"] * len(chosen),
    }
    pyarrow.csv.write_csv(pa.table(listed), cells)
    return table, cells


def measure(table: Path, cells: Path) -> None:
    """Runs in a process of its own: applies the list, takes it back, and prints what it took."""
    import carat

    carat.apply, carat.revert  # noqa: B018 - imported before the clock starts
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    out, back = table.with_name(f"out-{table.name}"), table.with_name(f"back-{table.name}")
    began, working = time.perf_counter(), time.process_time()
    done = carat.apply(cells, table, out=out)
    applied, worked = time.perf_counter(), time.process_time()
    carat.revert(f"{out}.changes.jsonl", out, back)
    reverted = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    same = table.suffix not in (".csv", ".jsonl") or table.read_bytes() == back.read_bytes()
    print(json.dumps({"changes": done.changes, "apply": applied - began, "work": worked - working,
                      "revert": reverted - applied, "same": same,
                      "size": table.stat().st_size, "peak": peak, "before": before}))  # fmt: skip


def main() -> None:
    """Write the tables, measure each, print the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--formats", default=",".join(FORMATS))
    parser.add_argument("--measure", type=Path, nargs=2)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(*arguments.measure)
        return
    asked = arguments.formats.split(",")
    if unknown := set(asked) - set(FORMATS):
        parser.error(f"unknown format {', '.join(sorted(unknown))}; there are {', '.join(FORMATS)}")
    longer = [(kind, 4 * arguments.rows) for kind in LONG if kind in asked]
    for kind, rows in [*((kind, arguments.rows) for kind in asked), *longer]:
        share = arguments.share * arguments.rows / rows  # always the same number of changes
        with tempfile.TemporaryDirectory() as folder:
            table, cells = write_table(Path(folder), kind, rows, share)
            command = [sys.executable, __file__, "--measure", str(table), str(cells)]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert told["same"], "taking the changes back did not give the table back"
        limit = LIMIT_SECONDS * rows / 1_000_000
        print(
            f"{kind:>10}, {rows:>9,} rows × {COLUMNS} ({told['size'] / 1e6:.0f} MB), {told['changes']:,} changes:",
            f"apply {told['apply']:.1f} s ({told['apply'] / limit:.2f} of the limit; {told['work']:.1f} s of work),",
            f"revert {told['revert']:.1f} s,",
            f"peak {told['peak'] / 1e6:.0f} MB, of it {told['before'] / 1e6:.0f} MB before the first row",
            flush=True,
        )


if __name__ == "__main__":
    main()
