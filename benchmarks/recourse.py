"""How many records a second the methods repair, in batches of 256.

    python benchmarks/recourse.py [--model FOLDER] [--data flights|FILE] [--records 512] [--device auto]

The records are later ones of the dataset, corrupted as in `carat bench`. Without `--model`, a model of the paper's size
is made on the spot and trained for one epoch, which costs as much to run, though it flags more. Printed: records a
second for `carat` and `carat-plus`, each the best of three, and their ratio.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

import carat
from carat.devices import pick_device
from carat.experiments import make_trial
from carat.experiments.bench import read_dataset
from carat.experiments.contest import train_rows
from carat.explain import TransformerExplainer
from carat.fitting import Model
from carat.graph import KnowledgeGraph
from carat.recourse import Settings
from carat.registry import PROFILES

BATCH = 256


def rate(model: Model, method: str, ids: torch.Tensor) -> float:
    """Records a second, the best of three."""
    made = model.method(method)
    best = 0.0
    for _ in range(3):
        began = time.perf_counter()
        for part in ids.split(BATCH):
            made.find(part.to(model.device), Settings())
        best = max(best, len(ids) / (time.perf_counter() - began))
    return best


def main() -> None:
    """Print the rates as JSON."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", type=Path)
    parser.add_argument("--data", default="flights")
    parser.add_argument("--records", type=int, default=512)
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    dataset = read_dataset(arguments.data)
    trial = make_trial(dataset.table, dataset.schema, train_rows=train_rows(dataset), tested=arguments.records)
    if arguments.model is not None:
        model = carat.load(arguments.model).to(pick_device(arguments.device))
    else:
        paper = PROFILES["paper"].load()()
        model = carat.fit(
            trial.train,
            domains=trial.schema.domains,
            metapaths=trial.schema.metapaths,
            detector="mead",
            explainer=TransformerExplainer(**{**paper.plain_params, "epochs": (1, 1, 1)}),
            graph=KnowledgeGraph(**{**paper.graph_params, "epochs": 1}),
            device=arguments.device,
        )
    ids = trial.anomalies.ids
    rates = {method: round(rate(model, method, ids), 1) for method in ("carat", "carat-plus")}
    print(
        json.dumps(
            {
                "data": dataset.name,
                "records": len(ids),
                "device": model.device.type,
                "threads": torch.get_num_threads(),
                "records_a_second": rates,
                "ratio": round(rates["carat"] / rates["carat-plus"], 1),
            }
        )
    )


if __name__ == "__main__":
    main()
