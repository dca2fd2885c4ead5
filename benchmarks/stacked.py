"""Models of `carat bench` from before the judge, with a judge put beside their transformer: what does it add?

    python benchmarks/stacked.py --models DIR/models [--alone | --before DIR/cells] [--data flights|FILE]…
        [--seeds 0,1,2]

Transformer, graph and detector stay as they were fitted (`carat bench --profile fast`), and so does a judge where there
is one. Else memory and judge, and always the blends' weights, are learned on the same training records. Printed for
`carat-plus`, `instant` and the paper's `carat`, on the 400 anomalies of the same seed: Feature Accuracy, Recovery@1 and
@50; with `--alone`, the same where the judge's word alone decides which domains change, and the 95 % interval of the
paired differences from that; with `--before`, from what the cells there say. `carat` uses nothing of the judge, so its
difference must be nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

os.environ.setdefault("GOMP_SPINCOUNT", "1000")

import torch
from common import mean_of, paired_interval, read, seeds_of

from carat import Model
from carat.datasets import Dataset
from carat.experiments.cells import Measured
from carat.experiments.contest import Contest, fitted_model
from carat.experiments.trial import Trial
from carat.explain import Judge, TransformerExplainer
from carat.fitting.fit import learned_blends
from carat.recourse import Guided, Settings
from carat.training import Run

ANOMALIES = 400
METHODS = ("carat-plus", "instant", "carat")


def folder_of(models: Path, dataset: Dataset, seed: int) -> Path:
    """The folder of the model that was fitted on a dataset with a seed."""
    found = [
        path for path in models.glob(f"{dataset.name.replace(':', '-')}-seed{seed}-*") if path.suffix != ".partial"
    ]
    if len(found) != 1:
        raise SystemExit(f"{models}: holds {len(found)} models of {dataset.name} with seed {seed}, not one")
    return found[0]


def loaded(models: Path, dataset: Dataset, seed: int) -> tuple[Trial, Model]:
    """The trial, and the model of a folder as it was fitted."""
    return fitted_model(
        dataset,
        folder_of(models, dataset, seed),
        anomalies=ANOMALIES,
        profile="fast",
        detector="mead",
        seed=seed,
        device=torch.device("cpu"),
    )


def with_judge(model: Model, trial: Trial, run: Run, judge: Judge | None = None) -> Model:
    """The same model with a judge beside its transformer, and weights of the blends that fit it."""
    stacked = model
    if not isinstance(model.explainer, Judge):
        transformer = model.explainer
        assert isinstance(transformer, TransformerExplainer)
        judge = judge or Judge(beside="transformer", beside_params=transformer.params())
        judge.put_beside(transformer, trial.data, run)
        stacked = replace(model, explainer=judge)
    return replace(stacked, blends=learned_blends(stacked, trial.data, run))


def by_the_judge_alone(contest: Contest, method: str) -> Measured:
    """A method that changes the domains that the judge's likelihoods name."""
    made = contest.method(method)
    plain = replace(made, suspects=None) if isinstance(made, Guided) else made
    return contest.measure(*contest.find(plain, Settings(), contest.trial.anomalies.ids[:ANOMALIES]))


def figures(found: Measured) -> dict[str, Any]:
    """Of each anomaly: Feature Accuracy, and whether its original record came first, or among the first fifty."""
    accuracy = [value or 0.0 for value in found.values["feature_accuracy"]]
    recovered = {f"recovery_{k}": [float(0 < rank <= k) for rank in found.rank] for k in (1, 50)}
    return {"feature_accuracy": accuracy, **recovered}


def before_of(cells: Path, dataset: Dataset, seed: int, method: str) -> Measured:
    """What a method found before, on the same anomalies."""
    for file in cells.glob("*.json"):
        cell = json.loads(file.read_text(encoding="utf-8"))
        key = cell["key"]
        if (key["data"], key["seed"], key["kind"], key["method"]) == (dataset.name, seed, "method", method):
            return Measured(**cell["measured"])
    raise SystemExit(f"{cells}: has no cell of {method} on {dataset.name} with seed {seed}")


def main() -> None:
    """Print one line per dataset, method and seed, and one over the seeds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--data", action="append")
    parser.add_argument("--seeds", default="0,1,2", type=seeds_of)
    arguments = parser.parse_args()
    for name in arguments.data or ["flights"]:
        dataset, _ = read(name)
        now: dict[str, dict[str, list[float]]] = {method: {} for method in METHODS}
        then: dict[str, dict[str, list[float]]] = {method: {} for method in METHODS}
        for seed in arguments.seeds:
            run = Run(seed=seed)
            trial, model = loaded(arguments.models, dataset, seed)
            began = time.perf_counter()
            contest = Contest.of(trial, with_judge(model, trial, run), run)
            seconds = time.perf_counter() - began
            for method in METHODS:
                found = figures(contest.measured(method, Settings(), ANOMALIES))
                about = {"data": dataset.name, "method": method, "seed": seed, "judge_seconds": round(seconds, 1)}
                print(json.dumps(about | {k: mean_of([{k: v} for v in vs])[k] for k, vs in found.items()}), flush=True)
                for figure, values in found.items():
                    now[method].setdefault(figure, []).extend(values)
                past = None
                if arguments.alone:
                    past = by_the_judge_alone(contest, method)
                elif arguments.before is not None:
                    past = before_of(arguments.before, dataset, seed, method)
                for figure, values in ({} if past is None else figures(past)).items():
                    then[method].setdefault(figure, []).extend(values)
        for method in METHODS:
            line: dict[str, Any] = {"data": dataset.name, "method": method, "seed": "all"}
            for figure, values in now[method].items():
                line[figure] = round(sum(values) / len(values), 4)
                if figure in then[method]:
                    old = then[method][figure]
                    line[f"{figure}_before"] = round(sum(old) / len(old), 4)
                    gains = [new - past for new, past in zip(values, old, strict=True)]
                    line[f"{figure}_gain"] = paired_interval(gains)
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
