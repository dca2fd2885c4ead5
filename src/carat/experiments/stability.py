"""The stability table: do counterfactuals depend on the detector? Its own lowest 1 % as anomalies, MEAD and APE."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch

from carat.detectors import DETECTORS
from carat.experiments.contest import BATCH, Contest, join
from carat.metrics import coherence, conditional_correctness, distinct, sparsity_index
from carat.recourse import Settings
from carat.training import Progress, Run

TEST_ROWS = 5_000
SHARE = 0.01
COMPARED = ("ape", "mead")


def stability(contest: Contest, settings: Settings, *, progress: Progress) -> dict[str, Any]:
    """Sparsity, Conditional Correctness and Coherence of `carat` with each detector."""
    data = contest.trial.data
    test = contest.trial.later[:TEST_ROWS]
    results: dict[str, Any] = {}
    for name in COMPARED:
        detector: Any = contest.model.detector
        if detector.name != name:
            detector = DETECTORS[name]().fit(data, Run(seed=contest.seed, device=contest.device, progress=progress))
        reference = detector.score(data.held_out).cpu().sort().values
        model = replace(contest.model, detector=detector, reference=reference)
        mine = replace(contest, model=model)
        score = detector.score(test).cpu()
        lowest = test[score.argsort(stable=True)[: max(int(len(test) * SHARE), 1)]].long()
        method = mine.method("carat")
        outcome = join([method.find(part.to(contest.device), settings).to("cpu") for part in lowest.split(BATCH)])
        mask = distinct(lowest, outcome.counterfactuals, outcome.mask)
        rank_against = detector.score(contest.reference).cpu()
        values = {
            "sparsity_index": sparsity_index(lowest, outcome.counterfactuals, mask),
            "conditional_correctness": conditional_correctness(
                detector.score(lowest).cpu(), outcome.score, mask, reference=rank_against
            ),
            "coherence": coherence(
                lowest, outcome.counterfactuals, mask, pairs=data.pairs, offsets=data.vocabulary.offsets
            ),
        }
        results[name] = {metric: [float(value.nanmean()), float(_spread(value))] for metric, value in values.items()}
    return {"stability": results, "tested": len(test)}


def _spread(values: torch.Tensor) -> torch.Tensor:
    kept = values[~values.isnan()]
    return kept.std() if len(kept) > 1 else torch.zeros(())
