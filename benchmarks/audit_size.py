"""How long the audit of a large table takes, how much memory, and how well it does.

    python benchmarks/audit_size.py [--rows 1000000] [--share 0.01] [--keep FOLDER]

Makes a table of generated shipments (`us_import`, with the date and the country of origin: 10 columns), spoils a share
of its cells, writes it as Parquet, and audits the file in a process of its own. Printed: seconds in all and by stage,
the largest memory the process ever held, detection and repair against the slips. `--keep` leaves the tables in a
folder, and takes them from there the next time. The generator draws ports, carriers and goods at random now and then,
which no audit can tell from a wrong value: most cells that count as false are such.
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
import pyarrow.compute as pc
import pyarrow.parquet as pq


def make(folder: Path, rows: int, share: float) -> None:
    """Write the spoiled table, and what was done to it."""
    from carat.data.slips import slip
    from carat.data.text import to_text
    from carat.datasets.shipments import shipments

    table = shipments("us_import", rows=rows, seed=0).table
    clean = pa.table({name: to_text(table[name].combine_chunks(), name) for name in table.column_names})
    origin = clean["ShipmentOrigin"]
    clean = clean.append_column("CountryOfOrigin", pc.replace_substring_regex(origin, "^.*, ", ""))
    made = slip(clean, share=share, seed=1_000)
    pq.write_table(made.table, folder / "table.parquet", row_group_size=100_000)
    truth = {"row": made.row, "column": made.column, "before": made.before}
    pq.write_table(pa.table(truth), folder / "truth.parquet")


def measure(folder: Path) -> None:
    """Audit in this process and say what it took."""
    import carat
    from carat.observing import Silent, Stage

    class Timing(Silent):
        """Notes when each stage began."""

        def __init__(self) -> None:
            self.began: list[tuple[str, float]] = []

        def stage(self, name: str, total: int | None) -> Stage:
            self.began.append((name, time.perf_counter()))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"{time.strftime('%H:%M:%S')} {name}, peak {peak:.2f} GB", file=sys.stderr, flush=True)
            return super().stage(name, total)

    timing = Timing()
    began = time.perf_counter()
    result = carat.audit(folder / "table.parquet", progress=timing)
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    edges = [*timing.began, ("", began + seconds)]
    stages: dict[str, float] = {}
    for (title, start), (_, end) in itertools.pairwise(edges):
        stages[title] = round(stages.get(title, 0.0) + end - start, 1)
    found = result.to_arrow()
    print(
        json.dumps(
            {
                "rows": pq.read_metadata(folder / "table.parquet").num_rows,
                "seconds": round(seconds, 1),
                "before_the_first_stage": round(edges[0][1] - began, 1),
                "stages": stages,
                "peak_gb": round(peak, 2),
                **against(found, folder),
            }
        ),
        flush=True,
    )


def against(found: pa.Table, folder: Path) -> dict[str, object]:
    """Detection and repair of the listed cells against the slips: precision, recall, F1 each."""
    names = pq.read_schema(folder / "table.parquet").names
    truth = pq.read_table(folder / "truth.parquet")
    cells_of = zip(truth["row"].to_pylist(), truth["column"].to_pylist(), strict=True)
    before = dict(zip(cells_of, truth["before"].to_pylist(), strict=True))
    place = {name: number for number, name in enumerate(names)}
    cells = list(zip(found["record"].to_pylist(), (place[name] for name in found["column"].to_pylist()), strict=True))
    proposals = found["proposal"].to_pylist()
    made = np.array([text is not None for text in proposals], dtype=bool)
    right = np.array(
        [
            text is not None
            and cell in before
            and (None if text in ("", "<blank>") else text) == (before[cell] or None)
            for cell, text in zip(cells, proposals, strict=True)
        ],
        dtype=bool,
    )
    hit = sum(cell in before for cell in cells)

    def three(good: int, said: int) -> list[float]:
        precision, recall = good / max(said, 1), good / max(len(before), 1)
        return [round(each, 3) for each in (precision, recall, 2 * precision * recall / max(precision + recall, 1e-9))]

    return {
        "slips": len(before),
        "listed": len(cells),
        "detection": three(hit, len(cells)),
        "repair": three(int(right.sum()), int(made.sum())),
    }


def main() -> None:
    """Make the table, then audit it in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--share", type=float, default=0.01)
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--audit", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.audit is not None:
        measure(arguments.audit)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "truth.parquet").is_file():
            make(folder, arguments.rows, arguments.share)
        subprocess.run([sys.executable, __file__, "--audit", str(folder)], check=True)


if __name__ == "__main__":
    main()
