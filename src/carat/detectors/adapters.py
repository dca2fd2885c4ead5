"""Adapters around estimators: scikit-learn's, PyOD's; and what wraps whatever a user brings.

An adapter never writes into what it wraps: an estimator that comes unfitted is cloned before it is fitted, and one that
comes fitted is used as it is.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pyarrow as pa
from torch import Tensor

from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.detectors.encodings import Encoding, check_encoding, encode
from carat.detectors.outside import CallableDetector, OutsideDetector
from carat.errors import InputError, MissingExtraError
from carat.observing import Remark
from carat.training import Run


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
            unchecked = self._check_fitted("give it unfitted, or pass encoding=None if it encodes the columns itself")
            if unchecked and run is not None:
                run.observer.remark(Remark("fitted-detector", unchecked, warning=True))
            self.estimator_ = self.estimator
        else:
            encoded = self._encode(data.train)
            try:
                self.estimator_ = unfitted(self.estimator).fit(encoded)
            except (TypeError, ValueError) as error:
                if self.encoding is not None and hasattr(self.estimator, "steps"):
                    said = str(error).splitlines()[0] if str(error) else type(error).__name__
                    raise InputError(
                        f"the pipeline can't read the encoding '{self.encoding}' ({said}); if it encodes the columns "
                        "by itself, pass encoding=None"
                    ) from error
                if self.encoding is not None or "to float" not in str(error):
                    raise
                raise InputError(
                    f"the detector {self._inner_name()} can't read text; choose an encoding ('onehot', 'ordinal' or "
                    "'frequency'), or put an encoder before it in a pipeline"
                ) from error
        return self

    def attach(self, vocabulary: Vocabulary) -> Self:
        """Also refuses an estimator that nobody has fitted, or that was fitted on something else."""
        twin = super().attach(vocabulary)
        if not hasattr(twin, "estimator_"):
            own = "give the one that the model was fitted with, its `model.detector.estimator_`"
            if not is_fitted(self.estimator):
                raise InputError(f"the detector {self._inner_name()} is not fitted; {own}")
            twin._check_fitted(own)
            twin.estimator_ = self.estimator
        return twin

    def _check_fitted(self, remedy: str) -> str | None:
        """Refuse an estimator that came fitted on something else; what can't be told is said in the line returned."""
        called = f"the detector {self._inner_name()} came fitted"
        named = list(getattr(self.estimator, "feature_names_in_", ()))
        if named and self.encoding is None:
            return None  # it looks at the names by itself
        if named:
            raise InputError(f"{called} on columns of its own ({named[0]}, …), not on carat's encoding; {remedy}")
        width, given = getattr(self.estimator, "n_features_in_", None), self._width()
        rows = "the table as text" if self.encoding is None else f"the encoding '{self.encoding}'"
        if width is not None and width != given:
            raise InputError(f"{called} on {width:,} columns, but {rows} has {given:,}; {remedy}")
        return (
            f"{called}, so carat can't check that it learned from the same columns, encoded the same way "
            f"({rows}, {given:,} columns); if it did not, its scores mean nothing"
        )

    def _width(self) -> int:
        """Columns of what the estimator is given."""
        return self.vocabulary_.learned.entities if self.encoding == "onehot" else len(self.vocabulary_)

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
            return encode(self._legible(ids), self.vocabulary_.learned, self.encoding, sparse=self.sparse)
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

    def fit(self, data: TrainingData, run: Run | None = None) -> Self:
        """Also says how its scores are read, where they might be meant the other way round."""
        super().fit(data, run)
        if run is not None and self._may_be_reversed():
            text = (
                f"a higher score of the detector {self._inner_name()} is taken as more normal, as in scikit-learn; if "
                "it is higher for outliers, as in PyOD, give carat.detectors.PyodDetector(detector) instead"
            )
            run.observer.remark(Remark("detector-sign", text, warning=True))
        return self

    def _may_be_reversed(self) -> bool:
        """Whether nothing says that this scores as scikit-learn's detectors do, or something that it does as PyOD's."""
        if hasattr(self.estimator_, "decision_scores_"):
            return True
        return not hasattr(self.estimator_, "score_samples") and _kind(self.estimator_) != "outlier_detector"

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
        raise InputError(f"`detector` must be an object, got the class {name}; write {name}()")
    options: dict[str, Any] = {} if encoding == "auto" else {"encoding": encoding}
    if encoding == "auto" and _encodes(thing):
        options = {"encoding": None}
    # PyOD's detectors are scikit-learn estimators too, with the opposite sign: they come first.
    if any(cls.__module__.split(".")[0] == "pyod" for cls in type(thing).__mro__):
        return PyodDetector(thing, **options)
    if _kind(thing) in ("classifier", "regressor"):
        raise InputError(
            f"{name} is a {_kind(thing)}; a detector needs no labels and has score_samples or decision_function, as "
            "IsolationForest() does"
        )
    if name == "CaratDetector":
        raise InputError("CaratDetector is carat itself; choose a detector by name, such as detector='ape'")
    if getattr(thing, "novelty", None) is False:
        raise InputError(f"{name} can score new rows only with {name}(novelty=True)")
    fits = hasattr(thing, "fit") and (hasattr(thing, "score_samples") or hasattr(thing, "decision_function"))
    if fits and takes != "frame":
        raise InputError("`takes` is for callables; what an estimator is given is up to `encoding`")
    if fits:
        return SklearnDetector(thing, **options)
    if callable(thing) and encoding != "auto":
        raise InputError("`encoding` is for estimators; what a callable is given is up to `takes`")
    if callable(thing):
        return CallableDetector(thing, takes=takes)
    raise InputError(
        f"a detector is a name, a callable, a scikit-learn estimator with score_samples or decision_function, "
        f"or a PyOD detector; got {name}"
    )


def _encodes(thing: Any) -> bool:
    """Whether this is a pipeline that begins with an encoder of categories, which wants the text."""
    steps = getattr(thing, "steps", None)
    first = type(steps[0][1]).__name__ if isinstance(steps, list) and steps else ""
    return first.endswith("Encoder") or first in ("ColumnTransformer", "DataFrameMapper", "TableVectorizer")


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
