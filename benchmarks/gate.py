"""What the gate lists, against every detector's score alone, on records after those that were learned from.

    python benchmarks/gate.py [--data flights|FILE]… [--profile instant] [--seeds 0] [--models DIR/models]

One judge is fitted on the records that `carat bench` trains on, or taken from the model that is there, and every
detector with closed-form terms beside it. 2,000 later records are asked about. Printed for each detector, alone and
with a gate set for it: records with one wrong entity caught where 1 % of the untouched later records are listed, and
ROC-AUC with one or two wrong; how many untouched later records its gate lists at the default threshold, how many of 100
records whose first domain holds an entity never seen (an X appended), and of 100 with three domains blank.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import torch
from common import mean_of, read, seeds_of
from stacked import folder_of
from torch import Tensor

from carat.data import MISSING, UNSEEN
from carat.datasets import Dataset
from carat.detectors import FittedDetector
from carat.experiments import make_trial
from carat.experiments.contest import Contest
from carat.experiments.detection import TESTED, Exam
from carat.explain import Judge
from carat.fitting import fit, load
from carat.fitting.gating import set_gate
from carat.protocols import Detector, GridDetector
from carat.registry import DETECTORS
from carat.results.gate import QUANTILE, Gate
from carat.results.scale import Threshold
from carat.training import Run

STRANGE = 100


def listed(gate: Gate, detector: Detector, judge: Judge, later: Tensor) -> dict[str, float]:
    """Shares listed at the default threshold: untouched records, and some that are strange in ways detectors skip."""
    unseen, blank = later[:STRANGE].clone(), later[:STRANGE].clone()
    unseen[:, 0] = UNSEEN
    generator = torch.Generator().manual_seed(0)
    blank.scatter_(1, torch.rand(blank.shape, generator=generator).argsort(dim=1)[:, :3], MISSING)
    cuts = gate.cuts(Threshold(quantile=QUANTILE))
    return {
        f"listed_{name}": round(
            float(((detector.score(ids).cpu() < cuts.score) | (judge.alarm(ids).cpu() >= cuts.alarm)).double().mean()),
            4,
        )
        for name, ids in {"untouched": later, "misspelt": unseen, "three_blank": blank}.items()
    }


def one(dataset: Dataset, rows: int, profile: str, seed: int, models: Path | None) -> dict[str, dict[str, float]]:
    """By detector: alone, and with the gate that is set for it."""
    trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=TESTED, seed=seed)
    schema, run = trial.schema, Run(seed=seed)
    if models is None:
        model = fit(trial.train, domains=schema.domains, metapaths=schema.metapaths, profile=profile, seed=seed)
    else:
        model = load(folder_of(models, dataset, seed))
    judge = model.explainer
    assert isinstance(judge, Judge)
    exam = Exam.of(Contest.of(trial, model, run))
    found = {}
    for name, entry in DETECTORS.items():
        if entry.needs:
            continue
        detector: FittedDetector = entry.load()().fit(trial.data, run)
        if not isinstance(detector, GridDetector):
            continue
        gate, _ = set_gate(detector, judge, trial.data, run)
        assert gate is not None
        both = exam.by_gate(gate, detector, judge)
        found[name] = {
            **exam.by_score(detector),
            **{f"gate_{figure}": value for figure, value in both.items()},
            "by_alarm": gate.by_alarm,
            **listed(gate, detector, judge, exam.normal),
        }
    return found


def main() -> None:
    """Print one line per dataset and detector: the mean over the seeds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", action="append")
    parser.add_argument("--profile", default="instant")
    parser.add_argument("--seeds", default="0", type=seeds_of)
    parser.add_argument("--models", type=Path)
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, rows = read(name)
        found = [one(dataset, rows, arguments.profile, seed, arguments.models) for seed in arguments.seeds]
        for detector in found[0]:
            about = {"data": dataset.name, "profile": arguments.profile, "detector": detector}
            print(json.dumps(about | mean_of([each[detector] for each in found])), flush=True)


if __name__ == "__main__":
    main()
