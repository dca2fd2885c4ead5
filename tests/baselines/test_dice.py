"""DiCE's failure path, without DiCE: what it does in its own process is made up."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from carat.baselines.dice import Dice
from carat.cli import run
from carat.data import Schema, TableWriter
from carat.errors import MethodFailed
from carat.experiments import make_trial
from carat.experiments.bench import Bench, BenchPlan
from carat.experiments.contest import Contest
from carat.fitting import fit
from carat.recourse import Settings
from carat.registry import BASELINES, MethodEntry
from carat.training import Run
from tests.support.parts import anomalies, data, detector, vocabulary
from tests.support.planted import DOMAINS, planted_table

REFERENCE = torch.tensor([-1.0, 0.0, 1.0])


class Searching(Dice):
    """Answers the first records with one of training, then does what its name says."""

    answers = 6
    then = "goes on"

    def _searched(self, anomalies: Tensor, k: int) -> Iterator[Tensor]:
        for row in range(min(self.answers, len(anomalies))):
            yield self.records.train[row : row + 1].long()
        if self.answers < len(anomalies):
            self._end()

    def _end(self) -> None:
        if self.then == "crashes":
            raise KeyError("UA")
        time.sleep(60)


def made(answers: int, then: str, seconds: float = 30.0) -> Searching:
    method = Searching("random", vocabulary(), data(), detector("counts"), REFERENCE, 0.0, seconds)
    object.__setattr__(method, "answers", answers)
    object.__setattr__(method, "then", then)
    return method


def test_what_it_finds_is_scored() -> None:
    ids = anomalies().long()
    outcome = made(6, "goes on").find(ids, Settings(k=3))
    assert outcome.mask.sum(dim=1).tolist() == [1] * 6
    assert torch.equal(outcome.counterfactuals[:, 0], data().train[:6].long())
    assert torch.equal(outcome.score[:, 0], detector("counts").score(data().train[:6]))
    assert outcome.reasons == [None] * 6


def test_a_crash_before_the_first_answer_is_an_error() -> None:
    with pytest.raises(MethodFailed, match="KeyError: 'UA'"):
        made(0, "crashes").find(anomalies().long(), Settings(k=3))


def test_a_crash_later_keeps_what_was_found() -> None:
    outcome = made(2, "crashes").find(anomalies().long(), Settings(k=3))
    assert outcome.mask.any(dim=1).tolist() == [True, True, False, False, False, False]
    assert outcome.reasons == [None, None, *["KeyError: 'UA'"] * 4]


def test_a_time_out_is_said_and_the_process_ended() -> None:
    began = time.monotonic()
    outcome = made(1, "hangs", seconds=2.0).find(anomalies().long(), Settings(k=3))
    assert time.monotonic() - began < 30
    assert outcome.mask.any(dim=1).sum() == 1
    assert outcome.reasons[-1] == "time-out: 1 of 6 anomalies in 2 s"
    with pytest.raises(MethodFailed, match="time-out: 0 of 6 anomalies in 0.2 s"):
        made(0, "hangs", seconds=0.2).find(anomalies().long(), Settings(k=3))


def test_a_failure_is_a_cell_and_a_line_of_the_tables(tmp_path: Path) -> None:
    with TableWriter(tmp_path / "planted.parquet") as writer:
        writer.write(planted_table(800))
    with (
        BASELINES.added(MethodEntry("failing", "failing", "#000000", lambda parts: made(0, "crashes"), in_all=False)),
        BASELINES.added(MethodEntry("late", "late", "#000000", lambda parts: made(1, "hangs", 1.0), in_all=False)),
    ):
        plan = BenchPlan(
            data=(str(tmp_path / "planted.parquet"),),
            methods=("failing", "late"),
            anomalies=10,
            k=3,
            profile="instant",
            detectors=("counts",),
        )
        bench = Bench(plan, tmp_path / "out")
        cells = {cell.key.method: cell for cell in bench.run() if cell.key.kind == "method"}
        bench.write(bench.cells())
    assert cells["failing"].error == "KeyError: 'UA'"
    assert cells["failing"].measured is None
    late = cells["late"].measured
    assert late is not None
    assert late.coverage == pytest.approx(0.1)
    assert late.note == "time-out: 1 of 10 anomalies in 1 s"
    page = (tmp_path / "out/tables.md").read_text(encoding="utf-8")
    assert "| planted | failing | KeyError: 'UA' |" in page
    assert "| planted | late | time-out: 1 of 10 anomalies in 1 s |" in page


def test_without_the_package_the_extra_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if importlib.util.find_spec("dice_ml") is not None:
        pytest.skip("dice-ml is installed")
    with TableWriter(tmp_path / "planted.parquet") as writer:
        writer.write(planted_table(800))
    command = ["bench", "--data", str(tmp_path / "planted.parquet"), "--methods", "dice-random", "--anomalies", "10"]
    command += ["--profile", "instant", "--detector", "counts", "--out", str(tmp_path / "out"), "--quiet"]
    assert run(command) == 2
    assert "carat-recourse[dice]" in capsys.readouterr().err


def test_it_gets_ten_anomalies_at_most() -> None:
    assert BASELINES["dice-random"].anomalies(400) == 10
    assert BASELINES["rceaa"].anomalies(400) == 40
    trial = make_trial(planted_table(900), Schema(domains=DOMAINS), train_rows=600, tested=40)
    model = fit(trial.train, domains=DOMAINS, profile="instant", device="cpu")
    contest = Contest.of(trial, model, Run(device=torch.device("cpu")))
    assert len(contest.measured("replace-m", Settings(k=2), 10).rank) == 10
