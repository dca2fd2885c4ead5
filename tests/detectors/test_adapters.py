"""Detectors from outside: what they are given, and what is done with what they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from pyod.models.iforest import IForest
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

import carat
from carat.data import MISSING, UNSEEN, Columns, open_source, scan
from carat.detectors import CallableDetector, PyodDetector, SklearnDetector, outside_detector
from carat.detectors.encodings import encode
from carat.errors import InputError, ModelFolderError, NotFittedError


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_callable_gets_the_users_own_frame(library: Any, planted: pa.Table) -> None:
    seen: list[Any] = []

    def detector(frame: Any) -> np.ndarray:
        seen.append(frame)
        return np.zeros(len(frame))

    frame = library(planted.to_pydict())
    carat.fit(frame, explainer=False, detector=detector)
    assert all(type(part) is type(frame) for part in seen)
    assert list(seen[0].columns if library is not pa.table else seen[0].column_names) == list(planted.column_names)


def test_callable_gets_null_where_missing_and_ids_on_demand(planted: pa.Table) -> None:
    seen: list[Any] = []

    def look(part: Any) -> np.ndarray:
        seen.append(part)
        return np.zeros(len(part))

    model = carat.fit(planted, explainer=False, detector=look)
    ids = torch.tensor([[2, MISSING, UNSEEN, 3]], dtype=torch.int32)
    model.detector.score(ids)
    row = seen[-1].to_pylist()[0]
    assert (row["Good"], row["Carrier"]) == (None, None)
    assert row["Port"] == model.vocabulary.domains[0].entities[0].as_py()
    by_ids = CallableDetector(look, takes="ids").attach(model.vocabulary)
    by_ids.score(ids)
    assert torch.equal(seen[-1], ids)


def test_kinds_are_told_apart() -> None:
    assert isinstance(outside_detector(IForest()), PyodDetector)
    assert isinstance(outside_detector(IsolationForest()), SklearnDetector)
    assert isinstance(outside_detector(lambda frame: frame), CallableDetector)
    with pytest.raises(InputError, match="got int"):
        outside_detector(3)


def test_pyod_sign_is_flipped_and_sklearn_sign_kept(planted: pa.Table) -> None:
    model = carat.fit(planted, explainer=False, detector=IForest(random_state=0), encoding="onehot")
    assert isinstance(model.detector, PyodDetector)
    ids = model.vocabulary.encode(planted.slice(0, 5).to_pylist())
    matrix = encode(ids, model.vocabulary, "onehot", sparse=False)
    np.testing.assert_allclose(
        model.detector.score(ids).numpy(), -model.detector.estimator_.decision_function(matrix), rtol=1e-6
    )
    # OneClassSVM's score_samples and decision_function differ by a constant: score_samples is the one taken.
    svm = carat.fit(planted, explainer=False, detector=OneClassSVM())
    assert isinstance(svm.detector, SklearnDetector)
    np.testing.assert_allclose(
        svm.detector.score(ids).numpy(), svm.detector.estimator_.score_samples(matrix), rtol=1e-4
    )


def test_encodings() -> None:
    table = pa.table({"A": list("aab"), "B": list("xyz")})
    words = scan(open_source(table), Columns(domains=["A", "B"])).vocabulary
    ids = torch.tensor([[2, 2], [3, MISSING], [UNSEEN, 4]], dtype=torch.int32)
    expected = [[1, 0, 1, 0, 0], [0, 1, 0, 0, 0], [0, 0, 0, 0, 1]]
    assert encode(ids, words, "onehot", sparse=False).tolist() == expected
    assert encode(ids, words, "onehot", sparse=True).toarray().tolist() == expected
    assert encode(ids, words, "ordinal", sparse=False).tolist() == ids.tolist()
    frequency = np.log([[2 / 3, 1 / 3], [1 / 3, 0.5 / 3], [0.5 / 3, 1 / 3]])
    np.testing.assert_allclose(encode(ids, words, "frequency", sparse=False), frequency)
    with pytest.raises(InputError, match="did you mean 'onehot'"):
        encode(ids, words, "onehott", sparse=False)  # type: ignore[arg-type]


def test_bad_answers_are_said(planted: pa.Table) -> None:
    with pytest.raises(InputError, match="one score per row"):
        carat.fit(planted, explainer=False, detector=lambda frame: np.zeros(3))
    with pytest.raises(InputError, match="not a finite number"):
        carat.fit(planted, explainer=False, detector=lambda frame: np.full(len(frame), np.nan))
    with pytest.raises(NotFittedError, match="not attached"):
        CallableDetector(len).score(torch.zeros(1, 2))


def test_not_stored_but_named_and_attached_again(planted: pa.Table, tmp_path: Path) -> None:
    model = carat.fit(planted, explainer=False, detector=IsolationForest(random_state=0))
    model.save(tmp_path / "model")
    with pytest.raises(ModelFolderError, match="sklearn:IsolationForest.*carat.load"):
        carat.load(tmp_path / "model")
    assert isinstance(model.detector, SklearnDetector)
    again = carat.load(tmp_path / "model", detector=model.detector.estimator_)
    pd.testing.assert_frame_equal(again.score(planted.to_pandas()), model.score(planted.to_pandas()))


def test_how_it_was_spoken_to_is_remembered(planted: pa.Table, tmp_path: Path) -> None:
    model = carat.fit(planted, explainer=False, detector=IForest(random_state=0), encoding="frequency")
    model.save(tmp_path / "model")
    assert isinstance(model.detector, PyodDetector)
    forest = model.detector.estimator_
    assert carat.load(tmp_path / "model", detector=forest).score(planted).equals(model.score(planted))
    with pytest.raises(InputError, match="was fitted with `encoding` 'frequency', got 'ordinal'"):
        carat.load(tmp_path / "model", detector=forest, encoding="ordinal")
    other = "was fitted with the PyOD detector IForest, and `detector` is"
    with pytest.raises(InputError, match=f"{other} the scikit-learn detector IsolationForest; give the one"):
        carat.load(tmp_path / "model", detector=IsolationForest())
    with pytest.raises(InputError, match=f"{other} the callable len; give the one"):
        carat.load(tmp_path / "model", detector=len)
    with pytest.raises(InputError, match="`detector` must be the fitted detector itself, got the name 'counts'"):
        carat.load(tmp_path / "model", detector="counts")


class Homemade:
    """Scores as PyOD's detectors do, and is none of them."""

    def fit(self, rows: Any) -> Homemade:
        self.decision_scores_ = self.decision_function(rows)
        return self

    def decision_function(self, rows: Any) -> np.ndarray:
        return np.asarray(rows.sum(axis=1)).ravel()


