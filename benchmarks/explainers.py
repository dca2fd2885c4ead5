"""How well explainers find the corrupted entities, and the right entity in their place.

    python benchmarks/explainers.py [--data flights|FILE]… [--profile fast] [--device auto] [--out results.json]

Splits and corrupts as `benchmarks/detectors.py` does. Printed for the profile's explainer (fine-tuned and frozen) and
for `counts` beside it:

- Feature Accuracy: share of domains that are flagged and corrupted, or neither (Algorithm 1's choice, with its
  fallback); exact: share of records with every domain right
- first guess: how often decoder-R's likeliest entity is the true one, with the corrupted domains masked
- flagged untouched: share of entities flagged in later records that nobody corrupted
- calibration: expected calibration error on held-out corruptions, before and after temperature scaling
- ROC-AUC of the explainer as a detector (`context`), with MEAD's and APE's from the same run
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import torch
from common import read
from torch import Tensor

from carat.devices import pick_device
from carat.experiments import Trial, make_trial
from carat.explain import (
    ContextDetector,
    CountsExplainer,
    FittedExplainer,
    TransformerExplainer,
    flagged,
    targets,
)
from carat.metrics import roc_auc
from carat.protocols import Explainer
from carat.recourse.candidates import ContextSource
from carat.registry import DETECTORS, EXPLAINERS, PROFILES
from carat.training import Run


def by_changes(values: Tensor, trial: Trial) -> list[float]:
    """Mean over the anomalies with one and with two corruptions."""
    count = trial.anomalies.corrupted.sum(dim=1)
    return [round(float(values[count == number].float().mean()), 4) for number in (1, 2)]


def measure(explainer: Explainer, trial: Trial) -> dict[str, Any]:
    """Feature Accuracy, exact identification, and what is flagged where nothing is wrong."""
    right = targets(explainer.likelihood(trial.anomalies.ids)) == trial.anomalies.corrupted
    return {
        "feature_accuracy": by_changes(right.float().mean(dim=1), trial),
        "exact": by_changes(right.all(dim=1), trial),
        "flagged_untouched": round(float(flagged(explainer.likelihood(trial.normal)).float().mean()), 4),
    }


def first_guess(explainer: TransformerExplainer, trial: Trial) -> list[float]:
    """How often decoder-R's likeliest entity is the true one, for one and two corruptions."""
    anomalies = trial.anomalies
    guess = ContextSource(explainer).propose(anomalies.ids, anomalies.corrupted, 1).ids
    hit = (guess[..., 0] == anomalies.original) & anomalies.corrupted
    return by_changes(hit.sum(dim=1) / anomalies.corrupted.sum(dim=1), trial)


def counts_first_guess(explainer: CountsExplainer, trial: Trial) -> list[float]:
    """The same for pair counts: the best fitting entity, the corrupted domains not counting as context."""
    anomalies = trial.anomalies
    masked = anomalies.ids.long().masked_fill(anomalies.corrupted, 0)
    best = []
    for part in masked.split(explainer.bayes_.rows_a_part()):
        fitted = explainer.bayes_.fit(part.to(explainer.device_)).split(explainer.bayes_.sizes, dim=1)
        best.append(torch.stack([domain.argmax(dim=1) for domain in fitted], dim=1).cpu())
    hit = (torch.cat(best) == anomalies.original) & anomalies.corrupted
    return by_changes(hit.sum(dim=1) / anomalies.corrupted.sum(dim=1), trial)


def context_auc(explainer: FittedExplainer, trial: Trial, run: Run) -> float:
    """ROC-AUC of the explainer as a detector."""
    detector = ContextDetector().attach(explainer).fit(trial.data, run)
    return round(roc_auc(detector.score(trial.normal), detector.score(trial.anomalies.ids)), 4)


def run_one(name: str, profile: str, device: str, seed: int) -> dict[str, Any]:
    """Everything for one dataset."""
    dataset, rows = read(name)
    trial = make_trial(dataset.table, dataset.schema, train_rows=rows, seed=seed)
    run = Run(seed=seed, device=pick_device(device))
    chosen = PROFILES.find(profile).load()()
    began = time.perf_counter()
    explainer = EXPLAINERS[chosen.plain].load()(**chosen.plain_params).fit(trial.data, run)
    result: dict[str, Any] = {"data": dataset.name, "profile": profile, "device": run.device.type, "seed": seed}
    result["seconds"] = round(time.perf_counter() - began, 1)
    if isinstance(explainer, TransformerExplainer):
        result["stages"] = {stage: round(h.seconds, 1) for stage, h in explainer.history_.items()}
        result["frozen"] = measure(explainer.frozen, trial)
        result["tuned"] = measure(explainer, trial)
        result["first_guess"] = first_guess(explainer, trial)
        result["calibration"] = {
            kind: [round(c.error_before, 4), round(c.error_after, 4), round(1 / c.scale, 3)]
            for kind, c in explainer.calibration_.items()
        }
        result["context_auc"] = context_auc(explainer, trial, run)
    counts = CountsExplainer().fit(trial.data, run)
    result["counts"] = {
        **measure(counts, trial),
        "first_guess": counts_first_guess(counts, trial),
        "calibration": [round(counts.calibration_.error_before, 4), round(counts.calibration_.error_after, 4)],
        "context_auc": context_auc(counts, trial, run),
    }
    for detector_name, entry in DETECTORS.items():
        if entry.needs:  # the explainer's own is above
            continue
        detector = entry.load()().fit(trial.data, run)
        auc = roc_auc(detector.score(trial.normal), detector.score(trial.anomalies.ids))
        result[f"{detector_name}_auc"] = round(auc, 4)
    return result


def main() -> None:
    """Run all datasets, printing and writing each as it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", action="append")
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    results = []
    for name in arguments.data or ["flights"]:
        results.append(run_one(name, arguments.profile, arguments.device, arguments.seed))
        print(json.dumps(results[-1], indent=1), flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
