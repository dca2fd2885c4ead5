"""What every fitted part of a model shares: parameters, storing, moving, work in parts."""

from __future__ import annotations

import copy
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import UNSEEN, Vocabulary
from carat.errors import NotFittedError
from carat.observing import Stage
from carat.training.box import Training
from carat.training.run import Run
from carat.training.start import Start


class Fitted(ABC):
    """A part that carat fits, stores and loads; `__init__` only stores, what is learned ends in `_`."""

    name: ClassVar[str]
    """How the command line and the model folder call it."""

    device_: torch.device
    start_: Start | None = None
    """The weights that `fit` begins with; None begins with random ones."""
    beyond_: Tensor | None = None
    """From which id on each domain's entities came after this part was trained, int64 [m]; None where none did."""

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

    def _learned(self, vocabulary: Vocabulary) -> Vocabulary:
        """What a trained network has a place for; whatever came later is unseen to this part from now on."""
        learned = vocabulary.learned
        self.beyond_ = None if learned.total == vocabulary.total else learned.sizes
        return learned

    def later(self, ids: Tensor, domain: Tensor | int | None = None) -> Tensor:
        """Which entities came after this part was trained, bool in the shape of ids.

        Args:
            ids: records, [.., m]; or entities of any shape, where `domain` says which domain they are of.
            domain: numbers that index a tensor of the domains into a shape that goes with ids; None for records.
        """
        if self.beyond_ is None:
            return torch.zeros_like(ids, dtype=torch.bool)
        first = self.beyond_.to(ids.device)
        return ids >= (first if domain is None else first[domain])

    def legible(self, ids: Tensor, domain: Tensor | int | None = None) -> Tensor:
        """The same with `UNSEEN` in place of entities that came after this part was trained; see `later`."""
        return ids if self.beyond_ is None else ids.masked_fill(self.later(ids, domain), UNSEEN)

    def facts(self) -> dict[str, Any]:
        """Fitted scalars and training facts, JSON only."""
        return {}

    def restore_facts(self, facts: Mapping[str, Any]) -> None:
        """Take up what `facts` gave."""
        self.device_ = torch.device("cpu")

    def start_from(self, other: Fitted, vocabulary: Vocabulary) -> Self:
        """Let the next `fit` begin with the weights that another part of this kind has, by their `vocabulary`."""
        if type(other) is type(self) and (tensors := other.tensors()):
            self.start_ = Start(tensors, vocabulary)
        return self

    def _started(self, network: nn.Module, vocabulary: Vocabulary, prefix: str = "") -> None:
        """Fill a fresh network with the weights to begin with, where there are any."""
        if self.start_ is not None:
            self.start_.fill(network, vocabulary, prefix)

    def _in_parts(
        self, function: Callable[[Tensor], Tensor], ids: Tensor, rows: int, stage: Stage | None = None
    ) -> Tensor:
        """A function of records over ids [n, m], `rows` at a time, so that memory does not follow the table.

        Computed on the part's device, returned on that of the ids. Entities that came after the part was trained are
        unseen to the function. A table without records gets one empty part, so
        that its result has the right shape.
        """
        if not hasattr(self, "device_"):
            raise NotFittedError(f"{type(self).__name__} is not fitted; call fit first")
        parts = []
        with torch.no_grad():
            for part in ids.split(rows) if len(ids) else [ids]:
                parts.append(function(self.legible(part.to(self.device_))))
                if stage is not None:
                    stage.advance(len(part))
        return torch.cat(parts).to(ids.device)
