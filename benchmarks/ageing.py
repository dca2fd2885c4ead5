"""How a model ages month by month, with and without a monthly update.

    python benchmarks/ageing.py [--profile instant] [--tested 400] [--weeks 8] [--seed 0] [--all]

Flights: fitted on the first weeks of the year, then asked about each calendar month that follows. Asked are complete
records of the month whose entities the fitted model knows, with one or two of them replaced; all models get the same.
A month is asked about first, and joins the updated model after that; `--all` lets listed records join too. Printed for
each month, and in the last line over all: records whose wrong domains are found exactly, and whose true record is the
first counterfactual; how many records of the month were added and skipped, and how many seconds the update took.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from datetime import date, timedelta
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor

import carat
from carat import Model
from carat.data import Anomalies, Table, corrupt, open_source
from carat.datasets import flights
from carat.explain import targets
from carat.metrics import recovery
from carat.recourse import Settings

LAST = 12
"""The last month of the year."""


def asked(model: Model, rows: pa.Table, tested: int, seed: int) -> Anomalies:
    """Some records of a month, corrupted in the eyes of the fitted model."""
    table = Table.read(open_source(rows), model.schema, model.vocabulary)
    known = table.ids[table.complete()]
    order = torch.randperm(len(known), generator=torch.Generator().manual_seed(seed))
    return corrupt(known[order[:tested]], model.vocabulary, model.pairs, seed=seed)


def answered(model: Model, anomalies: Anomalies) -> tuple[Tensor, Tensor]:
    """Which records have their wrong domains found exactly, and which their true record first, bool [n] each."""
    assert model.explainer is not None
    exact = (targets(model.explainer.likelihood(anomalies.ids).cpu()) == anomalies.corrupted).all(dim=1)
    found = model.method().find(anomalies.ids.long().to(model.device), Settings()).to("cpu")
    rank = recovery(anomalies.original.long(), found.counterfactuals, found.mask)
    return exact, rank == 1


def percent(which: Tensor) -> float:
    """In percent, to one place."""
    return round(100 * float(which.double().mean()), 1)


def months(table: pa.Table, begin: date) -> list[tuple[str, pa.Table]]:
    """The calendar months from a day on, oldest first; what is left of its own month belongs to the next."""
    days = pc.cast(table["Date"], pa.string())
    found, first = [], begin
    for month in range(begin.month + (begin.day > 1), LAST + 1):
        after = date(begin.year + month // LAST, month % LAST + 1, 1)
        inside = pc.and_(pc.greater_equal(days, first.isoformat()), pc.less(days, after.isoformat()))
        found.append((f"{begin.year}-{month:02}", table.filter(inside)))
        first = after
    return found


def main() -> None:
    """Print a line for each month, and one over all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--profile", default="instant")
    parser.add_argument("--tested", type=int, default=400)
    parser.add_argument("--weeks", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--all", action="store_true")
    given = parser.parse_args()
    dataset = flights()
    begin = date(2013, 1, 1) + timedelta(weeks=given.weeks)
    train = dataset.table.filter(pc.less(pc.cast(dataset.table["Date"], pa.string()), begin.isoformat()))
    columns: dict[str, Any] = {"domains": dataset.schema.domains, "metapaths": dataset.schema.metapaths, "time": "Date"}
    fitted = carat.fit(train, profile=given.profile, seed=given.seed, **columns)
    print(json.dumps({"rows": train.num_rows, "seconds": fitted.training["seconds"]}), flush=True)
    updated, total = fitted, {"as fitted": ([], []), "updated": ([], [])}  # type: ignore[var-annotated]
    for name, rows in months(dataset.table, begin):
        anomalies = asked(fitted, rows, given.tested, given.seed)
        line: dict[str, Any] = {"month": name, "asked": len(anomalies)}
        for which, model in (("as fitted", fitted), ("updated", updated)):
            exact, first = answered(model, anomalies)
            total[which][0].append(exact)
            total[which][1].append(first)
            line[which] = {"exact_domains": percent(exact), "recovery_at_1": percent(first)}
        began = time.perf_counter()
        updated = updated.update(rows, all=given.all)
        entry = updated.training["history"][-1]
        line |= {"added": entry["added"], "skipped": entry["skipped"], "seconds": round(time.perf_counter() - began, 1)}
        print(json.dumps(line), flush=True)
    overall = {
        which: {"exact_domains": percent(torch.cat(exact)), "recovery_at_1": percent(torch.cat(first))}
        for which, (exact, first) in total.items()
    }
    print(json.dumps({"over all": overall}), flush=True)


if __name__ == "__main__":
    main()
