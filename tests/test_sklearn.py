"""carat as a scikit-learn estimator."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyod.models.combination import average, maximization
from pyod.models.iforest import IForest
from pyod.utils.utility import standardizer
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from carat.errors import InputError
from carat.sklearn import CaratDetector
from tests.support.planted import DOMAINS, corrupted, planted_table

TABLE = planted_table(600).to_pandas()
WRONG = pd.DataFrame(corrupted()[0])


@pytest.fixture(autouse=True)
def quiet() -> Any:
    """scikit-learn's own tables are tiny, and carat says so every time."""
    logging.getLogger("carat").setLevel(logging.ERROR)
    yield
    logging.getLogger("carat").setLevel(logging.NOTSET)


@parametrize_with_checks(
    [
        CaratDetector(),
        CaratDetector(novelty=False),
        CaratDetector(detector="mead", contamination=0.2, bins=5, novelty=False),
    ]
)  # type: ignore[untyped-decorator]
def test_scikit_learns_own_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_out_of_context_is_an_outlier(library: Any) -> None:
    found = CaratDetector(contamination=0.02).fit(library(TABLE.to_dict("list")))
    assert (found.predict(library(WRONG.to_dict("list"))) == -1).all()
    assert found.predict(library(TABLE.to_dict("list"))).mean() > 0.9
    assert found.decision_function(library(WRONG.to_dict("list"))).max() < 0


def test_columns_go_by_their_place_where_one_table_is_an_array() -> None:
    """As scikit-learn's detectors have it; columns of numbers too, and names that are no text."""
    mixed = TABLE.assign(Weight=np.arange(600) % 7)
    numbered = mixed.set_axis(range(mixed.shape[1]), axis=1)
    for frame in (mixed, numbered):
        found = CaratDetector().fit(frame)
        array = frame.to_numpy()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # scikit-learn says that an array has no names
            assert np.array_equal(found.predict(array), found.predict(frame))
            other = CaratDetector().fit(array)
            assert np.array_equal(other.score_samples(frame), other.score_samples(array))
            with pytest.raises(ValueError, match="4 features, but CaratDetector is expecting 5"):
                found.predict(array[:, :4])


NOISY = pd.DataFrame(np.random.default_rng(0).integers(0, 25, (3000, 4)).astype(str)).add_prefix("x")
"""Chance alone: whoever learned a row by heart calls it more normal than the next one."""


@pytest.mark.parametrize("share", [0.1, 0.3])
def test_contamination_is_the_share_of_outliers_among_new_rows(share: float) -> None:
    found = CaratDetector(contamination=share).fit(NOISY[:2000])
    assert (found.predict(NOISY[2000:]) == -1).mean() == pytest.approx(share, abs=0.4 * share)
    assert (found.predict(NOISY[:2000]) == -1).mean() < share
    with pytest.raises(AttributeError, match="has no attribute 'fit_predict'"):
        found.fit_predict(NOISY)


def test_contamination_is_the_share_of_outliers_in_training() -> None:
    found = CaratDetector(contamination=0.1, novelty=False).fit(NOISY)
    assert (found.predict(NOISY) == -1).mean() == pytest.approx(0.1, abs=0.02)
    assert (CaratDetector(contamination=0.1, novelty=False).fit_predict(NOISY) == found.predict(NOISY)).all()
    with pytest.raises(ValueError, match="contamination must be 'auto', or above 0 and at most 0.5, got 0.7"):
        CaratDetector(contamination=0.7).fit(NOISY)
    with pytest.raises(InputError, match="`novelty` must be True or False, got 'no'"):
        CaratDetector(novelty="no").fit(NOISY)  # type: ignore[arg-type]


def test_in_a_pipeline() -> None:
    selected = make_column_transformer(("passthrough", make_column_selector(dtype_exclude="number")))
    pipeline = make_pipeline(
        selected.set_output(transform="pandas"), FunctionTransformer(lambda frame: frame), CaratDetector()
    )
    pipeline.fit(TABLE.assign(Amount=1.5))
    assert (pipeline.predict(WRONG.assign(Amount=1.5)) == -1).all()
    again = clone(pipeline).fit(TABLE.assign(Amount=1.5))
    np.testing.assert_array_equal(again.score_samples(WRONG), pipeline.score_samples(WRONG))


def test_with_pyods_ways_of_combining() -> None:
    """PyOD's scores are higher for outliers; carat's with the sign turned go beside them."""
    codes = TABLE.apply(lambda column: column.astype("category").cat.codes)
    categories = {name: TABLE[name].astype("category").cat.categories for name in TABLE}
    asked = WRONG.apply(lambda column: pd.Categorical(column, categories[column.name]).codes)
    forest = IForest(random_state=0).fit(codes)
    carat = CaratDetector().fit(TABLE)
    normal = np.column_stack([forest.decision_function(codes), -carat.score_samples(TABLE)])
    wrong = np.column_stack([forest.decision_function(asked), -carat.score_samples(WRONG)])
    _, wrong = standardizer(normal, wrong)
    normal = standardizer(normal)
    for combined in (average, maximization):
        assert combined(wrong).mean() > combined(normal).mean()
        assert combined(wrong).shape == (len(WRONG),)


def test_it_can_still_say_what_would_have_been_normal() -> None:
    found = CaratDetector().fit(TABLE)
    assert len(found.model_.recourse(WRONG, k=1, all=True)) == len(WRONG)


