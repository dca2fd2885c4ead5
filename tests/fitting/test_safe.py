"""Nothing that is given is changed: parts are cloned, models are read-only, and many threads get what one gets."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import carat
from carat.detectors import Ape, SklearnDetector
from carat.errors import InputError
from carat.explain import CountsExplainer
from carat.graph import KnowledgeGraph
from tests.support.fitted import base, frame, instant_of, twice_corrupted
from tests.support.planted import corrupted, planted_table
from tests.support.small import small


def test_one_detector_in_two_fits() -> None:
    """Fitted parts used to be shared: the second fit silently changed the first model."""
    ape, tables = Ape(epochs=3), (planted_table(300), planted_table(400, seed=5))
    first = carat.fit(tables[0], detector=ape, explainer=False)
    before = first.score(tables[0])
    second = carat.fit(tables[1], detector=ape, explainer=False)
    assert first.score(tables[0]).equals(before)
    assert not second.score(tables[0]).equals(before)
    assert not [name for name in vars(ape) if name.endswith("_")], "what was given has learned nothing"


def test_explainer_and_graph_are_cloned_metapaths_too() -> None:
    explainer, graph = small(epochs=(1, 1, 1)), KnowledgeGraph(epochs=1)
    paths = [["Port", "Good"], ["Carrier", "Buyer"]]
    model = carat.fit(planted_table(200), detector="counts", explainer=explainer, graph=graph, metapaths=paths)
    assert graph.metapaths is None
    assert not [name for part in (explainer, graph) for name in vars(part) if name.endswith("_")]
    assert model.graph is not None
    assert model.graph.metapaths_ == (("Port", "Good"), ("Carrier", "Buyer"))
    paths[0].append("Buyer")
    assert model.schema.metapaths == (("Port", "Good"), ("Carrier", "Buyer"))


def test_clones_share_nothing_but_arguments() -> None:
    for part in (Ape(dim=4), CountsExplainer(smoothing=0.5), KnowledgeGraph(metapaths=[["A", "B"]])):
        twin = part.clone()
        assert type(twin) is type(part)
        assert twin.params() == part.params()
        assert twin is not part
    graph = KnowledgeGraph(metapaths=[["A", "B"]])
    twin = graph.clone()
    assert twin.metapaths is not graph.metapaths
    assert Ape(dim=4).clone(dim=8).dim == 8


def test_an_unfitted_forest_stays_unfitted() -> None:
    forest = IsolationForest(n_estimators=10, random_state=0)
    model = carat.fit(planted_table(300), detector=forest, profile="instant")
    assert not hasattr(forest, "estimators_")
    assert isinstance(model.detector, SklearnDetector)
    assert hasattr(model.detector.estimator_, "estimators_")


def encoded(table: pa.Table, model: carat.Model) -> Any:
    from carat.detectors.encodings import encode

    return encode(model.vocabulary.encode(table.to_pylist()), model.vocabulary, "onehot", sparse=True)


def test_a_fitted_forest_is_used_as_it_is() -> None:
    table = planted_table(300)
    words = carat.fit(table, profile="instant", explainer=False)
    forest = IsolationForest(n_estimators=10, random_state=0).fit(encoded(table.slice(0, 100), words))
    trees = [copy.deepcopy(tree.tree_.threshold) for tree in forest.estimators_]
    model = carat.fit(table, detector=forest, profile="instant", explainer=False)
    assert isinstance(model.detector, SklearnDetector)
    assert model.detector.estimator_ is forest
    assert all(np.array_equal(a, b.tree_.threshold) for a, b in zip(trees, forest.estimators_, strict=True))
    expected = forest.score_samples(encoded(table, words)).astype(np.float32)
    np.testing.assert_allclose(model.score(table)["score"].to_numpy(), expected, rtol=1e-5)


class Trusting:
    """A detector of one's own that takes whatever it is given."""

    def fit(self, rows: Any) -> Trusting:
        self.n_features_in_ = rows.shape[1]
        return self

    def score_samples(self, rows: Any) -> np.ndarray:
        return np.zeros(rows.shape[0])


@pytest.mark.parametrize("thing", [IsolationForest(n_estimators=5), Trusting()], ids=["forest", "trusting"])
@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        (
            "onehot",
            "came fitted on 3 columns, but the encoding 'onehot' has 60; give it unfitted, or",
        ),
        ("ordinal", "came fitted on 3 columns, but the encoding 'ordinal' has 4"),
        (None, "came fitted on 3 columns, but the table as text has 4"),
    ],
)
def test_a_detector_that_was_fitted_on_something_else_is_refused(thing: Any, encoding: Any, said: str) -> None:
    other = copy.deepcopy(thing).fit(np.zeros((10, 3)))
    with pytest.raises(InputError) as caught:
        carat.fit(planted_table(300), detector=other, encoding=encoding, profile="instant", explainer=False)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_detector_fitted_on_something_else_is_not_attached(tmp_path: Path) -> None:
    carat.fit(planted_table(300), detector=Trusting(), profile="instant", explainer=False).save(tmp_path / "m")
    with pytest.raises(InputError, match=r"fitted on 3 columns.*has 60; give the one that the model was fitted with"):
        carat.load(tmp_path / "m", detector=Trusting().fit(np.zeros((10, 3))))
    named = IsolationForest(n_estimators=5).fit(pd.DataFrame({"a": [1, 2], "b": [1, 2]}))
    with pytest.raises(InputError, match="on columns of its own"):
        carat.fit(planted_table(300), detector=named, profile="instant")


