"""What a time box costs: the whole fit's time and the explainer's quality for tables of several sizes.

    python benchmarks/timebox.py --rows 20000,100000 [--minutes 4] [--steps N] [--data us_import] [--out results.json]

The tables are generated shipments, sorted by date. The last 2,000 rows are corrupted in one or two places, the rest are
fitted. Printed for every size:

- steps: trained, and those of the ordinary epochs
- estimate: seconds of training as carat foretold; trained: what the networks took; whole: the fit with all that is
  beside them (reading, counting, memory, judge, gate)
- Feature Accuracy and exact domains of the model's explainer for one and two corruptions, as in `explainers.py`
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from explainers import measure

from carat.data import Columns
from carat.datasets.shipments import shipments
from carat.devices import pick_device
from carat.experiments import make_trial
from carat.explain import Judge, TransformerExplainer
from carat.fitting import Model, Recipe, fit_prepared, prepare
from carat.training import History, Run

TESTED = 2_000


def histories(model: Model) -> list[History]:
    """Of all networks that are in the box."""
    explainer = model.explainer.beside_ if isinstance(model.explainer, Judge) else model.explainer
    found = list(explainer.history_.values()) if isinstance(explainer, TransformerExplainer) else []
    for part in (model.detector, model.graph):
        history = getattr(part, "history_", None)
        if isinstance(history, History):
            found.append(history)
    return found


def run_one(rows: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """One size."""
    dataset = shipments(arguments.data, rows=rows + 2 * TESTED, seed=arguments.seed)
    trial = make_trial(dataset.table, dataset.schema, train_rows=rows, tested=TESTED, seed=arguments.seed)
    recipe = Recipe.of(profile=arguments.profile, minutes=arguments.minutes, steps=arguments.steps)
    run = Run(seed=arguments.seed, device=pick_device(arguments.device))
    began = time.monotonic()
    columns = Columns(domains=trial.schema.domains, numeric=trial.schema.numeric, metapaths=trial.schema.metapaths)
    model = fit_prepared(prepare(trial.train, columns), recipe, run, began=began)
    steps = model.training.get("steps", {"total": 0, "whole": 0, "estimated_seconds": 0.0})
    result: dict[str, Any] = {
        "rows": rows,
        "profile": arguments.profile,
        "minutes": recipe.box.minutes,
        "steps": steps["total"],
        "of": steps["whole"],
        "estimate": steps["estimated_seconds"],
        "trained": round(sum(history.seconds for history in histories(model)), 1),
        "whole": model.training["seconds"],
    }
    if model.explainer is not None:
        result |= measure(model.explainer, trial)
    return result


def main() -> None:
    """Run all sizes, printing and writing each as it ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", default="20000")
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--steps", type=int)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--data", default="us_import")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    results = []
    for rows in arguments.rows.split(","):
        results.append(run_one(int(rows), arguments))
        print(json.dumps(results[-1]), flush=True)
        if arguments.out:
            arguments.out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
