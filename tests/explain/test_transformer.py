"""The explainer as a whole: three stages, resumed and repeated."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
import torch

import carat
from carat.explain import CountsExplainer, TransformerExplainer, targets
from carat.explain.calibration import Calibration
from carat.testing.parts import trained
from carat.training import Run
from tests.support.interrupts import Bomb, Interrupted
from tests.support.planted import record
from tests.support.small import small, training_data


def test_stages_share_what_they_should(planted: pa.Table) -> None:
    explainer = small(epochs=(2, 2, 2)).fit(training_data(planted))
    pretrained = explainer.pretrained_.encoder.state_dict()
    frozen, tuned = explainer.frozen_.encoder.state_dict(), explainer.tuned_.encoder.state_dict()
    assert all(torch.equal(pretrained[name], frozen[name]) for name in pretrained)
    assert not torch.equal(pretrained["embedding"], tuned["embedding"])
    assert list(explainer.history_) == ["pretrain", "decoder-p", "fine-tune"]


def test_frozen_view_is_the_papers_explainer(planted: pa.Table) -> None:
    model = carat.fit(planted, explainer=small(epochs=(20, 20, 2)), detector="counts")
    explainer = model.explainer
    assert isinstance(explainer, TransformerExplainer)
    strange = model.vocabulary.encode([{**record(Port=1, Good=1, Carrier=1, Buyer=1), "Carrier": "Carrier-4a"}])
    likelihood = explainer.frozen.likelihood(strange)
    assert targets(likelihood).tolist() == [[False, False, True, False]]
    assert not torch.equal(likelihood, explainer.likelihood(strange))


def test_reading_versions_is_reading_records(planted: pa.Table) -> None:
    """The shortcut over versions of a record gives what reading each of them by itself does."""
    data = training_data(planted)
    explainer = small(epochs=(3, 3, 3)).fit(data)
    explainer.frozen_share_ = 0.0
    base = data.held_out[:5].long()
    base[0, 3] = 0
    versions = base[:, None].repeat(1, 4, 1)
    versions[:, 1, 2] = 2
    versions[:, 2, :2] = 3
    versions[:, 3] = data.train[:5].long()
    one_by_one = explainer.log_likelihood(versions.flatten(0, 1)).nan_to_num(nan=0.0).sum(dim=1).view(5, 4)
    torch.testing.assert_close(explainer.read(base, versions), one_by_one, rtol=1e-4, atol=1e-4)
    assert explainer.read(base[:0], versions[:0]).shape == (0, 4)
    short = explainer.read(base, versions, short=True)
    torch.testing.assert_close(short, one_by_one, rtol=2e-2, atol=5e-2)
    alone = [explainer.read(base[row : row + 1], versions[row : row + 1], short=True) for row in range(len(base))]
    torch.testing.assert_close(torch.cat(alone), short, rtol=1e-3, atol=1e-3)


def test_the_frozen_pair_has_its_share(planted: pa.Table) -> None:
    data = training_data(planted)
    explainer = small(epochs=(3, 3, 3)).fit(data)
    ids = data.held_out[:20].long()
    explainer.calibration_ = dict.fromkeys(("frozen", "tuned"), Calibration())
    with torch.no_grad():
        tuned, frozen = explainer.tuned_(ids), explainer.frozen_(ids)
    for share in (0.0, 0.25):
        explainer.frozen_share_ = share
        torch.testing.assert_close(explainer.logits(ids), (1 - share) * tuned + share * frozen, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("at", [30, 120, 190])
def test_a_killed_fit_resumes_to_the_same_weights(tmp_path: Path, at: int, planted: pa.Table) -> None:
    """The interruption falls into the first, the second and the third stage."""
    data = training_data(planted)
    whole = small(epochs=(3, 2, 2), batch_size=32).fit(data, Run(seed=1))

    run = Run(seed=1, checkpoints=tmp_path, checkpoint_seconds=0, observer=Bomb(at))
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


def test_a_domain_of_very_many_entities_is_weighed_a_few_records_at_a_time(
    planted: pa.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    explainer = trained().explainer
    assert isinstance(explainer, TransformerExplainer)
    ids = training_data(planted).held_out[:20]
    wanted = torch.rand(ids.shape, generator=torch.Generator().manual_seed(0)) < 0.5

    def weighed() -> tuple[torch.Tensor, int]:
        found, most = torch.zeros((len(ids), ids.shape[1], 30)), 0
        for domain, rows, log_probability in explainer.log_probability(ids, wanted):
            found[rows, domain, : log_probability.shape[1]] = log_probability
            most = max(most, len(rows))
        return found, most

    whole, at_once = weighed()
    own, best = explainer.standing(ids)
    monkeypatch.setattr("carat.explain.transformer.CELLS", 24 * 3)
    few, fewer = weighed()
    assert at_once > 3 >= fewer > 0
    torch.testing.assert_close(few, whole)
    torch.testing.assert_close(explainer.standing(ids), (own, best))
