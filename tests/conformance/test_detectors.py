"""One suite over every detector: carat's own, and adapters around detectors from outside."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch
from pyod.models.hbos import HBOS
from pyod.models.iforest import IForest
from sklearn.ensemble import IsolationForest
from sklearn.svm import OneClassSVM

import carat
from carat.data import MISSING, UNSEEN
from carat.detectors import DETECTORS, FittedDetector
from carat.protocols import Detector
from tests.support.planted import DOMAINS, group_agreement, record

Maker = Callable[[], Any]


OUTSIDE: dict[str, Maker] = {
    "callable": lambda: group_agreement,
    "sklearn IsolationForest": lambda: IsolationForest(n_estimators=300, random_state=0),
    "sklearn OneClassSVM": lambda: OneClassSVM(nu=0.05),
    "pyod IForest one-hot": lambda: carat.detectors.PyodDetector(
        IForest(n_estimators=300, random_state=0), encoding="onehot"
    ),
    "pyod HBOS frequency": lambda: carat.detectors.PyodDetector(HBOS(), encoding="frequency"),
}
# These look at one column at a time, or nearly so: a record of common entities is normal to them, whatever the context.
BLIND_TO_CONTEXT = ("sklearn IsolationForest", "pyod IForest one-hot", "pyod HBOS frequency")
EVERY: dict[str, Maker] = {**{name: partial(str, name) for name in DETECTORS}, **OUTSIDE}


@pytest.fixture(scope="module", params=list(EVERY))
def case(request: pytest.FixtureRequest, planted: pa.Table) -> tuple[str, carat.Model]:
    return request.param, carat.fit(planted, explainer=False, detector=EVERY[request.param]())


def ids_of(model: carat.Model, *records: dict[str, str]) -> torch.Tensor:
    return model.vocabulary.encode(records)


NORMAL = [record(Port=g, Good=g, Carrier=g, Buyer=g) for g in range(6)]
STRANGE = [record(Port=g, Good=(g + 1) % 6, Carrier=(g + 2) % 6, Buyer=g) for g in range(6)]


def test_is_a_detector(case: tuple[str, carat.Model]) -> None:
    assert isinstance(case[1].detector, Detector)


def test_shapes_and_batch_sizes(case: tuple[str, carat.Model]) -> None:
    _, model = case
    ids = ids_of(model, *NORMAL)
    for count in (0, 1, 6):
        scores = model.detector.score(ids[:count])
        assert scores.shape == (count,)
        assert scores.dtype == torch.float32
        assert scores.isfinite().all()


def test_higher_is_more_normal(case: tuple[str, carat.Model]) -> None:
    name, model = case
    if name in BLIND_TO_CONTEXT:
        return
    normal, strange = model.detector.score(ids_of(model, *NORMAL)), model.detector.score(ids_of(model, *STRANGE))
    assert float(normal.min()) > float(strange.max())


@pytest.mark.parametrize("name", BLIND_TO_CONTEXT)
def test_rare_is_less_normal(name: str) -> None:
    """What detectors without a sense of context can tell: five records of entities that hardly ever occur."""
    common, rare = ["p1", "p2"], ["p9"]
    table = pa.table(dict.fromkeys(("A", "B", "C"), common * 300 + rare * 5))
    model = carat.fit(table, explainer=False, detector=EVERY[name]())
    scores = model.score(table)["score"].to_numpy()
    assert scores[-5:].max() < scores[:-5].min()


def test_rows_are_independent(case: tuple[str, carat.Model]) -> None:
    _, model = case
    ids = ids_of(model, *NORMAL, *STRANGE)
    order = torch.randperm(len(ids), generator=torch.Generator().manual_seed(0))
    scores = model.detector.score(ids)
    torch.testing.assert_close(model.detector.score(ids[order]), scores[order])
    one_by_one = torch.cat([model.detector.score(row[None]) for row in ids])
    torch.testing.assert_close(one_by_one, scores)


def test_missing_and_unseen_entities_are_no_reason_to_fail(case: tuple[str, carat.Model]) -> None:
    _, model = case
    ids = ids_of(model, *NORMAL)
    for reserved in (MISSING, UNSEEN):
        for known in range(5):
            part = ids.clone()
            part[:, known:] = reserved
            assert model.detector.score(part).isfinite().all(), f"{known} known entities, the rest {reserved}"


def test_missing_entities_leave_the_verdict(case: tuple[str, carat.Model]) -> None:
    """With the Buyer gone, normal records still score above strange ones, and on the same scale."""
    name, model = case
    if not isinstance(model.detector, FittedDetector):
        return
    normal, strange = ids_of(model, *NORMAL), ids_of(model, *STRANGE)
    full = model.detector.score(normal)
    for ids in (normal, strange):
        ids[:, 3] = MISSING
    gap = full - model.detector.score(strange)
    assert float(model.detector.score(normal).min()) > float(model.detector.score(strange).max()), name
    assert float((model.detector.score(normal) - full).abs().mean()) < float(gap.mean())


def test_too_little_known_is_neutral(case: tuple[str, carat.Model]) -> None:
    _, model = case
    if not isinstance(model.detector, FittedDetector):
        return
    ids = ids_of(model, *NORMAL)
    ids[:, 1:] = MISSING
    scores = model.detector.score(ids)
    assert scores.unique().numel() == 1
    assert 40 <= float(model.percentile(scores)[0]) <= 60


def test_scores_survive_saving(case: tuple[str, carat.Model], tmp_path: Path) -> None:
    _, model = case
    model.save(tmp_path / "model")
    inside = isinstance(model.detector, FittedDetector)
    loaded = carat.load(tmp_path / "model", detector=None if inside else model.detector)
    ids = ids_of(model, *NORMAL, *STRANGE)
    assert torch.equal(loaded.detector.score(ids), model.detector.score(ids))
    assert torch.equal(loaded.reference, model.reference)


def test_moves_between_devices(case: tuple[str, carat.Model]) -> None:
    _, model = case
    ids = ids_of(model, *NORMAL, *STRANGE)
    before = model.detector.score(ids)
    devices = ["cpu", "cuda", "cpu"] if torch.cuda.is_available() else ["cpu"]
    for device in devices:
        model.to(device)
        scores = model.detector.score(ids.to(device))
        assert scores.device.type == device
        torch.testing.assert_close(scores.cpu(), before, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", list(DETECTORS))
def test_same_seed_same_bits(name: str, planted: pa.Table) -> None:
    models = [carat.fit(planted, explainer=False, detector=name, seed=7, device="cpu") for _ in range(2)]
    ids = ids_of(models[0], *NORMAL, *STRANGE)
    assert torch.equal(models[0].detector.score(ids), models[1].detector.score(ids))


@pytest.mark.parametrize("name", list(DETECTORS))
def test_trains_with_missing_entities_everywhere(name: str, planted: pa.Table) -> None:
    """Half of the Ports and a third of the Goods are null; the verdict stays right and null is no entity."""
    rows = planted.num_rows
    table = planted.set_column(
        0, "Port", pa.array([None if i % 2 else planted["Port"][i].as_py() for i in range(rows)])
    )
    table = table.set_column(
        1, "Good", pa.array([None if i % 3 == 0 else planted["Good"][i].as_py() for i in range(rows)])
    )
    model = carat.fit(table, explainer=False, detector=name)
    assert model.vocabulary.entities == sum(len(planted[name].unique()) for name in DOMAINS)
    normal, strange = model.detector.score(ids_of(model, *NORMAL)), model.detector.score(ids_of(model, *STRANGE))
    assert float(normal.min()) > float(strange.max())
