"""The judge over the vote of similar records, against the explainer from pair counts, on the same anomalies.

    python benchmarks/judge.py [--data flights|FILE]… [--seed 0]

Both are fitted with the profile `instant` and the detector MEAD on the records that `carat bench` trains on. Printed:
seconds of the fits, Feature Accuracy with one and two wrong entities, records with one wrong entity caught where 1 % of
untouched later records are listed (by the judge's alarm; for counts, by the least likely entity), untouched entities
flagged, those among them seen fewer than five times, Recovery@1 of `instant` on 400 anomalies, and records explained a
second.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import torch
from common import read
from torch import Tensor

from carat.experiments import make_trial
from carat.experiments.contest import Contest
from carat.experiments.trial import Trial
from carat.explain import CountsExplainer, FittedExplainer, Judge, flagged, targets
from carat.fitting import fit
from carat.recourse import Settings
from carat.training import Run

TESTED, REPAIRED, RARE, LISTED = 2_000, 400, 5, 0.01


def alarms(explainer: FittedExplainer, ids: Tensor) -> Tensor:
    """How strange records ids [n, m] are to an explainer, [n]; higher is stranger."""
    if isinstance(explainer, Judge):
        return explainer.alarm(ids)
    return 1 - explainer.likelihood(ids).nan_to_num(nan=1.0).amin(dim=1)


def measured(explainer: FittedExplainer, trial: Trial) -> dict[str, Any]:
    """What an explainer gets right on the later records of a trial."""
    anomalies, corrupted = trial.anomalies, trial.anomalies.corrupted
    began = time.perf_counter()
    chosen = targets(explainer.likelihood(anomalies.ids))
    rate = len(anomalies) / (time.perf_counter() - began)
    wrong = corrupted.sum(dim=1)
    cut = alarms(explainer, trial.normal).double().quantile(1 - LISTED)
    untouched = flagged(explainer.likelihood(trial.normal))
    seen = trial.data.pairs.singles[trial.normal.long() + trial.data.vocabulary.offsets]
    return {
        "feature_accuracy": [round(float((chosen == corrupted)[wrong == k].double().mean()), 4) for k in (1, 2)],
        "caught_at_1_percent": round(float((alarms(explainer, anomalies.ids)[wrong == 1] > cut).double().mean()), 3),
        "untouched_flagged": round(float(untouched.double().mean()), 4),
        "rare_untouched_flagged": round(float(untouched[seen < RARE].double().mean()), 4),
        "records_a_second": round(rate),
    }


def main() -> None:
    """Print one line per dataset and explainer."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", action="append")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, rows = read(name)
        trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=TESTED, seed=arguments.seed)
        repaired = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=REPAIRED, seed=arguments.seed)
        for explainer in ("counts", "judge"):
            began = time.perf_counter()
            model = fit(
                trial.train,
                domains=trial.schema.domains,
                metapaths=trial.schema.metapaths,
                profile="instant",
                detector="mead",
                explainer=explainer,
                seed=arguments.seed,
            )
            seconds = time.perf_counter() - began
            fitted = model.explainer
            assert isinstance(fitted, CountsExplainer | Judge)
            contest = Contest.of(repaired, model, Run(seed=arguments.seed))
            contest = replace(contest, counts=fitted)
            rank = torch.tensor(contest.measured("instant", Settings(), REPAIRED).rank)
            line = {"data": dataset.name, "explainer": explainer, "fit_seconds": round(seconds, 1)}
            line |= measured(fitted, trial) | {"recovery_1": round(float((rank == 1).double().mean()), 3)}
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
