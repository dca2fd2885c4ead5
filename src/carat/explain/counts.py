"""The counts explainer: how much better would the best replacement fit? Nothing to train."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, UNSEEN, Vocabulary
from carat.explain.base import PART_ROWS, FittedExplainer, calibrate, held_out_corruptions
from carat.explain.calibration import Calibration
from carat.explain.naive_bayes import NaiveBayes
from carat.training import Run

UNSEEN_LOGIT = -3.0
"""Counts know nothing of an unseen entity; being new is itself a reason to look: likelihood 0.05."""


class CountsExplainer(FittedExplainer):
    """Which entities do not belong, by pairwise naive Bayes.

    The margin of an entity is by how much the best other entity of its domain fits the rest of the record better.
    Two numbers, fitted on held-out corruptions, turn margins into likelihoods.

    Args:
        smoothing: weight of the prior, in records.
    """

    name = "counts"

    bayes_: NaiveBayes
    calibration_: Calibration

    def __init__(self, *, smoothing: float = 0.1) -> None:
        self.smoothing = smoothing

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Take the pair counts and calibrate."""
        run = run or Run()
        self.device_ = run.device
        self.bayes_ = NaiveBayes(data.pairs, data.vocabulary, self.smoothing).to(run.device)
        self.calibration_ = Calibration()
        ids, replaced = held_out_corruptions(data, run)
        stage = run.observer.stage("calibrating", len(ids))
        raw = self._in_parts(self._logits_part, ids, PART_ROWS, stage)
        self.calibration_ = calibrate(raw, ids, replaced, shift=True)
        return self

    def _logits(self, ids: Tensor) -> Tensor:
        parts = [self._margin(part) for part in (ids.split(self.bayes_.rows_a_part()) if len(ids) else [ids])]
        logits = self.calibration_.apply(-torch.cat(parts))
        return logits.masked_fill(ids == UNSEEN, UNSEEN_LOGIT)

    def _margin(self, ids: Tensor) -> Tensor:
        """How much better the best entity fits, [n, m], at least 0; 0 where there is no context to fit."""
        fitted = self.bayes_.fit(ids)
        known = ids >= FIRST
        own = fitted.gather(1, torch.where(known, ids, FIRST) + self.bayes_.offsets)
        best = torch.stack([part.amax(dim=1) for part in fitted.split(self.bayes_.sizes, dim=1)], dim=1)
        alone = known.sum(dim=1, keepdim=True) - known.long() == 0
        return (best - own).masked_fill(alone | ~known, 0.0)

    def tensors(self) -> dict[str, Tensor]:
        """Nothing of its own: the pair counts are stored with every model."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Attach the model's pair counts."""
        self.bayes_ = NaiveBayes(pairs, vocabulary, self.smoothing)

    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""
        self.device_ = torch.device(device)
        self.bayes_.to(self.device_)
        return self

    def facts(self) -> dict[str, Any]:
        """The calibration."""
        return {"calibration": self.calibration_.to_json()}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        super().restore_facts(facts)
        self.calibration_ = Calibration(**facts["calibration"])