class Plain(Homemade):
    """Says nothing of how its scores are meant."""

    def fit(self, rows: Any) -> Homemade:
        self.mean_ = 0.0
        return self


@pytest.mark.parametrize(
    ("detector", "said"), [(Homemade(), True), (Plain(), True), (IsolationForest(), False), (OneClassSVM(), False)]
)
def test_scores_that_might_be_meant_the_other_way_round_are_remarked_on(
    planted: pa.Table, detector: Any, said: bool, caplog: pytest.LogCaptureFixture
) -> None:
    carat.fit(planted, explainer=False, detector=detector)
    name = type(detector).__name__
    assert (f"a higher score of the detector {name} is taken as more normal" in caplog.text) == said
    caplog.clear()
    carat.fit(planted, explainer=False, detector=PyodDetector(IForest(random_state=0)))
    assert "higher score" not in caplog.text


def test_a_loaded_callable_gets_the_library_of_what_is_scored(planted: pa.Table, tmp_path: Path) -> None:
    seen: list[type] = []

    def look(frame: Any) -> np.ndarray:
        seen.append(type(frame))
        return np.zeros(len(frame))

    carat.fit(planted, explainer=False, detector=look).save(tmp_path / "model")
    model = carat.load(tmp_path / "model", detector=look)
    for frame in (planted.to_pandas(), pl.DataFrame(planted.to_pydict()), planted):
        model.score(frame)
        assert seen[-1] is type(frame)
