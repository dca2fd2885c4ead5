"""Sizes that the arithmetic of `docs/plan.md` rests on.

    python benchmarks/constants.py [--rows 200000] [--entities 20000,200000]

Fits `instant` models of generated shipments with so many entities, saves them, and prints the bytes of each part of the
folder, with how many different records, values, and pairs of values that occurred together it holds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import carat
from carat.datasets import shipments
from carat.explain.judge import Judge


def measured(rows: int, entities: int) -> dict[str, Any]:
    """The folder of one model."""
    dataset = shipments("us_import", rows=rows, entities=entities)
    began = time.perf_counter()
    model = carat.fit(dataset.table, profile="instant", domains=dataset.schema.domains)
    seconds = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        sizes = {file.name: file.stat().st_size for file in path.rglob("*") if file.is_file()}
    assert isinstance(model.explainer, Judge)
    different, total = len(model.explainer.memory_.records_), model.vocabulary.entities
    pairs = len(model.pairs.counts)
    return {
        "rows": rows,
        "values": total,
        "different_rows": different,
        "pairs": pairs,
        "fit_s": round(seconds, 1),
        "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        "bytes": sizes,
    }


def main() -> None:
    """Print one line per size."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--entities", default="20000,200000")
    arguments = parser.parse_args()
    for entities in map(int, arguments.entities.split(",")):
        print(json.dumps(measured(arguments.rows, entities)), flush=True)


if __name__ == "__main__":
    main()
