"""Detectors from outside: any callable, scikit-learn's estimators, PyOD's detectors.

They are not stored with a model: its manifest names them, and `carat.load(path, detector=…)` attaches one again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data.readers import frame_like
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.detectors.encodings import Encoding, check_encoding, encode
from carat.errors import InputError, NotFittedError
from carat.training import Run

PART_ROWS = 65_536


class OutsideDetector(ABC):
    """Something that is scored through an adapter; higher = more normal, whatever it says itself."""

    name: ClassVar[str]
    vocabulary_: Vocabulary

    def describe(self) -> str:
        """What the manifest calls it."""
        return f"{self.name}:{self._inner_name()}"

    @abstractmethod
    def _inner_name(self) -> str: ...

    @abstractmethod
    def options(self) -> dict[str, Any]:
        """How it is spoken to, for the manifest: `outside_detector(thing, **options)` wraps it the same way again."""

    def attach(self, vocabulary: Vocabulary, frame: Any = None) -> Self:
        """Tell it what ids mean and which frame library the user works with; nothing is fitted."""
        self.vocabulary_ = vocabulary
        return self

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Learn, where the thing outside can."""
        return self.attach(data.vocabulary)

    def score(self, ids: Tensor) -> Tensor:
        """Scores float32 [n] of records ids [n, m]."""
        if not hasattr(self, "vocabulary_"):
            raise NotFittedError(f"{self.describe()} is not attached to a model; call fit or attach first")
        parts = [self._score_part(part) for part in ids.split(PART_ROWS) if len(part)]
        return torch.cat([torch.empty(0), *parts]).to(ids.device)

    def _score_part(self, ids: Tensor) -> Tensor:
        values = np.asarray(self._values(ids), dtype=np.float64)
        if not values.flags.writeable:  # as pandas hands them out; a tensor can't be made of such
            values = values.copy()
        if values.shape != (len(ids),):
            raise InputError(
                f"{self.describe()} must give one score a record: expected shape ({len(ids)},), got {values.shape}"
            )
        if not np.isfinite(values).all():
            raise InputError(f"{self.describe()} gave a score that is not a finite number")
        return torch.from_numpy(values).float()

    @abstractmethod
    def _values(self, ids: Tensor) -> Any:
        """One number a record, higher = more normal."""

    def to(self, device: torch.device | str) -> Self:
        """Stays where it is; ids are brought to it."""
        return self


class CallableDetector(OutsideDetector):
    """Any function from records to scores, higher = more normal.

    Args:
        function: gets a frame of the domain columns as text, null where missing or never seen in training, in the
            library of the frame that is scored; returns one number a record.
        takes: `ids` hands it the ids [n, m] as a tensor instead.
    """

    name = "callable"

    def __init__(self, function: Callable[[Any], Any], *, takes: Literal["frame", "ids"] = "frame") -> None:
        self.function = function
        self.takes = takes
        self._like: Any = None

    def _inner_name(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__name__))

    def options(self) -> dict[str, Any]:
        """What the function is given."""
        return {"takes": self.takes}

    def attach(self, vocabulary: Vocabulary, frame: Any = None) -> Self:
        """Also remember the user's frame library; a path says nothing of it."""
        if frame is not None and not isinstance(frame, str | Path | dict):
            # An empty slice is enough to know the library; the whole frame would be kept alive.
            self._like = frame[:0] if hasattr(frame, "__getitem__") else None
        return super().attach(vocabulary)

    def _values(self, ids: Tensor) -> Any:
        if self.takes == "ids":
            return self.function(ids)
        table = pa.table(self.vocabulary_.decode(ids))
        return self.function(table if self._like is None else frame_like(table, self._like))


class EstimatorDetector(OutsideDetector):
    """What scikit-learn's and PyOD's detectors share: they see numbers, so categories are encoded."""

    sparse: ClassVar[bool]

    def __init__(self, estimator: Any, *, encoding: Encoding) -> None:
        check_encoding(encoding)
        self.estimator = estimator
        self.encoding = encoding

    def _inner_name(self) -> str:
        return type(self.estimator).__name__

    def options(self) -> dict[str, Any]:
        """How categories are encoded."""
        return {"encoding": self.encoding}

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Fit the estimator on the encoded training records."""
        self.attach(data.vocabulary)
        self.estimator.fit(self._encode(data.train))
        return self

    def _encode(self, ids: Tensor) -> Any:
        return encode(ids, self.vocabulary_, self.encoding, sparse=self.sparse)


class SklearnDetector(EstimatorDetector):
    """A scikit-learn outlier detector, by `score_samples` or else `decision_function`; higher = more normal already.

    Args:
        estimator: for example an IsolationForest; it is fitted by `fit`.
        encoding: `onehot` (sparse), `ordinal` or `frequency`.
    """

    name = "sklearn"
    sparse = True

    def __init__(self, estimator: Any, *, encoding: Encoding = "onehot") -> None:
        super().__init__(estimator, encoding=encoding)

    def _values(self, ids: Tensor) -> Any:
        method = getattr(self.estimator, "score_samples", None) or self.estimator.decision_function
        return method(self._encode(ids))


class PyodDetector(EstimatorDetector):
    """A PyOD detector; its `decision_function` is higher for outliers, so the sign is flipped.

    Some of them (ECOD, COPOD) score a record relative to the others of its batch; carat passes on what they say.

    Args:
        estimator: for example `pyod.models.iforest.IForest()`; it is fitted by `fit`.
        encoding: `ordinal`, `frequency` or `onehot` (dense: small tables only).
    """

    name = "pyod"
    sparse = False

    def __init__(self, estimator: Any, *, encoding: Encoding = "ordinal") -> None:
        super().__init__(estimator, encoding=encoding)

    def _values(self, ids: Tensor) -> Any:
        return -np.asarray(self.estimator.decision_function(self._encode(ids)))


def outside_detector(
    thing: Any, *, encoding: Encoding | None = None, takes: Literal["frame", "ids"] = "frame"
) -> OutsideDetector:
    """Wrap whatever the user brought.

    Args:
        thing: a PyOD detector, a scikit-learn estimator, a callable, or an adapter around one of them.
        encoding: how an estimator sees categories; None takes the adapter's default.
        takes: what a callable is given.
    """
    if isinstance(thing, OutsideDetector):
        return thing
    options: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    # PyOD's detectors are scikit-learn estimators too, with the opposite sign: they come first.
    if any(cls.__module__.split(".")[0] == "pyod" for cls in type(thing).__mro__):
        return PyodDetector(thing, **options)
    if hasattr(thing, "fit") and (hasattr(thing, "score_samples") or hasattr(thing, "decision_function")):
        return SklearnDetector(thing, **options)
    if callable(thing):
        return CallableDetector(thing, takes=takes)
    raise InputError(
        f"a detector is a name, a callable, a scikit-learn estimator with score_samples or decision_function, "
        f"or a PyOD detector; got {type(thing).__name__}"
    )
