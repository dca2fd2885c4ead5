"""What carat's own detectors share: scoring in parts, missing entities, storing."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, Vocabulary
from carat.errors import NotFittedError
from carat.training import Run

PART_ROWS = 16_384
"""Records scored at a time, so that memory does not follow the size of the table."""


class FittedDetector(ABC):
    """A detector that carat fits, stores and loads.

    Subclasses define `_fit` and `_raw`; missing entities, parts and the neutral score are handled here.
    Higher = more normal.
    """

    name: ClassVar[str]
    """How the command line and the model folder call it."""

    neutral_: float
    """Score of a record with fewer than two known entities: the median of the held-out records."""

    device_: torch.device

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Learn from normal records."""
        run = run or Run()
        self.device_ = run.device
        self.neutral_ = 0.0
        self._fit(data, run)
        reference = data.held_out if len(data.held_out) else data.train
        known = (reference >= FIRST).sum(dim=1) >= 2
        if known.any():
            self.neutral_ = float(self.score(reference[known]).median())
        return self

    def score(self, ids: Tensor) -> Tensor:
        """Scores float32 [n] of records ids [n, m], on the device of the ids."""
        if not hasattr(self, "device_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit first")
        with torch.no_grad():
            parts = [self._score_part(part.to(self.device_)) for part in ids.split(PART_ROWS)]
        return torch.cat(parts).to(ids.device) if parts else torch.empty(0, device=ids.device)

    def _score_part(self, ids: Tensor) -> Tensor:
        known = ids >= FIRST
        present = known.sum(dim=1)
        raw = self._raw(ids.to(torch.int64), known, present.clamp(min=2))
        return torch.where(present >= 2, raw, self.neutral_).float()

    def params(self) -> dict[str, Any]:
        """The arguments of `__init__`, as scikit-learn's `get_params` gives them."""
        return {
            name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"
        }

    @abstractmethod
    def _fit(self, data: TrainingData, run: Run) -> None:
        """Learn; `device_` is set."""

    @abstractmethod
    def _raw(self, ids: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """Scores [n] of ids int64 [n, m]; `known` is bool [n, m], `present` the number of known entities, at least 2.

        Missing and unseen entities must be skipped and the score rescaled to a full record.
        """

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """What was learned, for the model folder."""

    @abstractmethod
    def restore(self, tensors: Mapping[str, Tensor], vocabulary: Vocabulary, pairs: Pairs) -> None:
        """Take up what `tensors` gave, on the CPU."""

    @abstractmethod
    def to(self, device: torch.device | str) -> Self:
        """Move to a device, in place."""

    def facts(self) -> dict[str, Any]:
        """Fitted scalars and training facts, JSON only."""
        return {"neutral": self.neutral_}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        self.neutral_ = float(facts["neutral"])
        self.device_ = torch.device("cpu")
