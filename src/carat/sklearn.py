"""carat as a scikit-learn outlier detector: for pipelines, model selection, and PyOD's ways of combining scores.

Needs scikit-learn, which the extra `pyod` brings.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.arguments import check_flag
from carat.data.scan import tells_rows_apart
from carat.data.sources.frames import NOT_TEXT, arrow_table
from carat.errors import InputError, MissingExtraError
from carat.fitting import Model, fit
from carat.observing import Silent
from carat.results.scale import Threshold

try:
    from sklearn.base import BaseEstimator, OutlierMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.metaestimators import available_if
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as missing:
    raise MissingExtraError("scikit-learn", "pyod", "carat.sklearn") from missing


def _judges_its_own_rows(detector: Any) -> bool:
    if detector.novelty:
        raise AttributeError("`fit_predict` judges the rows that were learned from; use CaratDetector(novelty=False)")
    return True


class CaratDetector(OutlierMixin, BaseEstimator):
    """An outlier detector for tables of categorical columns, by scikit-learn's conventions.

    Text columns are used as they are, and numeric columns are cut into quantile bins. Columns with a single value,
    dates, and texts with a different value in every row or nearly every row, such as an ID, are left out. NaN and None
    are missing values.

    **Values never seen in training, and missing ones, do not make a row an outlier here**: the score skips them. If a
    new value should be suspicious, fit with `memory=True` and use the `alarm` of `model_.score(frame)`.

    Args:
        profile: `instant`, `fast` or `paper`.
        detector: `counts`, `ape`, `mead`, `context`, or None for the profile's.
        memory: whether the model keeps its training rows, so that `model_.recourse` and `model_.score` have the judge's
            word too. The scores here are the detector's alone, with or without it: an outlier detector has one score,
            and `contamination` is a share of it.
        contamination: share of rows that `predict` calls outliers, 0 < contamination <= 0.5; `auto` is 0.1.
        novelty: which rows it is a share of. True: new rows like those of training; it is measured on a tenth of the
            rows, held out of learning. Rows that were learned from score higher, so fewer of them are outliers. False:
            the rows given to `fit`, as most of scikit-learn has it; of new rows more are outliers, often several times
            as many. `fit_predict` needs False.
        bins: quantile bins per numeric column.
        random_state: seed of every random choice; None is 0.
        device: `auto`, `cpu` or `cuda`.

    Attributes:
        model_: the fitted `carat.Model`, with the threshold that the contamination asks for;
            `model_.recourse(frame, gate="score")` suggests what would have made outliers normal.
        offset_: `decision_function` is `score_samples` minus this.
    """

    model_: Model
    offset_: float
    n_features_in_: int
    _names: list[str]
    _named: bool
    """Whether the names of the columns are those of a frame, and not made up for an array."""

    def __init__(
        self,
        *,
        profile: str = "instant",
        detector: str | None = None,
        memory: bool = False,
        contamination: float | Literal["auto"] = 0.1,
        novelty: bool = True,
        bins: int = 10,
        random_state: Any = None,
        device: str = "auto",
    ) -> None:
        self.profile = profile
        self.detector = detector
        self.memory = memory
        self.contamination = contamination
        self.novelty = novelty
        self.bins = bins
        self.random_state = random_state
        self.device = device

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 - scikit-learn's name
        """Learn what is normal; `y` is ignored."""
        share: Any = 0.1 if self.contamination == "auto" else self.contamination
        if isinstance(share, str) or not 0 < share <= 0.5:
            raise ValueError(f"contamination must be 'auto', or above 0 and at most 0.5, got {share!r}")
        if not hasattr(self.bins, "__index__") or self.bins < 2:
            raise ValueError(f"bins must be a whole number, at least 2, got {self.bins!r}")
        check_flag("novelty", self.novelty)
        table = self._table(X, reset=True)
        if table.num_rows < 2:
            raise ValueError(
                f"carat needs at least two rows, got {table.num_rows} sample{'' if table.num_rows == 1 else 's'}"
            )
        columns = self._columns(table)
        self.model_ = fit(
            table,
            domains=list(columns),
            numeric={name: bins for name, bins in columns.items() if bins},
            profile=self.profile,
            detector=self.detector,
            memory=self.memory,
            seed=self._seed(),
            device=self.device,
            progress=Silent(),  # a pipeline has its own ways of telling
        )
        scores = self.model_.reference.numpy() if self.novelty else self._scores(table)
        self.offset_ = float(np.quantile(scores, share))
        self.model_ = self.model_.with_threshold(Threshold(value=self.offset_))
        return self

    @available_if(_judges_its_own_rows)  # type: ignore[untyped-decorator]
    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> np.ndarray:  # noqa: N803
        """Learn from rows and say which of them are outliers, [n]; needs `novelty=False`."""
        found: np.ndarray = self.fit(X, y).predict(X)
        return found

    def score_samples(self, X: Any) -> np.ndarray:  # noqa: N803
        """Scores [n]; higher = more normal."""
        check_is_fitted(self)
        return self._scores(self._table(X, reset=False))

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803
        """Scores minus the offset [n]: outliers are below 0."""
        scores: np.ndarray = self.score_samples(X) - self.offset_
        return scores

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """−1 for outliers and 1 for the rest, [n]."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def _scores(self, table: pa.Table) -> np.ndarray:
        scores: np.ndarray = self.model_.score(table, gate="score", progress=Silent())["score"].to_numpy()
        return scores

    def _seed(self) -> int:
        if self.random_state is None or isinstance(self.random_state, int):
            return self.random_state or 0
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _table(self, X: Any, *, reset: bool) -> pa.Table:  # noqa: N803
        """Any frame or array as an Arrow table, null where NaN or None; scikit-learn's checks are made on the way.

        Its columns are called as those that were fitted: an array has them in the same order.
        """
        if isinstance(X, pa.RecordBatch):
            X = pa.Table.from_batches([X])  # noqa: N806
        if isinstance(X, pa.Table) or (hasattr(X, "columns") and hasattr(X, "dtypes")):
            validate_data(self, X, reset=reset, skip_check_array=True)
            table = arrow_table(X)
            if reset:
                self._names, self._named = table.column_names, True
            # A detector that was fitted on an array goes by the place of a column, as scikit-learn's do.
            return table if self._named else table.rename_columns(self._names)
        checks: dict[str, Any] = {"dtype": None, "ensure_all_finite": "allow-nan"}
        array = np.asarray(validate_data(self, X, reset=reset, ensure_min_features=2 if reset else 1, **checks))
        if array.dtype == object:
            odd = next(
                (cell for cell in array.flat if not isinstance(cell, str | float | int | np.number | None)), None
            )
            if odd is not None:
                raise TypeError(f"argument must be a string or a number, got {type(odd).__name__}; pass a frame")
        if reset:
            self._names, self._named = [f"x{number}" for number in range(array.shape[1])], False
        columns = [_array_column(column, number) for number, column in enumerate(array.T)]
        return pa.table(columns, names=self._names)

    def _columns(self, table: pa.Table) -> dict[str, int]:
        """The columns that can take part, and the number of bins of those that hold numbers."""
        chosen, identifying = {}, []
        for name in table.column_names:
            kind, values = table[name].type, table[name].unique().drop_null()
            if pa.types.is_floating(kind):
                values = values.filter(pc.is_finite(values))
            number = pa.types.is_floating(kind) or pa.types.is_integer(kind)
            if len(values) > 1 and not pa.types.is_temporal(kind):
                chosen[name] = min(self.bins, len(values)) if number else 0
                if not number and tells_rows_apart(table[name].drop_null().value_counts().field("counts").to_numpy()):
                    identifying.append(name)
        # What tells the rows of training apart says nothing of new ones, and makes held-out rows look strange.
        if len(chosen) - len(identifying) >= 2:
            chosen = {name: bins for name, bins in chosen.items() if name not in identifying}
        if len(chosen) < 2:
            raise InputError(f"carat needs at least two columns with more than one value, got {len(chosen)}")
        return chosen


def _array_column(cells: np.ndarray, number: int) -> pa.Array:
    """A column of a plain array; NaN is missing, as it is in a pandas frame."""
    try:
        return pa.array(cells, from_pandas=True)
    except UnicodeEncodeError as error:
        raise InputError(f"column {number} of the array: {NOT_TEXT}") from error
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise InputError(f"column {number} of the array mixes text and numbers; make it one of them") from error
