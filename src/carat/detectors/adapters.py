"""Detectors from outside: any callable, scikit-learn's estimators, PyOD's detectors.

They are not stored with a model: its manifest names them, and `carat.load(path, detector=…)` attaches one again.
An adapter never writes into what it wraps: an estimator that comes unfitted is cloned before it is fitted, and one that
comes fitted is used as it is.
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
from carat.data.vocabulary import Vocabulary
from carat.detectors.encodings import Encoding, check_encoding, encode
from carat.errors import InputError, MissingExtraError, NotFittedError
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
        values = np.asarray(self._values(ids), dtype=np.float64)
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
        return self.function(ids if self.takes == "ids" else self._frame(ids))


class EstimatorDetector(OutsideDetector):
    """What scikit-learn's and PyOD's detectors share: they see numbers, so categories are encoded.

    Args:
        estimator: unfitted, or fitted already on records encoded the same way.
        encoding: `onehot`, `ordinal` or `frequency`; None hands it a frame of text, for a pipeline that encodes by
            itself.
    """

    sparse: ClassVar[bool]
    estimator_: Any
    """What gives the scores: a fitted clone, or the estimator itself where it came fitted."""

    def __init__(self, estimator: Any, *, encoding: Encoding | None) -> None:
        if encoding is not None:
            check_encoding(encoding)
        self.estimator = estimator
        self.encoding = encoding

    def _inner_name(self) -> str:
        return type(self.estimator).__name__

    def options(self) -> dict[str, Any]:
        """How categories are encoded."""
        return {"encoding": self.encoding}

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Fit a clone of the estimator on the training records; one that is fitted already stays as it is."""
        super().fit(data, run)
        if is_fitted(self.estimator):
            named = list(getattr(self.estimator, "feature_names_in_", ()))
            if named and self.encoding is not None:
                raise InputError(
                    f"the detector {self._inner_name()} came fitted on columns of its own ({named[0]}, …), not on "
                    "carat's encoding; pass encoding=None if it encodes by itself, or give it unfitted"
                )
            self.estimator_ = self.estimator
        else:
            self.estimator_ = unfitted(self.estimator).fit(self._encode(data.train))
        return self

    def attach(self, vocabulary: Vocabulary) -> Self:
        """Also refuses an estimator that nobody has fitted."""
        twin = super().attach(vocabulary)
        if not hasattr(twin, "estimator_"):
            if not is_fitted(self.estimator):
                raise InputError(
                    f"the detector {self._inner_name()} is not fitted; give the one that the model was fitted with, "
                    "its `model.detector.estimator_`"
                )
            twin.estimator_ = self.estimator
        return twin

    def _values(self, ids: Tensor) -> Any:
        encoded = self._encode(ids)
        try:
            return self._judge(encoded)
        except ValueError as error:
            if self.estimator_ is not self.estimator:
                raise
            said = str(error).splitlines()[0] if str(error) else "it can't read the rows"
            remedy = "pass encoding=None if it encodes the columns by itself, or give it unfitted"
            if self.encoding is None:
                remedy = f"it gets the chosen columns as text: {', '.join(self.vocabulary_.names)}"
            raise InputError(
                f"the detector {self._inner_name()} came fitted, and not on rows like these ({said}); {remedy}"
            ) from error

    @abstractmethod
    def _judge(self, encoded: Any) -> Any:
        """What the estimator says, higher = more normal."""

    def _encode(self, ids: Tensor) -> Any:
        if self.encoding is not None:
            return encode(ids, self.vocabulary_, self.encoding, sparse=self.sparse)
        frame = self._frame(ids)
        return _as_pandas(frame) if isinstance(frame, pa.Table) else frame


class SklearnDetector(EstimatorDetector):
    """A scikit-learn outlier detector, by `score_samples` or else `decision_function`; higher = more normal already.

    Args:
        estimator: for example an IsolationForest; a clone of it is fitted by `fit`, unless it is fitted already.
        encoding: `onehot` (sparse), `ordinal` or `frequency`; None for a pipeline that encodes by itself.
    """

    name = "sklearn"
    sparse = True

    def __init__(self, estimator: Any, *, encoding: Encoding | None = "onehot") -> None:
        super().__init__(estimator, encoding=encoding)

    def _judge(self, encoded: Any) -> Any:
        method = getattr(self.estimator_, "score_samples", None) or self.estimator_.decision_function
        return method(encoded)


