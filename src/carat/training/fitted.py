"""What every fitted part of a model shares: parameters, storing, moving, work in parts."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.errors import NotFittedError
from carat.observing import Stage
from carat.training.box import Training
from carat.training.run import Run


class Fitted(ABC):
    """A part that carat fits, stores and loads; `__init__` only stores, what is learned ends in `_`."""

    name: ClassVar[str]
    """How the command line and the model folder call it."""

    device_: torch.device

    @abstractmethod
    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Learn from normal records."""

    def trainings(self, data: TrainingData, run: Run) -> Iterator[Training]:
        """The trainings that `fit` will go through, in its order, with networks to throw away; none where it counts."""
        yield from ()

    def params(self) -> dict[str, Any]:
        """The arguments of `__init__`, as scikit-learn's `get_params` gives them."""
        known = inspect.signature(type(self)).parameters.values()
        return {p.name: getattr(self, p.name) for p in known if p.kind is inspect.Parameter.KEYWORD_ONLY}

    def clone(self, **changes: Any) -> Self:
        """One that has learned nothing, with the same arguments or some of them changed."""
        return type(self)(**copy.deepcopy({**self.params(), **changes}))

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
        return {}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        self.device_ = torch.device("cpu")

    def _in_parts(
        self, function: Callable[[Tensor], Tensor], ids: Tensor, rows: int, stage: Stage | None = None
    ) -> Tensor:
        """A function of records over ids [n, m], `rows` at a time, so that memory does not follow the table.

        Computed on the part's device, returned on that of the ids. A table without records gets one empty part, so
        that its result has the right shape.
        """
        if not hasattr(self, "device_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit first")
        parts = []
        with torch.no_grad():
            for part in ids.split(rows) if len(ids) else [ids]:
                parts.append(function(part.to(self.device_)))
                if stage is not None:
                    stage.advance(len(part))
        return torch.cat(parts).to(ids.device)
