"""Training on several processes: real ones, that speak to each other by gloo."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

import carat
from carat.cli import run as run_command
from carat.errors import InputError
from carat.launched import Launched
from carat.testing.parts import training_data
from carat.training import Run
from carat.training.team import ALONE, Team, joined
from tests.support.commands import write_csv
from tests.support.interrupts import Bomb, Interrupted
from tests.training import together

ROOT = Path(__file__).parents[2]
TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")


def start(*command: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run Python to its end, with nothing of a team's environment but what torchrun sets."""
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    kept = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "LOCAL_RANK")}
    return subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**kept, "PYTHONPATH": paths, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """What each of two processes found, and what one by itself does with batches of the same size.

    One training was begun by a single process and killed; the others take it up.
    """
    folder = tmp_path_factory.mktemp("together")
    part = together.PARTS["mead"]()
    run = Run(checkpoints=folder / "checkpoints", checkpoint_seconds=0, observer=Bomb(40))
    with pytest.raises(Interrupted):
        part.fit(training_data(), run)
    shutil.copytree(folder / "checkpoints", folder / "begun")
    done = start(*TORCHRUN, str(ROOT / "tests/training/together.py"), str(folder))
    assert done.returncode == 0, done.stderr
    shutil.rmtree(folder / "checkpoints")
    shutil.copytree(folder / "begun", folder / "checkpoints")
    together.main(folder)
    return {name: json.loads((folder / f"{name}.json").read_text()) for name in ("0", "1", "alone")}


@pytest.mark.slow
@pytest.mark.parametrize("part", [*together.PARTS, "taken up"])
def test_two_processes_have_the_losses_of_one(part: str, runs: dict[str, dict[str, Any]]) -> None:
    """Each takes half of every batch, so one with batches of twice their size takes the same steps."""
    assert runs["0"][part].keys() == runs["alone"][part].keys()
    for stage, alone in runs["alone"][part].items():
        for kind in ("train", "validation"):
            assert len(alone[kind]) > 0 or part == "graph"
            assert runs["0"][part][stage][kind] == pytest.approx(alone[kind], rel=2e-4), (stage, kind)
            assert runs["1"][part][stage][kind] == runs["0"][part][stage][kind]


@pytest.mark.slow
def test_all_processes_have_one_network_and_it_repeats(runs: dict[str, dict[str, Any]]) -> None:
    assert runs["0"]["sum"] == runs["1"]["sum"] == pytest.approx(runs["alone"]["sum"], abs=1e-2)
    assert runs["0"]["repeats"]
    assert runs["1"]["repeats"]
    assert "refused" not in runs["0"]
    assert runs["1"]["refused"] == "process 1 of 2 has other rows than process 0; give them all the same"


@pytest.mark.slow
def test_the_command_under_torchrun(planted: pa.Table, tmp_path: Path) -> None:
    """Said once, written once, and the same model as by one process, within rounding."""
    write_csv(tmp_path / "planted.csv", planted)
    fit = ("fit", "planted.csv", "--profile", "instant", "--detector", "mead", "--no-explainer", "--device", "cpu")
    done = start(*TORCHRUN, "-m", "carat", *fit, "--out", "two", "--steps", "60", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("training takes 60 of") == 1
    assert done.stderr.count("two: 1,200 rows") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["planted.csv", "two"]
    start("-m", "carat", *fit, "--out", "one", "--steps", "60", folder=tmp_path)
    one, two = (carat.load(tmp_path / name).score(planted)["score"].to_pylist() for name in ("one", "two"))
    assert two == pytest.approx(one, rel=1e-3)
    refused = start(*TORCHRUN, "-m", "carat", *fit, "--out", "two", "--steps", "60", folder=tmp_path)
    assert refused.returncode != 0
    assert refused.stderr.count("carat: two: already exists; use --force to replace it") == 1


def test_alone_nothing_changes() -> None:
    values = torch.rand(7)
    assert ALONE.rows(values)[0] is values
    assert torch.equal(ALONE.mean(values), values.mean())
    assert torch.equal(ALONE.ratio(values.sum(), torch.tensor(0.0)), values.sum())
    assert ALONE.agreed("what I say") == "what I say"
    ALONE.check_same(1, "nothing else")


@pytest.mark.parametrize("rows", [1, 2, 5, 8])
def test_shares_make_up_the_batch(rows: int) -> None:
    """Each row once; of a batch with fewer rows than processes, all rows for each."""
    batch = torch.arange(rows)
    shares = [Team(rank, 3).rows(batch)[0] for rank in range(3)]
    expected = batch.repeat(3) if rows < 3 else batch
    assert torch.equal(torch.cat(shares), expected)


def test_set_ups_that_cannot_work_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Launched.read({"WORLD_SIZE": "1", "RANK": "0"}) == Launched()
    whole = {"WORLD_SIZE": "2", "RANK": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"}
    assert Launched.read(whole) == Launched(1, 2, 1)
    for changed, said in (
        ({"MASTER_PORT": ""}, "MASTER_PORT is not set: start the processes with torchrun"),
        ({"RANK": "2"}, "RANK is 2, but must be less than WORLD_SIZE, which is 2"),
        ({"WORLD_SIZE": "two"}, "WORLD_SIZE must be a whole number, got 'two'"),
        ({"WORLD_SIZE": "0"}, "WORLD_SIZE must be a whole number, got '0'"),
    ):
        with pytest.raises(InputError, match=said):
            Launched.read({**whole, **changed})
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    with pytest.raises(InputError, match=r"more processes than GPUs here \(1\): start one for each"):
        Team(1, 2, 1).device(torch.device("cuda"))
    assert Team(1, 2, 1).device(torch.device("cpu")) == torch.device("cpu")


def test_a_lone_process_is_told_what_is_missing(
    planted: pa.Table, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "planted.csv", planted)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(InputError, match="RANK is not set"), joined():
        pass
    assert run_command(["fit", "planted.csv", "--out", "model"]) == 2
    assert "WORLD_SIZE is 2, but RANK is not set: start the processes with torchrun" in capsys.readouterr().err
    for name, value in (("RANK", "0"), ("MASTER_ADDR", "localhost"), ("MASTER_PORT", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "none")
    assert run_command(["score", "model", "planted.csv"]) == 2
    assert "torchrun is for carat fit; run carat score by itself" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["planted.csv"]
