"""A contest: one trial, one fitted model, and every method on the same anomalies, measured the same way."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor

from carat import jobs
from carat.data import Table, corrupt
from carat.data.table import Unseen
from carat.datasets import Dataset
from carat.errors import InputError
from carat.experiments.cells import Measured
from carat.experiments.trial import Trial, make_trial
from carat.explain import CountsExplainer, FittedExplainer
from carat.fitting import Model, fit, load
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
from carat.observing import Observer, Silent
from carat.recourse import Method, Outcome, Settings
from carat.registry import method as method_entry
from carat.training import Run

REFERENCE = (400, 400, 200)
"""Records that Conditional Correctness ranks against: of training, of the test set, synthetic anomalies."""


@dataclass(frozen=True)
class Contest:
    """Everything that the methods of one dataset, seed and detector share.

    Args:
        trial: records and anomalies.
        model: fitted on the trial's training records.
        counts: the explainer of `instant`, fitted on the same records: counts, or a judge.
        reference: records that Conditional Correctness ranks against, int [r, m].
        run: seed, device and observer.
    """

    trial: Trial
    model: Model
    counts: FittedExplainer
    reference: Tensor
    run: Run

    @classmethod
    def of(cls, trial: Trial, model: Model, run: Run) -> Contest:
        """Around a fitted model."""
        counts = CountsExplainer().fit(trial.data, replace(run, observer=Silent()))
        return cls(trial, model.to(run.device), counts, _reference(trial, run.seed), run)

    @property
    def by_score(self) -> Model:
        """The model with the score alone as its gate: what is valid is the detector's word, as in the paper."""
        return self.model.with_gate("score")

    def method(self, name: str) -> Method:
        """A method by name; those that train on records do so here."""
        entry = method_entry(name)
        parts = replace(self.by_score.parts(), records=self.trial.data, run=self.run)
        if "counts" in entry.needs and parts.judge is None:
            parts = replace(parts, explainer=self.counts)
        parts.check(name, entry.needs)
        made: Method = entry.load()(parts)
        return made

    def find(self, method: Method, settings: Settings, ids: Tensor) -> tuple[Outcome, float]:
        """Counterfactuals of records ids [n, m], and the seconds that the method took."""
        table = Table(ids.to("cpu", torch.int32), self.model.vocabulary, Unseen.join([]))
        job = jobs.recourse(self.model, table, settings, method=method, all=True, gate="score")
        return Outcome.join([batch.outcome for batch in job]), job.summary.seconds

    def measured(self, name: str, settings: Settings, count: int) -> Measured:
        """A method on the first so many anomalies."""
        outcome, seconds = self.find(self.method(name), settings, self.trial.anomalies.ids[:count])
        return self.measure(outcome, seconds)

    def measure(self, outcome: Outcome, seconds: float = 0.0) -> Measured:
        """Every metric of what was found for the first anomalies."""
        count = len(outcome.mask)
        anomalies = self.trial.anomalies
        base, original, corrupted = (
            part[:count] for part in (anomalies.ids.long(), anomalies.original.long(), anomalies.corrupted)
        )
        found = outcome.counterfactuals
        mask = distinct(base, found, outcome.mask)
        detector, data = self.model.detector, self.trial.data
        base_score = detector.score(base.to(self.run.device)).cpu()
        reference = detector.score(self.reference.to(self.run.device)).cpu()
        values = {
            "feature_accuracy": feature_accuracy(base, found, mask, corrupted=corrupted),
            "heterogeneity": heterogeneity(base, found, mask, corrupted=corrupted),
            "coherence": coherence(base, found, mask, pairs=data.pairs, offsets=data.vocabulary.offsets),
            "sparsity_index": sparsity_index(base, found, mask),
            "conditional_correctness": conditional_correctness(base_score, outcome.score, mask, reference=reference),
            "validity": validity(outcome.score, mask, self.by_score.threshold_score),
            "raw_sparsity": raw_sparsity(base, found, mask),
            "count_diversity": count_diversity(found, mask),
        }
        late = [reason for reason in outcome.reasons if reason is not None and reason.startswith("time-out")]
        return Measured(
            values={
                name: [None if math.isnan(v) else round(v, 6) for v in value.tolist()] for name, value in values.items()
            },
            rank=recovery(original, found, mask).tolist(),
            corruptions=corrupted.sum(dim=1).tolist(),
            coverage=coverage(mask),
            counterfactuals=float(mask.sum(dim=1).double().mean()),
            # What came too late was not answered, but its seconds were spent on the others.
            seconds=seconds / max(count - len(late), 1),
            exhausted=float(outcome.exhausted.double().mean()),
            note=next(iter(late), None),
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
    observer: Observer | None = None,
) -> tuple[Trial, Model]:
    """The trial, and the model in the folder; fitted and saved there where there is none."""
    trial = make_trial(dataset.table, dataset.schema, train_rows=train_rows(dataset), tested=anomalies, seed=seed)
    if (folder / "manifest.json").is_file():
        model = load(folder)
        if model.training["seed"] != seed or not torch.equal(model.pairs.keys, trial.data.pairs.keys):
            raise InputError(f"{folder}: belongs to other data or another seed; remove it or write to another folder")
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
        minutes=math.inf,  # all epochs: what is compared must not depend on how busy the machine was
        device=device.type,
        progress=observer or Silent(),
        checkpoints=folder.with_name(f"{folder.name}.partial"),
    )
    model.save(folder)
    return trial, model
