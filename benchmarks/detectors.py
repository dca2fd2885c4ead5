"""What every detector finds of synthetic anomalies, PyOD's IForest and ECOD on ordinal codes beside them.

    python benchmarks/detectors.py [--data flights|FILE] [--train N] [--tested 2000] [--seeds 1]

Trains on the first records without missing values, corrupts later ones whose entities are known (half of them in one
domain, half in two), and asks how well the scores tell the corrupted from the untouched ones: for the records right
after the training ones (`next`) and for records from the whole time that follows (`spread`), where the world has
moved on. Printed are the ROC-AUC (of one / two corruptions), and the share of the records with one / two corruptions
that is caught where 1 % of the untouched ones are listed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

from common import read
from pyod.models.ecod import ECOD
from pyod.models.iforest import IForest

from carat.datasets import Dataset
from carat.detectors import FittedDetector, OutsideDetector, PyodDetector
from carat.experiments import Trial, make_trial
from carat.metrics import caught, roc_auc
from carat.registry import DETECTORS
from carat.training import Run

Maker = Callable[[], FittedDetector | OutsideDetector]


def detectors(seed: int) -> dict[str, Maker]:
    """What is compared."""
    own: dict[str, Maker] = {name: entry.load() for name, entry in DETECTORS.items() if not entry.needs}
    return own | {
        "pyod IForest": lambda: PyodDetector(IForest(random_state=seed), encoding="ordinal"),
        "pyod ECOD": lambda: PyodDetector(ECOD(), encoding="ordinal"),
    }


def trials(dataset: Dataset, train: int, tested: int, seed: int) -> dict[str, Trial]:
    """Next and spread, which differ only where there is a time."""
    kinds = ("next", "spread") if dataset.schema.time else ("next",)
    return {
        take: make_trial(dataset.table, dataset.schema, train_rows=train, tested=tested, take=take, seed=seed)  # type: ignore[arg-type]
        for take in kinds
    }


def main() -> None:
    """Run and print a table."""
    warnings.filterwarnings("ignore", category=FutureWarning)
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="flights")
    parser.add_argument("--train", type=int)
    parser.add_argument("--tested", type=int, default=2_000)
    parser.add_argument("--seeds", type=int, default=1)
    arguments = parser.parse_args()
    dataset, rows = read(arguments.data)
    print(f"{dataset.name}: ROC-AUC of untouched against corrupted records (with one / two corruptions), caught at 1 %")
    for seed in range(arguments.seeds):
        found = trials(dataset, arguments.train or rows, arguments.tested, seed)
        data = next(iter(found.values())).data
        print(f"seed {seed}, {len(data.train) + len(data.held_out):,} records, {data.vocabulary.entities:,} entities")
        print(
            f"{'detector':14s} {'fit':>7s}  "
            + "  ".join(f"{take:>7s} (1 / 2 corruptions), caught   " for take in found)
        )
        for name, make in detectors(seed).items():
            began = time.perf_counter()
            detector = make().fit(data, Run(seed=seed))
            seconds = time.perf_counter() - began
            cells = []
            for trial in found.values():
                normal, anomalous = detector.score(trial.normal), detector.score(trial.anomalies.ids)
                twice = trial.anomalies.corrupted.sum(dim=1) == 2
                parts = [roc_auc(normal, anomalous[mask]) for mask in (~twice, twice)]
                found_at = [caught(normal, anomalous[mask]) for mask in (~twice, twice)]
                cells.append(
                    f"{roc_auc(normal, anomalous):7.4f} ({parts[0]:.4f} / {parts[1]:.4f}), "
                    f"{found_at[0]:.3f} / {found_at[1]:.3f}"
                )
            print(f"{name:14s} {seconds:6.1f}s  " + "  ".join(cells), flush=True)


if __name__ == "__main__":
    main()
