"""The stability table: do counterfactuals depend on the detector? Its own lowest 1 % as anomalies, MEAD and APE."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from carat import jobs
from carat.data import Table
from carat.data.table import Unseen
from carat.experiments.contest import Contest
from carat.metrics import coherence, conditional_correctness, distinct, sparsity_index
from carat.recourse import Outcome, Settings
from carat.registry import DETECTORS

TEST_ROWS = 5_000
SHARE = 0.01
COMPARED = ("ape", "mead")


def stability(contest: Contest, settings: Settings) -> dict[str, dict[str, list[float]]]:
    """By detector: mean and spread of Sparsity, Conditional Correctness and Coherence of `carat`."""
    data = contest.trial.data
    test = Table(contest.trial.later[:TEST_ROWS], contest.model.vocabulary, Unseen.join([]))
    results: dict[str, dict[str, list[float]]] = {}
    for name in COMPARED:
        detector: Any = contest.model.detector
        if detector.name != name:
            detector = DETECTORS[name].load()().fit(data, contest.run)
        reference = detector.score(data.held_out).cpu().sort().values
        model = replace(contest.model, detector=detector, reference=reference)
        method = replace(contest, model=model).method("carat")
        job = jobs.recourse(model, test, settings, method=method, top=max(int(len(test) * SHARE), 1))
        batches = list(job)
        lowest = torch.cat([batch.table.ids for batch in batches]).long()
        outcome = Outcome.join([batch.outcome for batch in batches])
        mask = distinct(lowest, outcome.counterfactuals, outcome.mask)
        values = {
            "sparsity_index": sparsity_index(lowest, outcome.counterfactuals, mask),
            "conditional_correctness": conditional_correctness(
                torch.cat([batch.score for batch in batches]),
                outcome.score,
                mask,
                reference=detector.score(contest.reference).cpu(),
            ),
            "coherence": coherence(
                lowest, outcome.counterfactuals, mask, pairs=data.pairs, offsets=data.vocabulary.offsets
            ),
        }
        results[name] = {metric: [float(value.nanmean()), float(_spread(value))] for metric, value in values.items()}
    return results


def _spread(values: torch.Tensor) -> torch.Tensor:
    kept = values[~values.isnan()]
    return kept.std() if len(kept) > 1 else torch.zeros(())
