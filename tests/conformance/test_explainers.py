"""One suite over every explainer."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.data import MISSING, UNSEEN
from carat.explain import EXPLAINERS, FittedExplainer, flagged, targets
from carat.protocols import Explainer
from tests.support.planted import DOMAINS, GROUPS, corrupted, record
from tests.support.small import small


def make(name: str) -> FittedExplainer:
    return small() if name == "transformer" else EXPLAINERS[name]()


@pytest.fixture(scope="module", params=list(EXPLAINERS))
def model(request: pytest.FixtureRequest, planted: pa.Table) -> carat.Model:
    return carat.fit(planted, explainer=make(request.param), detector="context")


def explainer_of(model: carat.Model) -> FittedExplainer:
    assert model.explainer is not None
    return model.explainer


NORMAL = [record(Port=g, Good=g, Carrier=g, Buyer=g) for g in range(GROUPS)]


def test_is_an_explainer(model: carat.Model) -> None:
    assert isinstance(model.explainer, Explainer)


def test_shapes_and_batch_sizes(model: carat.Model) -> None:
    ids = model.vocabulary.encode(NORMAL)
    for count in (0, 1, 6):
        likelihood = explainer_of(model).likelihood(ids[:count])
        assert likelihood.shape == (count, 4)
        assert ((likelihood >= 0) & (likelihood <= 1)).all()


def test_the_entity_that_does_not_belong_is_found(model: carat.Model) -> None:
    records, where = corrupted()
    chosen = targets(explainer_of(model).likelihood(model.vocabulary.encode(records)))
    assert chosen.tolist() == [[domain == name for name in DOMAINS] for domain in where]


def test_nothing_is_flagged_where_all_belongs(model: carat.Model) -> None:
    assert not flagged(explainer_of(model).likelihood(model.vocabulary.encode(NORMAL))).any()


def test_missing_has_no_likelihood_and_unseen_a_low_one(model: carat.Model) -> None:
    ids = model.vocabulary.encode(NORMAL)
    ids[:, 1], ids[:, 3] = MISSING, UNSEEN
    likelihood = explainer_of(model).likelihood(ids)
    assert likelihood[:, 1].isnan().all()
    assert (likelihood[:, 3] < 0.5).all()
    assert likelihood[:, [0, 2]].isfinite().all()


def test_nearly_everything_missing_is_no_reason_to_fail(model: carat.Model) -> None:
    ids = torch.full((2, 4), MISSING, dtype=torch.int32)
    ids[0, 0] = 2
    likelihood = explainer_of(model).likelihood(ids)
    assert likelihood.isnan().tolist() == [[False, True, True, True], [True] * 4]


def test_rows_are_independent(model: carat.Model) -> None:
    ids = model.vocabulary.encode(corrupted()[0])
    likelihood = explainer_of(model).likelihood(ids)
    one_by_one = torch.cat([explainer_of(model).likelihood(row[None]) for row in ids])
    torch.testing.assert_close(one_by_one, likelihood, rtol=1e-4, atol=1e-5)


def test_calibrated(model: carat.Model) -> None:
    facts = explainer_of(model).facts()["calibration"]
    facts = facts.get("tuned", facts)
    assert facts["error_after"] <= facts["error_before"]
    assert facts["error_after"] < 0.1


def test_survives_saving(model: carat.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "model")
    loaded = carat.load(tmp_path / "model")
    ids = model.vocabulary.encode(corrupted()[0])
    assert torch.equal(explainer_of(loaded).likelihood(ids), explainer_of(model).likelihood(ids))
    assert torch.equal(loaded.detector.score(ids), model.detector.score(ids))


def test_context_detector_sums_log_likelihoods(model: carat.Model) -> None:
    ids = model.vocabulary.encode(corrupted()[0])
    expected = explainer_of(model).likelihood(ids).log().sum(dim=1)
    torch.testing.assert_close(model.detector.score(ids), expected, rtol=1e-3, atol=1e-3)
    ids[:, 0] = MISSING
    expected = explainer_of(model).likelihood(ids)[:, 1:].log().sum(dim=1) * 4 / 3
    torch.testing.assert_close(model.detector.score(ids), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", list(EXPLAINERS))
def test_same_seed_same_bits(name: str, planted: pa.Table) -> None:
    made = [
        carat.fit(
            planted, explainer=small(epochs=(2, 1, 1)) if name == "transformer" else make(name), detector="counts"
        )
        for _ in range(2)
    ]
    ids = made[0].vocabulary.encode(corrupted()[0])
    assert torch.equal(*(explainer_of(model).likelihood(ids) for model in made))
