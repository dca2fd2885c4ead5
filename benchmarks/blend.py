"""What the parts of carat-plus's ranking do: the same anomalies with and without them.

    python benchmarks/blend.py --model FOLDER [--data flights|FILE] [--seed 0]

The model is one that `carat bench` fitted (`DIR/models/…`), for the same data and seed. Printed for the ranking as it
is, without leaving anything out, and without the bonus for improving on the record either.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import torch

from carat.experiments.bench import read_dataset
from carat.experiments.contest import Contest, fitted_model
from carat.experiments.tables import figure
from carat.recourse import Settings, ranking
from carat.training import Run


def main() -> None:
    """Print one line a variant."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="flights")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    device = torch.device("cpu")
    trial, model = fitted_model(
        read_dataset(arguments.data),
        arguments.model,
        anomalies=400,
        profile="paper",
        detector="mead",
        seed=arguments.seed,
        device=device,
    )
    contest = Contest.of(trial, model, Run(seed=arguments.seed, device=device))
    as_it_is = ranking.GAP, ranking.IMPROVES
    for label, gap, improves in (
        ("as it is", *as_it_is),
        ("nothing left out", math.inf, as_it_is[1]),
        ("nothing left out, no bonus", math.inf, 0.0),
    ):
        ranking.GAP, ranking.IMPROVES = gap, improves
        found = contest.measured("carat-plus", Settings(), 400)
        ranks = found.rank
        line = {
            "ranking": label,
            "conditional_correctness": round(figure(found.values["conditional_correctness"]).mean, 4),
            "coherence": round(figure(found.values["coherence"]).mean, 4),
            "recovery": {k: sum(0 < rank <= k for rank in ranks) / len(ranks) for k in (1, 50)},
            "counterfactuals": round(found.counterfactuals, 1),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
