"""How time and memory grow with rows and with entities.

    python benchmarks/growth.py [--rows 20000,50000,100000] [--entities 1000,10000] [--fixed-rows 50000]
        [--audit-up-to 100000]

Tables of generated shipments (`us_import`, the profile `instant`). First `--rows` with the generator's usual number of
entities, then `--entities` in `--fixed-rows` rows. Each size is measured in a process of its own: seconds of the fit,
seconds to explain 5,000 rows and to repair 512, seconds of an audit (of tables of up to `--audit-up-to` rows), and the
largest memory that the process held after each. At the end, the exponents that fit each series best, from 20,000 rows
on: 1.0 is time in proportion.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import numpy as np

FROM = 20_000
ASKED, REPAIRED = 5_000, 512


def measure(rows: int, entities: int | None, audit: bool) -> dict[str, Any]:
    """One size, in this process."""
    import carat
    from carat.datasets import shipments

    dataset = shipments("us_import", rows=rows, entities=entities)
    table = dataset.table
    line: dict[str, Any] = {"rows": rows}

    def timed(name: str, act: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        made = act()
        line[name] = round(time.perf_counter() - began, 2)
        line[f"{name}_gb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
        return made

    model = timed("fit", lambda: carat.fit(table, profile="instant", domains=dataset.schema.domains))
    line["entities"] = model.vocabulary.entities
    timed("explain", lambda: model.explain(table.slice(0, ASKED)))
    timed("recourse", lambda: model.recourse(table.slice(0, REPAIRED), all=True))
    if audit:
        timed("audit", lambda: carat.audit(table.select(list(dataset.schema.domains))))
    return line


def exponents(lines: list[dict[str, Any]], by: str) -> dict[str, float]:
    """Of time against rows or entities, for every stage with at least two sizes."""
    found = {}
    for stage in ("fit", "explain", "recourse", "audit"):
        known = [(line[by], line[stage]) for line in lines if stage in line and line["rows"] >= FROM]
        if len({size for size, _ in known}) > 1:
            size, seconds = np.log(np.array(known, dtype=np.float64)).T
            found[stage] = round(float(np.polyfit(size, seconds, 1)[0]), 2)
    return found


def main() -> None:
    """Print a line per size, and the exponents of each series."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="20000,50000,100000")
    parser.add_argument("--entities", default="1000,10000")
    parser.add_argument("--fixed-rows", type=int, default=50_000)
    parser.add_argument("--audit-up-to", type=int, default=100_000)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        rows, entities, audit = (int(part) for part in arguments.one)
        print(json.dumps(measure(rows, entities or None, bool(audit))))
        return
    series = {
        "rows": [(int(rows), 0) for rows in arguments.rows.split(",")],
        "entities": [(arguments.fixed_rows, int(entities)) for entities in arguments.entities.split(",")],
    }
    for by, sizes in series.items():
        lines = []
        for rows, entities in sizes:
            audit = int(rows <= arguments.audit_up_to)
            command = [sys.executable, __file__, "--one", str(rows), str(entities), str(audit)]
            made = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            lines.append(json.loads(made.splitlines()[-1]))
            print(json.dumps({"series": by, **lines[-1]}), flush=True)
        print(json.dumps({"series": by, "exponents": exponents(lines, by)}), flush=True)


if __name__ == "__main__":
    main()
