"""How long `instant` takes to learn a large table, and how much memory.

    python benchmarks/size.py [--rows 1000000] [--anew 0.1] [--detector counts] [--score] [--explain 20000]

Makes a table of shipments of so many rows in a temporary folder (Parquet): records of the generator `us_import`, drawn
again, a tenth of them (`--anew`) with one value drawn anew, so that the combinations keep growing with the rows. Fits
it in a process of its own. Printed: seconds of the fit and of its stages, the largest memory the process ever held,
and with `--score` the rows scored a second. `--explain` explains so many other rows, all of them judged, and prints how
many a second, and in which share of `--exact` questions the vote of the stored rows that it looks at puts the same
value first as a vote of all of them; once for all questions, once for those in which all of them put a value above one
half.
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
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from torch import Tensor

    from carat.fitting import Model

PART = 1_000_000


def make(path: Path, rows: int, anew: float, seed: int = 0) -> None:
    """Write a table, a part at a time."""
    from carat.experiments.bench import read_dataset

    dataset = read_dataset("shipments:us_import")
    table = dataset.table.select(list(dataset.schema.domains))
    columns = {name: table[name].combine_chunks().dictionary_encode() for name in table.column_names}
    generator = np.random.default_rng(seed)
    writer = None
    for start in range(0, rows, PART):
        size = min(PART, rows - start)
        base = generator.integers(table.num_rows, size=size)
        drawn_anew = np.where(generator.random(size) < anew, generator.integers(len(columns), size=size), -1)
        other = generator.integers(table.num_rows, size=size)
        drawn = {
            name: column.take(pa.array(np.where(drawn_anew == number, other, base))).dictionary_decode()
            for number, (name, column) in enumerate(columns.items())
        }
        part = pa.table(drawn)
        writer = writer or pq.ParquetWriter(path, part.schema)
        writer.write_table(part)
    assert writer is not None
    writer.close()


def agreement(model: Model, ids: Tensor) -> dict[str, float]:
    """How often votes of some stored records and of all of them put the same entity first, on records ids [n, m]."""
    import torch

    from carat.explain import Judge

    assert isinstance(model.explainer, Judge)
    memory = model.explainer.memory_
    everybody = copy(memory)
    everybody.exact = len(memory.records_)
    domains = ids.shape[1]
    hidden = torch.eye(domains, dtype=torch.bool)[None]
    same, clear = [], []
    for record in ids.split(1):
        some, all_of_them = (each.ask(record, hidden) for each in (memory, everybody))
        for domain in range(domains):
            first, truth = (ballot.probability(domain) for ballot in (some, all_of_them))
            same.append(bool(first.argmax() == truth.argmax()))
            clear.append(bool(truth.max() > 0.5))
    agreed, sure = np.array(same), np.array(clear)
    return {"same_first": round(float(agreed.mean()), 4), "same_where_clear": round(float(agreed[sure].mean()), 4)}


def explained(model: Model, path: Path, exact: int) -> dict[str, float]:
    """Rows explained a second, all of them judged, and how good the vote is."""
    from carat import jobs
    from carat.data import Table, open_source

    rows = pq.read_table(path)
    model.explain(rows.slice(0, 2_048))  # what is made once is made now
    began = time.perf_counter()
    jobs.explain(model, rows).into()
    rate = rows.num_rows / (time.perf_counter() - began)
    ids = Table.read(open_source(rows.slice(0, exact)), model.schema, model.vocabulary).ids
    return {"rows_explained_a_second": round(rate), **agreement(model, ids)}


def measure(path: Path, detector: str, score: bool, explain: Path | None, exact: int) -> None:
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
    if explain is not None:
        line |= explained(model, explain, exact)
        line["peak_gb_in_all"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2)
    print(json.dumps(line), flush=True)


def main() -> None:
    """Make the table, then fit it in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--detector", default="counts")
    parser.add_argument("--anew", type=float, default=0.1)
    parser.add_argument("--score", action="store_true")
    parser.add_argument("--explain", type=int, default=0)
    parser.add_argument("--exact", type=int, default=100)
    parser.add_argument("--fit", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--asked", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit is not None:
        measure(arguments.fit, arguments.detector, arguments.score, arguments.asked, arguments.exact)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.parquet"
        make(path, arguments.rows, arguments.anew)
        command = [sys.executable, __file__, "--fit", str(path), "--detector", arguments.detector]
        command += ["--score"] if arguments.score else []
        if arguments.explain:
            asked = Path(folder) / "asked.parquet"
            make(asked, arguments.explain, arguments.anew, seed=1)
            command += ["--asked", str(asked), "--exact", str(arguments.exact)]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
