"""The explainer as a whole: three stages, resumed and repeated."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.explain import CountsExplainer, targets
from carat.training import Run
from tests.explain.small import small, training_data
from tests.interrupts import Bomb, Interrupted
from tests.planted import record


def test_stages_share_what_they_should(planted: pa.Table) -> None:
    explainer = small(epochs=(2, 2, 2)).fit(training_data(planted))
    pretrained = explainer.pretrained_.encoder.state_dict()
    frozen, tuned = explainer.frozen_.encoder.state_dict(), explainer.tuned_.encoder.state_dict()
    assert all(torch.equal(pretrained[name], frozen[name]) for name in pretrained)
    assert not torch.equal(pretrained["embedding"], tuned["embedding"])
    assert list(explainer.history_) == ["pretrain", "decoder-p", "fine-tune"]


def test_frozen_view_is_the_papers_explainer(planted: pa.Table) -> None:
    explainer = small(epochs=(20, 20, 2))
    model = carat.fit(planted, explainer=explainer, detector="counts")
    strange = model.vocabulary.encode([{**record(Port=1, Good=1, Carrier=1, Buyer=1), "Carrier": "Carrier-4a"}])
    likelihood = explainer.frozen.likelihood(strange)
    assert targets(likelihood).tolist() == [[False, False, True, False]]
    assert not torch.equal(likelihood, explainer.likelihood(strange))


@pytest.mark.parametrize("at", [30, 120, 190])
def test_a_killed_fit_resumes_to_the_same_weights(tmp_path: Path, at: int, planted: pa.Table) -> None:
    """The interruption falls into the first, the second and the third stage."""
    data = training_data(planted)
    whole = small(epochs=(3, 2, 2), batch_size=32).fit(data, Run(seed=1))

    run = Run(seed=1, checkpoints=tmp_path, checkpoint_seconds=0, progress=Bomb(at))
    with pytest.raises(Interrupted):
        small(epochs=(3, 2, 2), batch_size=32).fit(data, run)
    resumed = small(epochs=(3, 2, 2), batch_size=32).fit(data, Run(seed=1, checkpoints=tmp_path))
    for name, tensor in whole.tensors().items():
        assert torch.equal(tensor, resumed.tensors()[name]), name


def test_forty_domains() -> None:
    columns = {f"D{d}": [f"{d}-{(i + d) % 5 if d % 2 else i % 5}" for i in range(300)] for d in range(40)}
    data = training_data(pa.table(columns))
    for explainer in (small(epochs=(1, 1, 1)), CountsExplainer()):
        likelihood = explainer.fit(data).likelihood(data.train[:7])
        assert likelihood.shape == (7, 40)
        assert likelihood.isfinite().all()


def test_two_domains() -> None:
    data = training_data(pa.table({"A": list("ab") * 100, "B": list("xy") * 100}))
    for explainer in (small(), CountsExplainer()):
        explainer.fit(data)
        good, bad = data.vocabulary.encode([{"A": "a", "B": "x"}]), data.vocabulary.encode([{"A": "a", "B": "y"}])
        assert float(explainer.likelihood(good).min()) > float(explainer.likelihood(bad).min())
