"""What the profile `instant` with its judge gets right: blame, alarms, first suggested fixes, and how fast.

    python benchmarks/judge.py [--data flights|FILE]… [--detector mead]… [--seeds 0,1,2]

Fitted on the records that `carat bench` trains on, for each detector and seed. Printed, per seed and as the mean:
seconds of the whole fit; Feature Accuracy with one and two wrong entities, on 2,000 later records; records with one
wrong entity caught where the alarm lists 1 % of untouched later records; untouched entities flagged, and those among
them that training saw fewer than five times; Recovery@1 and @50 of `instant` on 400 anomalies; and records explained a
second, after one call to warm up.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

from common import mean_of, read, seeds_of

from carat.datasets import Dataset
from carat.experiments import make_trial
from carat.experiments.contest import Contest
from carat.experiments.trial import Trial
from carat.explain import Judge, flagged, targets
from carat.fitting import fit
from carat.recourse import Settings
from carat.training import Run

TESTED, REPAIRED, RARE, LISTED = 2_000, 400, 5, 0.01


def measured(judge: Judge, trial: Trial) -> dict[str, Any]:
    """What a judge gets right on the later records of a trial."""
    anomalies, corrupted = trial.anomalies, trial.anomalies.corrupted
    judge.likelihood(anomalies.ids[:256])
    began = time.perf_counter()
    chosen = targets(judge.likelihood(anomalies.ids))
    rate = len(anomalies) / (time.perf_counter() - began)
    wrong = corrupted.sum(dim=1)
    cut = judge.alarm(trial.normal).double().quantile(1 - LISTED)
    untouched = flagged(judge.likelihood(trial.normal))
    seen = trial.data.pairs.singles[trial.normal.long() + trial.data.vocabulary.offsets]
    right = (chosen == corrupted).double()
    return {
        "feature_accuracy_1": float(right[wrong == 1].mean()),
        "feature_accuracy_2": float(right[wrong == 2].mean()),
        "caught_at_1_percent": float((judge.alarm(anomalies.ids)[wrong == 1] > cut).double().mean()),
        "untouched_flagged": float(untouched.double().mean()),
        "rare_untouched_flagged": float(untouched[seen < RARE].double().mean()),
        "records_a_second": round(rate),
    }


def one(dataset: Dataset, rows: int, detector: str, seed: int) -> dict[str, Any]:
    """Everything for one seed."""
    trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=TESTED, seed=seed)
    repaired = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=REPAIRED, seed=seed)
    began = time.perf_counter()
    model = fit(
        trial.train,
        domains=trial.schema.domains,
        metapaths=trial.schema.metapaths,
        profile="instant",
        detector=detector,
        seed=seed,
    )
    seconds = time.perf_counter() - began
    assert isinstance(model.explainer, Judge)
    ranks = Contest.of(repaired, model, Run(seed=seed)).measured("instant", Settings(), REPAIRED).rank
    recovered = {f"recovery_{k}": sum(0 < rank <= k for rank in ranks) / len(ranks) for k in (1, 50)}
    return {"fit_seconds": round(seconds, 1), **measured(model.explainer, trial), **recovered}


def main() -> None:
    """Print one line per dataset, detector and seed, and the means."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", action="append")
    parser.add_argument("--detector", action="append")
    parser.add_argument("--seeds", default="0,1,2", type=seeds_of)
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, rows = read(name)
        for detector in arguments.detector or ["mead"]:
            found = []
            for seed in arguments.seeds:
                found.append(one(dataset, rows, detector, seed))
                about = {"data": dataset.name, "detector": detector, "seed": seed}
                print(json.dumps(about | mean_of(found[-1:])), flush=True)
            about = {"data": dataset.name, "detector": detector, "seed": "mean"}
            print(json.dumps(about | mean_of(found)), flush=True)


if __name__ == "__main__":
    main()
