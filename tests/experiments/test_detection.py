"""What detectors and the gate find, on a table where corrupted records are plain to see."""

from __future__ import annotations

import pytest
import torch

from carat.data import Schema
from carat.experiments import make_trial
from carat.experiments.contest import Contest
from carat.experiments.detection import GATE, Exam, detection
from carat.fitting import fit
from carat.results.gate import Gate
from carat.training import Run
from tests.support.planted import DOMAINS, planted_table


def contest(*, memory: bool) -> Contest:
    trial = make_trial(planted_table(1400), Schema(domains=DOMAINS), train_rows=900, tested=20)
    model = fit(trial.train, domains=DOMAINS, profile="instant", memory=memory, device="cpu")
    return Contest.of(trial, model, Run(device=torch.device("cpu")))


def test_every_detector_and_the_gate() -> None:
    found = detection(contest(memory=True))
    assert list(found) == ["mead", "ape", "counts", GATE]
    for told in found.values():
        assert list(told) == ["roc_auc", "caught_0.01"], "a tenth of a percent of 500 records says nothing"
        assert all(0 <= value <= 1 for value in told.values())
    assert found[GATE]["roc_auc"] >= 0.99
    assert found[GATE]["caught_0.01"] >= 0.9
    assert found["counts"]["roc_auc"] >= 0.95


def test_no_judge_no_gate() -> None:
    assert GATE not in detection(contest(memory=False))


class Constant:
    """A detector that finds every record alike, and a judge that knows."""

    def __init__(self, exam: Exam) -> None:
        self.wrong = {tuple(row) for row in exam.wrong.tolist()}

    def score(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.zeros(len(ids))

    def alarm(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.tensor([float(tuple(row) in self.wrong) for row in ids.tolist()])


def test_figures_by_hand() -> None:
    drawn = torch.arange(400).view(100, 4)
    exam = Exam(drawn, drawn[:10] + 1_000, torch.tensor([True] * 6 + [False] * 4))
    known = Constant(exam)
    assert exam.by_score(known) == {"roc_auc": 0.5, "caught_0.01": 0.0}
    gate = Gate(torch.zeros((1, 2)), 1.0)
    assert exam.by_gate(gate, known, known) == {"roc_auc": 1.0, "caught_0.01": 1.0}
    known.wrong = {tuple(row) for row in exam.wrong[:3].tolist()}
    assert exam.by_gate(gate, known, known)["caught_0.01"] == pytest.approx(0.5)
