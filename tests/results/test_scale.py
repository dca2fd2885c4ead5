"""A threshold is an object of its own."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch

import carat
from carat import Threshold
from carat.errors import InputError


def test_changes_without_refitting(planted: pa.Table) -> None:
    model = carat.fit(planted, explainer=False, detector="counts")
    for quantile in (0.01, 0.25, 0.9):
        changed = model.with_threshold(quantile)
        assert changed.detector is model.detector
        scored = changed.score(planted)
        limit = float(torch.quantile(model.reference.double(), quantile))
        assert [s < limit for s in scored["score"].to_pylist()] == scored["anomalous"].to_pylist()
    assert model.with_threshold(Threshold(value=1e9)).score(planted)["anomalous"].to_pylist() == [True] * len(planted)


@pytest.mark.parametrize(
    "wrong", [{}, {"quantile": 0.1, "value": 1.0}, {"quantile": 0.0}, {"quantile": 1.5}, {"value": float("nan")}]
)
def test_refuses(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Threshold(**wrong)


def test_survives_saving(planted: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("threshold") / "model"
    model = carat.fit(planted, explainer=False, detector="counts", threshold=Threshold(value=-2.5))
    model.save(path)
    assert carat.load(path).threshold_score == -2.5