def test_where_the_number_of_columns_fits_by_chance_carat_says_so(caplog: pytest.LogCaptureFixture) -> None:
    """Four columns of anything look like four columns of ids."""
    forest = IsolationForest(n_estimators=5).fit(np.random.default_rng(0).random((50, 4)))
    carat.fit(planted_table(300), detector=forest, encoding="ordinal", profile="instant", explainer=False)
    assert "carat can't check that it learned from the same columns, encoded the same way" in caplog.text
    assert "the encoding 'ordinal', 4 columns" in caplog.text
    caplog.clear()
    carat.fit(planted_table(300), detector=IsolationForest(n_estimators=5), profile="instant", explainer=False)
    own = pipeline().fit(planted_table(300).to_pandas())
    carat.fit(planted_table(300), detector=own, encoding=None, profile="instant", explainer=False)
    assert "can't check" not in caplog.text, "one that carat fits, and one that knows the names of its columns"


def pipeline() -> Any:
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), IsolationForest(n_estimators=20, random_state=0))


@pytest.mark.parametrize("library", [pd.DataFrame, pa.table])
@pytest.mark.parametrize("fitted", [False, True])
def test_a_pipeline_encodes_by_itself(fitted: bool, library: Any) -> None:
    table = library(planted_table(300).to_pydict())
    own = pipeline()
    if fitted:
        own.fit(planted_table(300).to_pandas())
    model = carat.fit(table, detector=own, encoding=None, profile="instant", explainer=False)
    expected = pipeline().fit(planted_table(300).to_pandas())
    if fitted:
        scores = np.asarray(model.score(table)["score"])
        np.testing.assert_allclose(scores, expected.score_samples(planted_table(300).to_pandas()), rtol=1e-5)
    assert len(model.score(table)) == 300


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (IsolationForest, "got the class IsolationForest; write IsolationForest\\(\\)"),
        (LogisticRegression(), "LogisticRegression is a classifier"),
    ],
    ids=["class", "classifier"],
)
def test_typical_mistakes_get_one_clear_line(thing: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        carat.fit(planted_table(300), detector=thing)


def test_an_unfitted_detector_at_load_is_told(tmp_path: Path) -> None:
    model = carat.fit(planted_table(300), detector=IsolationForest(random_state=0), profile="instant")
    model.save(tmp_path / "m")
    with pytest.raises(InputError, match=r"IsolationForest is not fitted.*model\.detector\.estimator_"):
        carat.load(tmp_path / "m", detector=IsolationForest(random_state=0))
    assert isinstance(model.detector, SklearnDetector)
    assert (
        carat.load(tmp_path / "m", detector=model.detector.estimator_)
        .score(planted_table(300))
        .equals(model.score(planted_table(300)))
    )


def test_an_adapter_given_to_load_is_not_changed(tmp_path: Path) -> None:
    model = carat.fit(planted_table(300), detector=lambda rows: np.zeros(len(rows)), profile="instant")
    model.save(tmp_path / "m")
    adapter = carat.detectors.CallableDetector(model.detector.function)  # type: ignore[union-attr]
    carat.load(tmp_path / "m", detector=adapter)
    assert vars(adapter).keys() == {"function", "takes"}


def library_of(rows: Any) -> np.ndarray:
    """A detector whose scores betray the library of the frame it was given."""
    kind = type(rows).__module__.split(".")[0]
    offset = {"pandas": 1000.0, "polars": 2000.0, "pyarrow": 3000.0}[kind]
    names = rows.column_names if kind == "pyarrow" else list(rows.columns)
    columns = [rows[name].to_pylist() if kind == "pyarrow" else list(rows[name]) for name in names]
    return offset + np.array([float(sum(len(str(text)) for text in row)) for row in zip(*columns, strict=True)])


LIBRARIES = (pd.DataFrame, pl.DataFrame, pa.table)


def test_eight_threads_get_what_one_gets() -> None:
    """Score, explain and repair frames of three libraries at once, with a detector from outside among the models."""
    table = planted_table(400)
    outside = carat.fit(table, profile="instant", detector=library_of)
    models = [instant_of("counts"), base(), outside]
    rows = frame([*corrupted()[0], *twice_corrupted()]).to_pydict()

    def ask(number: int) -> list[Any]:
        model, data = models[number % 3], LIBRARIES[number // 3 % 3](rows)
        scores, likelihood = model.score(data), model.explain(data)
        result = model.recourse(data, k=3, all=True, budget=100, constraints={"immutable": ["Port"]})
        kinds = [type(scores), type(likelihood), type(result.to_frame())]
        texts = [str(pa.table(nested(part))) for part in (scores, likelihood)]
        return [*kinds, *texts, result.to_arrow().to_pylist(), result.records]

    questions = list(range(9)) * 4
    alone = [ask(number) for number in range(9)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(ask, questions))
    assert together == [alone[number] for number in questions]


def nested(part: Any) -> dict[str, list[Any]]:
    if isinstance(part, pa.Table):
        return dict(part.to_pydict())
    return {str(name): [None if cell is None else str(cell) for cell in part[name]] for name in part.columns}


def test_a_model_stays_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """`to` gives another model; here there is one device, so a made-up one stands in for it."""
    model = base()
    assert model.to("cpu") is model
    moved = model.to(torch.device("meta"))
    assert moved is not model
    assert moved.explainer is not model.explainer
    assert moved.device == torch.device("meta")
    assert model.device == torch.device("cpu")
    assert model.vocabulary is moved.vocabulary
