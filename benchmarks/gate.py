"""What the gate lists, against every detector's score alone, on records after those that were learned from.

    python benchmarks/gate.py [--data flights|FILE]… [--profile instant] [--seed 0]

Fitted with the profile's own detector and judge on the records that `carat bench` trains on; 2,000 later ones are asked
about. Printed: records with one wrong entity caught where 1 % of the untouched later records are listed, and ROC-AUC
with one or two wrong, by each detector and by the gate; how many untouched later records are listed at the default
threshold; how many of 100 records whose first domain holds an entity never seen (an X appended), and of 100 with three
domains blank; and what `fit` itself said of the model.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import torch
from common import read
from torch import Tensor

from carat import Model
from carat.data import MISSING, UNSEEN
from carat.experiments import make_trial
from carat.experiments.trial import Trial
from carat.fitting import fit
from carat.metrics import roc_auc
from carat.registry import DETECTORS
from carat.results.gate import Gate, strangest_first
from carat.results.scale import Threshold
from carat.training import Run

TESTED, STRANGE, LISTED = 2_000, 100, 0.01


def pairs(model: Model, ids: Tensor) -> Tensor:
    """Score and alarm of records ids [n, m], [n, 2]."""
    alarm = model.alarm(ids)
    assert alarm is not None
    return torch.stack([model.detector.score(ids).cpu().float(), alarm], dim=1)


def by_score(normal: Tensor, wrong: Tensor, one: Tensor) -> dict[str, float]:
    """What scores catch: of untouched records [n], of corrupted ones [k], which of these have one wrong entity."""
    cut = normal.sort().values[int(LISTED * len(normal))]
    return {
        "caught_at_1_percent": round(float((wrong[one] < cut).double().mean()), 3),
        "roc_auc": round(roc_auc(normal, wrong), 4),
    }


def by_gate(gate: Gate, normal: Tensor, wrong: Tensor, one: Tensor) -> dict[str, float]:
    """The same of scores and alarms [n, 2], with both cuts at 1 % of these untouched records."""
    cuts = Gate(normal, gate.by_alarm).cuts(Threshold(quantile=LISTED))
    caught = (wrong[one, 0] < cuts.score) | (wrong[one, 1] >= cuts.alarm)
    both = torch.cat([normal, wrong])
    place = torch.empty(len(both))
    place[strangest_first(both[:, 0], both[:, 1])] = torch.arange(len(both)).float()
    return {
        "caught_at_1_percent": round(float(caught.double().mean()), 3),
        "roc_auc": round(roc_auc(place[: len(normal)], place[len(normal) :]), 4),
    }


def at_the_default(model: Model, trial: Trial) -> dict[str, Any]:
    """Listed at the default threshold: untouched records, and some that are strange in ways detectors skip."""
    later, scale = trial.normal, model.scale
    unseen, blank = later[:STRANGE].clone(), later[:STRANGE].clone()
    unseen[:, 0] = UNSEEN
    generator = torch.Generator().manual_seed(0)
    domains = torch.rand(blank.shape, generator=generator).argsort(dim=1)[:, :3]
    blank.scatter_(1, domains, MISSING)

    def share(ids: Tensor) -> dict[str, float]:
        found = pairs(model, ids)
        alone = model.with_gate("score").scale
        return {
            "gate": round(float(scale.anomalous(found[:, 0], found[:, 1]).double().mean()), 4),
            "score": round(float(alone.below(found[:, 0]).double().mean()), 4),
        }

    return {"untouched": share(later), "misspelt": share(unseen), "three_blank": share(blank)}


def main() -> None:
    """Print one line per dataset."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", action="append")
    parser.add_argument("--profile", default="instant")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, rows = read(name)
        trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=TESTED, seed=arguments.seed)
        began = time.perf_counter()
        model = fit(
            trial.train,
            domains=trial.schema.domains,
            metapaths=trial.schema.metapaths,
            profile=arguments.profile,
            seed=arguments.seed,
        )
        seconds = time.perf_counter() - began
        assert model.gate is not None
        wrong, one = trial.anomalies.ids, trial.anomalies.corrupted.sum(dim=1) == 1
        line: dict[str, Any] = {"data": dataset.name, "profile": arguments.profile, "fit_seconds": round(seconds, 1)}
        for kind, entry in DETECTORS.items():
            if not entry.needs:
                detector = entry.load()().fit(trial.data, Run(seed=arguments.seed))
                line[kind] = by_score(detector.score(trial.normal), detector.score(wrong), one)
        line["gate"] = by_gate(model.gate, pairs(model, trial.normal), pairs(model, wrong), one)
        line["listed_at_default"] = at_the_default(model, trial)
        line["found"] = model.training["found"]
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
