"""The explainer as a detector, for people who bring none: does every entity belong in its context?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.detectors.base import FittedDetector
from carat.errors import NotFittedError
from carat.explain.base import FittedExplainer
from carat.training import Run


class ContextDetector(FittedDetector):
    """Sum over the known entities of the explainer's log-likelihood, rescaled to a full record."""

    name = "context"

    explainer_: FittedExplainer

    def attach(self, explainer: FittedExplainer) -> Self:
        """Use this explainer, which is fitted or will be before the first score."""
        self.explainer_ = explainer
        return self

    def _fit(self, data: TrainingData, run: Run) -> None:
        if not hasattr(self, "explainer_"):
            raise NotFittedError("the context detector needs an explainer; call attach first")

    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        likelihood = self.explainer_.log_likelihood(ids).nan_to_num(nan=0.0)
        return (likelihood * known).sum(dim=1) * (ids.shape[1] / present)

    def tensors(self) -> dict[str, Tensor]:
        """Nothing of its own: the explainer is stored beside it."""
        return {}

    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Nothing of its own."""

    def to(self, device: torch.device | str) -> Self:
        """Move with the explainer, in place."""
        self.device_ = torch.device(device)
        self.explainer_.to(device)
        return self