class PyodDetector(EstimatorDetector):
    """A PyOD detector; its `decision_function` is higher for outliers, so the sign is flipped.

    Some of them (ECOD, COPOD) score a record relative to the others of its batch; carat passes on what they say.

    Args:
        estimator: for example `pyod.models.iforest.IForest()`; a clone of it is fitted by `fit`, unless it is fitted
            already.
        encoding: `ordinal`, `frequency` or `onehot` (dense: small tables only).
    """

    name = "pyod"
    sparse = False

    def __init__(self, estimator: Any, *, encoding: Encoding | None = "ordinal") -> None:
        super().__init__(estimator, encoding=encoding)

    def _judge(self, encoded: Any) -> Any:
        return -np.asarray(self.estimator_.decision_function(encoded))


def outside_detector(
    thing: Any, *, encoding: Encoding | Literal["auto"] | None = "auto", takes: Literal["frame", "ids"] = "frame"
) -> OutsideDetector:
    """Wrap whatever the user brought.

    Args:
        thing: a PyOD detector, a scikit-learn estimator, a callable, or an adapter around one of them.
        encoding: how an estimator sees categories; `auto` takes the adapter's default, None hands it a frame of text.
        takes: what a callable is given.
    """
    if isinstance(thing, OutsideDetector):
        return thing
    name = thing.__name__ if isinstance(thing, type) else type(thing).__name__
    if isinstance(thing, type):
        raise InputError(f"detector must be an object, got the class {name}; write {name}()")
    options: dict[str, Any] = {} if encoding == "auto" else {"encoding": encoding}
    # PyOD's detectors are scikit-learn estimators too, with the opposite sign: they come first.
    if any(cls.__module__.split(".")[0] == "pyod" for cls in type(thing).__mro__):
        return PyodDetector(thing, **options)
    if _kind(thing) in ("classifier", "regressor"):
        raise InputError(
            f"{name} is a {_kind(thing)}; a detector needs no labels and has score_samples or decision_function, as "
            "IsolationForest() does"
        )
    if hasattr(thing, "fit") and (hasattr(thing, "score_samples") or hasattr(thing, "decision_function")):
        return SklearnDetector(thing, **options)
    if callable(thing):
        return CallableDetector(thing, takes=takes)
    raise InputError(
        f"a detector is a name, a callable, a scikit-learn estimator with score_samples or decision_function, "
        f"or a PyOD detector; got {name}"
    )


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has learned something, by scikit-learn's own rule: attributes that end in `_`."""
    if hasattr(estimator, "__sklearn_is_fitted__"):
        return bool(estimator.__sklearn_is_fitted__())
    if hasattr(estimator, "steps"):  # a pipeline is as fitted as its last step
        return is_fitted(estimator.steps[-1][1])
    return any(name.endswith("_") and not name.startswith("__") for name in vars(estimator))


def unfitted(estimator: Any) -> Any:
    """A twin of an estimator with the same parameters, that has learned nothing."""
    if hasattr(estimator, "get_params"):
        try:
            from sklearn.base import clone  # noqa: PLC0415 - whoever has such an estimator has scikit-learn
        except ImportError:
            return copy.deepcopy(estimator)
        return clone(estimator, safe=False)
    return copy.deepcopy(estimator)


def _kind(estimator: Any) -> str | None:
    """`classifier`, `regressor`, or whatever else scikit-learn calls an estimator; None where it says nothing."""
    tags = getattr(estimator, "__sklearn_tags__", None)
    if tags is None:
        return getattr(estimator, "_estimator_type", None)
    try:
        kind = tags().estimator_type
    except AttributeError:  # a duck that only quacks in part
        return getattr(estimator, "_estimator_type", None)
    return None if kind is None else str(kind)


def _as_pandas(table: pa.Table) -> Any:
    try:
        return table.to_pandas()
    except ImportError as error:
        raise MissingExtraError("pandas", "pyod", "a pipeline that encodes by itself") from error
