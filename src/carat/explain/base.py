"""What carat's explainers share: likelihoods in parts, missing entities, calibration on held-out corruptions."""

from __future__ import annotations

from abc import abstractmethod

import torch
from torch import Tensor
from torch.nn import functional

from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING
from carat.explain.calibration import Calibration, fit_calibration
from carat.explain.likelihood import LikelihoodTask
from carat.training import Run
from carat.training.fitted import Fitted
from carat.training.negatives import UniformEntities

PART_ROWS = 512
"""Larger parts are slower on a CPU: what decoder-P holds in between no longer fits the caches."""
PART_ROWS_ON_GPU = 8_192
"""A GPU waits for its next call between small parts."""


class FittedExplainer(Fitted):
    """An explainer that carat fits, stores and loads. Subclasses define `_logits`."""

    def likelihood(self, ids: Tensor) -> Tensor:
        """Likelihoods float32 [n, m] in 0..1 of records ids [n, m]; NaN where an entity is missing."""
        return self.logits(ids).sigmoid()

    def log_likelihood(self, ids: Tensor) -> Tensor:
        """log of `likelihood`, without the rounding of going there and back."""
        return functional.logsigmoid(self.logits(ids))

    def logits(self, ids: Tensor) -> Tensor:
        """Calibrated logits float32 [n, m]; NaN where an entity is missing."""
        return self._in_parts(self._logits_part, ids, self._part_rows())

    def _part_rows(self) -> int:
        """Records looked at at once."""
        on_cpu = getattr(self, "device_", None) is None or self.device_.type == "cpu"
        return PART_ROWS if on_cpu else PART_ROWS_ON_GPU

    def _logits_part(self, ids: Tensor) -> Tensor:
        return self._logits(ids.to(torch.int64)).float().masked_fill(ids == MISSING, torch.nan)

    @abstractmethod
    def _logits(self, ids: Tensor) -> Tensor:
        """Calibrated logits [n, m] of ids int64 [n, m] on the explainer's device; anything where missing."""


def held_out_corruptions(data: TrainingData, run: Run, task: LikelihoodTask | None = None) -> tuple[Tensor, Tensor]:
    """Held-out records corrupted as in training, ids [v, m], and where an entity was replaced, bool [v, m]."""
    generator = torch.Generator().manual_seed(run.seed_of("calibration"))
    records = data.held_out if len(data.held_out) else data.train
    return (task or LikelihoodTask()).corrupt(records.to(torch.int64), UniformEntities(data.vocabulary), generator)


def calibrate(raw: Tensor, ids: Tensor, replaced: Tensor, *, shift: bool = False) -> Calibration:
    """Fit on raw logits [v, m] of corrupted records ids [v, m]; only known entities count."""
    known = ids >= FIRST
    return fit_calibration(raw[known], ~replaced[known], shift=shift)
