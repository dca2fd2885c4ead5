"""Detectors from outside: what every adapter shares, and the one around a function.

They are not stored with a model: its manifest names them, and `carat.load(path, detector=…)` attaches one again.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data.sources import frame_like
from carat.data.training_data import TrainingData
from carat.data.vocabulary import UNSEEN, Vocabulary
from carat.errors import InputError, NotFittedError
from carat.training import Run

PART_ROWS = 65_536


class OutsideDetector(ABC):
    """Something that is scored through an adapter; higher = more normal, whatever it says itself."""

    name: ClassVar[str]
    vocabulary_: Vocabulary
    like_: Any = None
    """An empty frame of the user's library; None is Arrow."""

    def describe(self) -> str:
        """What the manifest calls it."""
        return f"{self.name}:{self._inner_name()}"

    @abstractmethod
    def _inner_name(self) -> str: ...

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """How it is spoken to, for the manifest: `outside_detector(thing, **options)` wraps it the same way again."""

    def clone(self) -> Self:
        """An adapter around the same thing that has learned nothing."""
        twin = copy.copy(self)
        for name in [name for name in vars(twin) if name.endswith("_")]:
            delattr(twin, name)
        return twin

    def attach(self, vocabulary: Vocabulary) -> Self:
        """The same, told what ids mean; nothing is fitted, and this one stays as it is."""
        twin = copy.copy(self)
        twin.vocabulary_ = vocabulary
        return twin

    def speaking(self, frame: Any) -> Self:
        """The same, handing out frames of the library of `frame`; a path or a dictionary says nothing of it."""
        if frame is None or isinstance(frame, str | Path | dict) or not hasattr(frame, "__getitem__"):
            return self
        twin = copy.copy(self)
        # An empty slice is enough to know the library; the whole frame would be kept alive.
        twin.like_ = frame[:0]
        return twin

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Learn, where the thing outside can."""
        self.vocabulary_ = data.vocabulary
        return self

    def score(self, ids: Tensor) -> Tensor:
        """Scores float32 [n] of records ids [n, m]."""
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError(f"{self.describe()} is not attached to a model; call fit or attach first")
        parts = [self._score_part(part) for part in ids.split(PART_ROWS) if len(part)]
        return torch.cat([torch.empty(0), *parts]).to(ids.device)

    def _score_part(self, ids: Tensor) -> Tensor:
        given = self._values(ids)
        try:
            values = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.describe()} must give one number per row, higher = more normal") from error
        if not values.flags.writeable:  # as pandas hands them out; a tensor can't be made of such
            values = values.copy()
        if values.shape != (len(ids),):
            raise InputError(
                f"{self.describe()} must give one score per row: expected shape ({len(ids)},), got {values.shape}"
            )
        if not np.isfinite(values).all():
            raise InputError(f"{self.describe()} gave a score that is not a finite number")
        return torch.from_numpy(values).float()

    @abstractmethod
    def _values(self, ids: Tensor) -> Any:
        """One number per record, higher = more normal."""

    def _legible(self, ids: Tensor) -> Tensor:
        """The same with `UNSEEN` in place of entities that came with an update: outside there is no number for them."""
        return ids.masked_fill(ids >= self.vocabulary_.learned.sizes.to(ids.device), UNSEEN)

    def _frame(self, ids: Tensor) -> Any:
        """The records as text, null where missing or unseen, in the user's frame library."""
        table = pa.table(self.vocabulary_.decode(ids))
        return table if self.like_ is None else frame_like(table, self.like_)

    def to(self, device: torch.device | str) -> Self:
        """Stays where it is; ids are brought to it."""
        return self


class CallableDetector(OutsideDetector):
    """Any function from records to scores, higher = more normal.

    Args:
        function: gets a frame of the domain columns as text, null where missing or never seen in training, in the
            library of the frame that is scored; returns one number per record.
        takes: `ids` hands it the ids [n, m] as a tensor instead.
    """

    name = "callable"

    def __init__(self, function: Callable[[Any], Any], *, takes: Literal["frame", "ids"] = "frame") -> None:
        self.function = function
        self.takes = takes

    def _inner_name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def options(self) -> dict[str, Any]:
        """What the function is given."""
        return {"takes": self.takes}

    def _values(self, ids: Tensor) -> Any:
        return self.function(self._legible(ids) if self.takes == "ids" else self._frame(ids))
