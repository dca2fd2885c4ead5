"""A contest: one trial, one fitted model, and every method on the same anomalies, measured the same way."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from carat.baselines import BASELINES, Fimap
from carat.data import corrupt
from carat.datasets import Dataset
from carat.errors import InputError
from carat.experiments.trial import Trial, make_trial
from carat.explain import CountsExplainer
from carat.fitting import fit
from carat.loading import load
from carat.metrics import (
    coherence,
    conditional_correctness,
    count_diversity,
    coverage,
    distinct,
    feature_accuracy,
    heterogeneity,
    raw_sparsity,
    recovery,
    sparsity_index,
    validity,
)
from carat.model import Model
from carat.recourse import Method, Outcome, Settings, make_method
from carat.recourse.methods import Parts
from carat.training import Progress, Run, Silent

BATCH = 256
RCEAA_SHARE = 10
"""RCEAA descends for each anomaly by itself and gets every tenth, as in the paper: 40 of 400."""
REFERENCE = (400, 400, 200)
"""Records that Conditional Correctness ranks against: of training, of the test set, synthetic anomalies."""
DIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
ALL_METHODS = ("replace-m", "fimap", "rceaa", "xformer-r", "instant", "carat", "carat-plus")
BY_NAME_ONLY = ("replace-2", "dice-random", "dice-genetic")


@dataclass(frozen=True)
class Contest:
    """Everything that the methods of one dataset, seed and detector share.

    Args:
        trial: records and anomalies.
        model: fitted on the trial's training records.
        counts: the explainer of `instant`, fitted on the same records.
        reference: records that Conditional Correctness ranks against, int [r, m].
        seed: of everything.
        device: where to compute.
    """

    trial: Trial
    model: Model
    counts: CountsExplainer
    reference: Tensor
    seed: int
    device: torch.device

    @classmethod
    def of(cls, trial: Trial, model: Model, *, seed: int, device: torch.device) -> Contest:
        """Around a fitted model."""
        model.to(device)
        counts = CountsExplainer().fit(trial.data, Run(seed=seed, device=device))
        return cls(trial, model, counts, _reference(trial, seed), seed, device)

    def method(self, name: str, *, prefer: float = 0.5, run: Run | None = None) -> Method:
        """A method by name; FIMAP is trained here."""
        model, trial = self.model, self.trial
        if name == "fimap":
            return Fimap(seed=self.seed).fit(trial.data, model.detector, run or Run(seed=self.seed, device=self.device))
        if name == "rceaa":
            # Its threshold is a percentile of the training scores, which a model does not keep.
            known = replace(self._parts(prefer), reference=model.detector.score(trial.data.train).cpu())
            return BASELINES[name](known, self.seed)
        if name in BASELINES:
            return BASELINES[name](self._parts(prefer), self.seed)
        return make_method(name, self._parts(prefer, counts=name == "instant"))

    def _parts(self, prefer: float, *, counts: bool = False) -> Parts:
        model = self.model
        return Parts(
            vocabulary=model.vocabulary,
            pairs=model.pairs.to(self.device),
            detector=model.detector,
            explainer=self.counts if counts else model.explainer,
            graph=model.graph,
            reference=model.reference,
            prefer=prefer,
        )

    def run(self, method: Method, settings: Settings, *, anomalies: int | None = None) -> tuple[Outcome, float]:
        """Counterfactuals of the anomalies, in batches, and the seconds it took."""
        ids = self.trial.anomalies.ids[:anomalies].to(self.device)
        began = time.perf_counter()
        parts = [method.find(part, settings).to("cpu") for part in ids.split(BATCH)]
        return join(parts), time.perf_counter() - began

    def measure(self, outcome: Outcome) -> dict[str, Any]:
        """Every metric: a value an anomaly, None where there is none."""
        count = len(outcome.mask)
        anomalies = self.trial.anomalies
        base, original, corrupted = (
            part[:count] for part in (anomalies.ids.long(), anomalies.original.long(), anomalies.corrupted)
        )
        found = outcome.counterfactuals
        mask = distinct(base, found, outcome.mask)
        detector, data = self.model.detector, self.trial.data
        base_score = detector.score(base.to(self.device)).cpu()
        reference = detector.score(self.reference.to(self.device)).cpu()
        rank = recovery(original, found, mask)
        values = {
            "feature_accuracy": feature_accuracy(base, found, mask, corrupted=corrupted),
            "heterogeneity": heterogeneity(base, found, mask, corrupted=corrupted),
            "coherence": coherence(base, found, mask, pairs=data.pairs, offsets=data.vocabulary.offsets),
            "sparsity_index": sparsity_index(base, found, mask),
            "conditional_correctness": conditional_correctness(base_score, outcome.score, mask, reference=reference),
            "validity": validity(outcome.score, mask, self.model.threshold_score),
            "raw_sparsity": raw_sparsity(base, found, mask),
            "count_diversity": count_diversity(found, mask),
        }
        return {
            "coverage": coverage(mask),
            "counterfactuals": float(mask.sum(dim=1).double().mean()),
            "rank": rank.tolist(),
            "corruptions": corrupted.sum(dim=1).tolist(),
            "values": {
                name: [None if math.isnan(v) else round(v, 6) for v in value.tolist()] for name, value in values.items()
            },
        }


def join(parts: list[Outcome]) -> Outcome:
    """Outcomes of several batches as one; costs are left out."""
    return Outcome(
        torch.cat([part.counterfactuals for part in parts]),
        torch.cat([part.mask for part in parts]),
        torch.cat([part.score for part in parts]),
        None,
        torch.cat([part.exhausted for part in parts]),
        [reason for part in parts for reason in part.reasons],
        torch.cat([part.likelihood for part in parts]),
    )


def _reference(trial: Trial, seed: int) -> Tensor:
    """800 normal records, half of training and half of the test set, and 200 synthetic anomalies."""
    generator = torch.Generator().manual_seed(seed + 1_000_003)
    train, later, strange = REFERENCE

    def some(ids: Tensor, count: int) -> Tensor:
        return ids[torch.randperm(len(ids), generator=generator)[:count]]

    made = corrupt(some(trial.later, 2 * strange), trial.data.vocabulary, trial.data.pairs, seed=seed + 1_000_003).ids[
        :strange
    ]
    return torch.cat([some(trial.data.train, train), some(trial.later, later), made])


def train_rows(dataset: Dataset) -> int:
    """How many records to train on: the dataset's own number, else four in five, at most 43,000, as in the paper."""
    return dataset.train_rows or min(dataset.table.num_rows * 4 // 5, 43_000)


def fitted_model(
    dataset: Dataset,
    folder: Path,
    *,
    anomalies: int,
    profile: str,
    detector: str,
    seed: int,
    device: torch.device,
    progress: Progress | None = None,
) -> tuple[Trial, Model]:
    """The trial, and the model in the folder; fitted and saved there where there is none."""
    trial = make_trial(dataset.table, dataset.schema, train_rows=train_rows(dataset), tested=anomalies, seed=seed)
    if (folder / "manifest.json").is_file():
        model = load(folder)
        if model.training["seed"] != seed or not torch.equal(model.pairs.keys, trial.data.pairs.keys):
            raise InputError(f"{folder}: is of other data or another seed; remove it, or choose another --out")
        return trial, model
    folder.parent.mkdir(parents=True, exist_ok=True)
    model = fit(
        trial.train,
        domains=trial.schema.domains,
        numeric=trial.schema.numeric,
        metapaths=trial.schema.metapaths,
        profile=profile,
        detector=detector,
        seed=seed,
        device=device.type,
        progress=progress or Silent(),
        checkpoints=folder.with_name(f"{folder.name}.partial"),
    )
    model.save(folder)
    return trial, model
