"""Detectors against a real outcome: shipments seized or refused at the border.

    python benchmarks/lemis.py lemis_amphibian.parquet [--profile fast]

The table is the US Fish & Wildlife Service's declarations of amphibian imports (LEMIS), cleaned by EcoHealth Alliance.
Trains on the records before 2018 that were neither seized nor refused, scores those from 2018 on, and prints the
ROC-AUC of every detector for the real label, beside the smallest and the mean pairwise PMI.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow.compute as pc
import pyarrow.parquet as pq
import torch

from carat.data import FIRST, Columns, Table, TrainingData, open_source, scan
from carat.devices import pick_device
from carat.explain import ContextDetector, CountsExplainer
from carat.metrics import roc_auc
from carat.registry import DETECTORS, EXPLAINERS, PROFILES
from carat.training import Run

DOMAINS = (
    "SpeciesCode", "GenericName", "Description", "Unit", "CountryOrigin", "CountryShipped", "Purpose", "Source", "Port",
)  # fmt: skip


def pmi(data: TrainingData, ids: torch.Tensor) -> torch.Tensor:
    """Pointwise mutual information of every pair, add-half smoothed, NaN where one is not known; [n, pairs]."""
    pairs, rows = data.pairs, ids.long() + data.vocabulary.offsets
    low, high = torch.triu_indices(ids.shape[1], ids.shape[1], 1)
    together = pairs.count(rows[:, low], rows[:, high]) + 0.5
    value = (
        together * pairs.records / (pairs.singles[rows[:, low]] + 0.5) / (pairs.singles[rows[:, high]] + 0.5)
    ).log()
    return value.masked_fill((ids[:, low] < FIRST) | (ids[:, high] < FIRST), torch.nan)


def main() -> None:
    """Fit, score, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--profile", default="fast")
    parser.add_argument("--device", default="auto")
    arguments = parser.parse_args()
    table = pq.read_table(arguments.file)
    early = pc.less(pc.cast(table["date"], "string"), "2018")
    refused = pc.equal(pc.cast(table["seized_or_refused"], "string"), "1")
    train = table.filter(pc.and_(early, pc.invert(refused)))
    test = table.filter(pc.invert(early))
    label = torch.from_numpy(refused.filter(pc.invert(early)).to_numpy().copy())
    found = scan(open_source(train), Columns(domains=DOMAINS))
    data = TrainingData.split(Table.read(open_source(train), found.schema, found.vocabulary).ids, found.vocabulary)
    ids = Table.read(open_source(test), found.schema, found.vocabulary).ids
    print(f"{train.num_rows:,} records to train on, {len(ids):,} to score, {int(label.sum())} seized or refused")

    def show(name: str, scores: torch.Tensor) -> None:
        print(f"{name:28s} {roc_auc(scores[~label], scores[label]):.4f}", flush=True)

    evidence = pmi(data, ids)
    show("smallest pairwise PMI", evidence.nan_to_num(nan=torch.inf).amin(dim=1).clamp(max=99))
    show("mean pairwise PMI", evidence.nanmean(dim=1).nan_to_num(nan=0.0))
    run = Run(device=pick_device(arguments.device))
    for name, entry in DETECTORS.items():
        if not entry.needs:  # the explainer's own follows
            show(name, entry.load()().fit(data, run).score(ids))
    profile = PROFILES.find(arguments.profile).load()()
    explainers = {
        "counts": CountsExplainer(),
        arguments.profile: EXPLAINERS[profile.plain].load()(**profile.plain_params),
    }
    for name, explainer in explainers.items():
        explainer.fit(data, run)
        show(f"context ({name})", ContextDetector().attach(explainer).fit(data, run).score(ids))
        show(f"least likely entity ({name})", explainer.likelihood(ids).nan_to_num(nan=1.0).amin(dim=1))


if __name__ == "__main__":
    main()
