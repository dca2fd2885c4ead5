"""The stability run: `carat` with either detector on what each of them finds strangest."""

from __future__ import annotations

import pytest
import torch

from carat.data import Schema
from carat.experiments import make_trial
from carat.experiments.contest import Contest
from carat.experiments.stability import SHARE, stability
from carat.fitting import fit
from carat.graph import KnowledgeGraph
from carat.recourse import Settings
from carat.training import Run
from tests.support.planted import DOMAINS, planted_table
from tests.support.small import small


@pytest.fixture(scope="module")
def contest() -> Contest:
    trial = make_trial(planted_table(1400), Schema(domains=DOMAINS), train_rows=600, tested=20)
    model = fit(
        trial.train,
        domains=DOMAINS,
        detector="mead",
        explainer=small(epochs=(3, 3, 2)),
        graph=KnowledgeGraph(epochs=3),
        device="cpu",
    )
    return Contest.of(trial, model, Run(device=torch.device("cpu")))


def test_each_detector_has_its_figures(contest: Contest) -> None:
    found = stability(contest, Settings(k=5))
    assert list(found) == ["ape", "mead"]
    for by_metric in found.values():
        assert list(by_metric) == ["sparsity_index", "conditional_correctness", "coherence"]
        # A change of one to all four domains: 1 / (1 + changed / 4).
        assert 0.5 <= by_metric["sparsity_index"][0] <= 0.8
        assert 0 <= by_metric["conditional_correctness"][0] <= 1
        assert by_metric["coherence"][0] >= 0
    assert found["ape"] != found["mead"]


def test_the_anomalies_are_the_detectors_own_lowest(contest: Contest, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: dict[str, torch.Tensor] = {}
    make = Contest.method

    def spying(self: Contest, name: str) -> object:
        method = make(self, name)

        class Spy:
            name = "carat"

            def find(self, ids: torch.Tensor, settings: Settings, score: torch.Tensor | None = None) -> object:
                asked[detector] = ids
                return method.find(ids, settings, score)

        detector = self.model.detector.name
        return Spy()

    monkeypatch.setattr(Contest, "method", spying)
    stability(contest, Settings(k=2))
    later = contest.trial.later
    scores = contest.model.detector.score(later)
    count = max(int(len(later) * SHARE), 1)
    assert torch.equal(asked["mead"], later[scores.argsort(stable=True)[:count]])
    assert set(asked) == {"ape", "mead"}


def test_the_contest_is_left_alone(contest: Contest) -> None:
    before = contest.model.identity
    stability(contest, Settings(k=2))
    assert contest.model.detector.name == "mead"
    assert contest.model.contents().facts["detector"]["name"] == "mead"
    assert contest.model.identity == before
