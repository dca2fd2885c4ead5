"""All methods and DiCE's searches on the same anomalies, in one run: seconds per anomaly, and what they find.

    python benchmarks/others.py --out DIR [--anomalies 10] [--rows 20000] [--dice dice-random,…] [--dice-large …]

Needs the extra `dice`. Two tables of generated shipments (`us_import`): one of the usual size, and one of a small
world, of which the rows are kept that hold only the 50 most frequent values of each column. On both, a `fast` model
with MEAD is fitted, its networks within a minute, and every method is asked about the same corrupted later rows.
Fitting and FIMAP's training do not count. DiCE has no training; it builds what it needs for each row. It gets two
minutes for all rows, and its seconds are those per row that came back. `--dice` and `--dice-large` name its searches
that are run on the first and on the second table. One JSON line per table and method, with the largest memory that the
benchmark's process, or one that it started, has held so far. The figure is DIR/time.svg.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import pyarrow as pa
import pyarrow.compute as pc
import torch

import carat
from carat.datasets import Dataset, shipments
from carat.errors import MethodFailed
from carat.experiments import make_trial
from carat.experiments.cells import Cell, CellKey, Measured, Setting
from carat.experiments.contest import Contest
from carat.experiments.figures import figures
from carat.recourse import Settings
from carat.registry import method as method_entry
from carat.training import Run

METHODS = ("replace-m", "fimap", "rceaa", "xformer-r", "instant", "carat", "carat-plus")
DICE = ("dice-random", "dice-genetic", "dice-kdtree")
SMALL, FEW = 200, 50


def small_world(rows: int) -> Dataset:
    """Shipments of a world in which no column has more than 50 values."""
    dataset = shipments("us_import", rows=rows, entities=SMALL)
    table = dataset.table
    kept = pa.array([True] * table.num_rows)
    for name in dataset.schema.domains:
        counted = table[name].combine_chunks().dictionary_decode().value_counts()
        order = pc.sort_indices(counted.field("counts"), sort_keys=[("", "descending")])
        frequent = counted.field("values").take(order.slice(0, FEW))
        kept = pc.and_(kept, pc.is_in(table[name].cast(pa.string()), frequent))
    table = table.filter(kept)
    return replace(dataset, name="50 values per column", table=table, train_rows=table.num_rows * 4 // 5)


def contest_of(dataset: Dataset, anomalies: int) -> Contest:
    """The model and the anomalies."""
    assert dataset.train_rows is not None
    trial = make_trial(dataset.table, dataset.schema, train_rows=dataset.train_rows, tested=anomalies)
    schema = trial.schema
    model = carat.fit(
        trial.train, domains=schema.domains, metapaths=schema.metapaths, detector="mead", minutes=1, device="cpu"
    )
    return Contest.of(trial, model, Run(device=torch.device("cpu")))


def peak_gb() -> float:
    """The largest memory that this process, or one that it started and that ended, has held."""
    held = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return round(held / 2**20, 2)


def measured(contest: Contest, name: str, count: int) -> Measured | str:
    """What a method does to the first anomalies, or why it does nothing."""
    settings = Settings(k=50)
    method = contest.method(name)  # what it trains, it trains here
    try:
        if name not in DICE:
            contest.find(method, settings, contest.trial.anomalies.ids[:count])  # what is made once is made now
        outcome, seconds = contest.find(method, settings, contest.trial.anomalies.ids[:count])
    except MethodFailed as error:
        return str(error)
    return contest.measure(outcome, seconds)


def line_of(found: Measured | str) -> dict[str, Any]:
    """The figures."""
    if isinstance(found, str):
        return {"failed": found}
    rank = torch.tensor(found.rank)
    return {
        "seconds_per_anomaly": float(f"{found.seconds:.3g}"),
        "answered": found.coverage,
        "first_is_the_truth": round(float((rank == 1).double().mean()), 3),
        "truth_among_50": round(float((rank > 0).double().mean()), 3),
        "note": found.note,
    }


def cell_of(found: Measured, name: str, contest: Contest, data: str, count: int) -> Cell:
    """For the figure."""
    key = CellKey(
        data=data,
        fingerprint="",
        model=contest.model.identity,
        kind="method",
        method=name,
        prefer=0.5,
        seed=0,
        profile="fast",
        detector="mead",
        anomalies=count,
        k=50,
    )
    vocabulary = contest.model.vocabulary
    setting = Setting(
        synthetic=True,
        domains=len(vocabulary),
        entities=vocabulary.entities,
        train=len(contest.trial.data.train),
        device="cpu",
    )
    return Cell(key=key, setting=setting, measured=found)


def main() -> None:
    """Print a line per table and method, and draw the figure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--anomalies", type=int, default=10)
    parser.add_argument("--rows", type=int, default=20_000, help="of the small world, before rare values are dropped")
    parser.add_argument("--dice", default=",".join(DICE))
    parser.add_argument("--dice-large", default=",".join(DICE))
    arguments = parser.parse_args()
    cells = []
    tables = ((arguments.dice, small_world(arguments.rows)), (arguments.dice_large, shipments("us_import")))
    for dice, dataset in tables:
        contest = contest_of(dataset, arguments.anomalies)
        vocabulary = contest.model.vocabulary
        sizes = {domain.name: len(domain.entities) for domain in vocabulary.domains}
        rows = len(contest.trial.data.train)
        print(json.dumps({"data": dataset.name, "training_rows": rows, "values": sizes}), flush=True)
        for name in (*METHODS, *filter(None, dice.split(","))):
            count = method_entry(name).anomalies(arguments.anomalies) if name in DICE else arguments.anomalies
            began = time.perf_counter()
            found = measured(contest, name, count)
            took = round(time.perf_counter() - began, 1)
            line = {"data": dataset.name, "method": name, **line_of(found), "all_s": took, "peak_gb": peak_gb()}
            print(json.dumps(line), flush=True)
            if isinstance(found, Measured):
                cells.append(cell_of(found, name, contest, dataset.name, count))
    figures(cells, arguments.out)


if __name__ == "__main__":
    main()
