"""Parquet to ids: one million rows of eight text columns in two passes, with time and peak memory.

    python benchmarks/ingest.py [--rows 1000000]

Prints seconds and peak memory, each beside its limit, and shows that memory does not grow with rows beyond the ids:
the same table four times as long is read in a process of its own.
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

import pyarrow as pa
import pyarrow.parquet as pq

LIMIT_SECONDS, LIMIT_BYTES, DOMAINS = 10.0, 1.5e9, 8


def write_table(path: Path, rows: int) -> None:
    """Synthetic shipments with 100,000 entities as plain text columns."""
    from carat.datasets import shipment_batches

    writer = None
    for batch in shipment_batches("us_import", rows=rows, entities=100_000):
        plain = pa.table({name: batch[name].dictionary_decode() for name in batch.schema.names if name != "Date"})
        writer = writer or pq.ParquetWriter(path, plain.schema)
        writer.write_table(plain)
    assert writer is not None
    writer.close()


def measure(path: Path) -> None:
    """Runs in a process of its own: reads the file and prints what it took."""
    from carat.data import Columns, Table, open_source, scan

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    began = time.perf_counter()
    source = open_source(path)
    found = scan(source, Columns(domains=source.names))
    table = Table.read(source, found.schema, found.vocabulary, found.rows)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    ids = table.ids.numel() * table.ids.element_size()
    print(json.dumps({"rows": len(table), "domains": len(found.vocabulary), "entities": found.vocabulary.entities,
                      "seconds": seconds, "peak": peak, "before": before, "ids": ids}))  # fmt: skip


def main() -> None:
    """Write the tables, measure each, print the comparison."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--measure", type=Path)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure)
        return
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for rows in (arguments.rows, 4 * arguments.rows):
            path = Path(folder) / f"{rows}.parquet"
            subprocess.run([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); "
                            f"import ingest, pathlib; ingest.write_table(pathlib.Path({str(path)!r}), {rows})"],
                           check=True)  # fmt: skip
            command = [sys.executable, __file__, "--measure", str(path)]
            results.append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    for result in results:
        print(
            f"{result['rows']:>10,} rows × {result['domains']} domains, {result['entities']:,} entities: "
            f"{result['seconds']:.2f} s, peak {result['peak'] / 1e9:.2f} GB "
            f"(of it {result['before'] / 1e9:.2f} GB before the first row, ids {result['ids'] / 1e9:.3f} GB)"
        )
    first, second = results
    assert first["domains"] == DOMAINS
    scale = arguments.rows / 1_000_000
    print(f"time against the limit of {LIMIT_SECONDS * scale:g} s: {first['seconds'] / (LIMIT_SECONDS * scale):.2f}")
    print(f"peak against the limit of {LIMIT_BYTES / 1e9:g} GB: {first['peak'] / LIMIT_BYTES:.2f}")
    growth = (second["peak"] - first["peak"]) / (second["ids"] - first["ids"])
    print(f"growth of the peak over growth of the ids, four times the rows: {growth:.2f}")


if __name__ == "__main__":
    main()