def test_numbers_are_cut_into_bins_and_constants_left_out() -> None:
    frame = TABLE.assign(Weight=np.arange(len(TABLE)) % 37, Country="US")
    found = CaratDetector(bins=4).fit(frame)
    assert dict(found.model_.schema.numeric) == {"Weight": 4}
    assert "Country" not in found.model_.schema.domains
    with pytest.raises(InputError, match="at least two columns with more than one value, got 1"):
        CaratDetector().fit(TABLE[["Port"]].assign(Country="US"))


def test_numbers_that_are_nearly_always_the_same_take_part() -> None:
    rows = np.arange(len(TABLE))
    frame = TABLE.assign(Flag=(rows % 40 == 0).astype(int), Discount=np.where(rows % 30 == 0, rows, 0))
    found = CaratDetector().fit(frame)
    assert set(found.model_.schema.numeric) == {"Flag", "Discount"}
    encoded = make_pipeline(OneHotEncoder(sparse_output=False), CaratDetector()).fit(TABLE)
    assert (encoded.predict(TABLE) == 1).any()


def test_it_keeps_silent_in_a_pipeline(caplog: pytest.LogCaptureFixture) -> None:
    CaratDetector().fit(TABLE).predict(TABLE)
    assert not caplog.messages


def test_auto_is_a_tenth() -> None:
    assert CaratDetector(contamination="auto").fit(TABLE).offset_ == CaratDetector(contamination=0.1).fit(TABLE).offset_
    with pytest.raises(ValueError, match="contamination must be 'auto', or above 0"):
        CaratDetector(contamination="some").fit(TABLE)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bins must be a whole number, at least 2, got '5'"):
        CaratDetector(bins="5").fit(TABLE)  # type: ignore[arg-type]


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        CaratDetector().predict(TABLE)


@pytest.mark.parametrize("state", [0, None, np.random.RandomState(3)])
def test_random_state(state: Any) -> None:
    scores = CaratDetector(detector="mead", random_state=state).fit(TABLE.head(100)).score_samples(WRONG)
    assert np.isfinite(scores).all()


def test_nan_and_none_are_missing_in_plain_arrays() -> None:
    """The same scores as for a frame with holes, whatever marks them."""
    holes = np.random.default_rng(0).random(TABLE.shape) < 0.1
    frame = TABLE.mask(pd.DataFrame(holes, columns=TABLE.columns))
    asked = WRONG.assign(Good=None)
    expected = CaratDetector().fit(frame).score_samples(asked)
    for mark in (np.nan, None):
        array = TABLE.to_numpy(dtype=object, copy=True)
        array[holes] = mark
        found = CaratDetector().fit(array)
        rows = WRONG.to_numpy(dtype=object, copy=True)
        rows[:, 1] = mark
        np.testing.assert_allclose(found.score_samples(rows), expected, rtol=1e-6)
        assert sum(len(domain.entities) for domain in found.model_.vocabulary.domains) == 60, "no value is called nan"
    assert CaratDetector().__sklearn_tags__().input_tags.allow_nan


def test_nan_in_numbers_is_missing() -> None:
    numbers = np.random.default_rng(0).integers(0, 3, (300, 3)).astype(float)
    numbers[:, 2] = numbers[:, 0]
    numbers[::7, 1] = np.nan
    found = CaratDetector(bins=3).fit(numbers)
    assert set(found.model_.schema.numeric) == {"x0", "x1", "x2"}
    assert np.isfinite(found.score_samples(np.array([[1.0, np.nan, 1.0], [np.nan] * 3]))).all()
    with pytest.raises(ValueError, match="infinity"):
        found.score_samples(np.array([[np.inf, 1.0, 1.0]]))
    hollow = np.column_stack([numbers, np.where(np.arange(300) % 2, 5.0, np.nan)])
    assert "x3" not in CaratDetector(bins=3).fit(hollow).model_.schema.domains, "one value and holes is one value"
    frame = pl.DataFrame({f"x{number}": column for number, column in enumerate(hollow.T)})
    assert "x3" not in CaratDetector(bins=3).fit(frame).model_.schema.domains


def test_text_and_numbers_in_one_column_of_an_array() -> None:
    array = TABLE.to_numpy(dtype=object, copy=True)
    array[0, 1] = 7
    with pytest.raises(InputError, match="column 1 of the array mixes text and numbers"):
        CaratDetector().fit(array)


def test_a_column_that_tells_rows_apart_is_left_out() -> None:
    """Else held-out rows, whose ID training never counted, look stranger than any new row ever will."""
    named = TABLE.assign(Number=[f"T{number}" for number in range(600)])
    new = WRONG.assign(Number=[f"N{number}" for number in range(len(WRONG))])
    found = CaratDetector(contamination=0.02, random_state=0).fit(named)
    plain = CaratDetector(contamination=0.02, random_state=0).fit(TABLE)
    assert "Number" not in found.model_.schema.domains
    assert found.offset_ == plain.offset_
    assert (found.predict(new) == -1).all()


def test_two_columns_are_always_left() -> None:
    found = CaratDetector().fit(pd.DataFrame({"A": list("xy") * 20, "B": [f"b{number}" for number in range(40)]}))
    assert found.model_.schema.domains == ("A", "B")


def test_the_model_lists_the_outliers() -> None:
    frame = planted_table(400).select(DOMAINS).to_pandas()
    for novelty in (True, False):
        detector = CaratDetector(contamination=0.2, novelty=novelty).fit(frame)
        outliers = detector.decision_function(frame) < 0
        assert outliers.any()
        listed = detector.model_.score(frame, gate="score")["anomalous"].to_numpy()
        assert (listed == outliers).all()
