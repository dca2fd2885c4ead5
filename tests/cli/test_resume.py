"""A fit that is killed goes on where it was, with the same model at its end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pytest
import torch

from carat.cli import run
from carat.fitting.store import read_folder


def wait_for(file: Path, process: subprocess.Popen[Any]) -> None:
    """Until the process has written a file, or has ended."""
    end = time.monotonic() + 300
    while not file.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)


def command(folder: Path, out: str, *options: str) -> list[str]:
    return ["fit", str(folder / "t.csv"), "--out", str(folder / out), "--device", "cpu", *options]


@pytest.mark.slow
def test_a_killed_fit_resumes_to_the_same_model(planted: pa.Table, tmp_path: Path) -> None:
    """A real SIGKILL between two stages: the first is finished and on disk, the second is under way."""
    pyarrow.csv.write_csv(planted.slice(0, 600), tmp_path / "t.csv")
    killed = subprocess.Popen([sys.executable, "-m", "carat", *command(tmp_path, "killed")], stderr=subprocess.DEVNULL)
    checkpoint = tmp_path / "killed.partial" / "pretrain.safetensors"
    wait_for(checkpoint, killed)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL, "the run must not have ended before it was killed"
    assert not (tmp_path / "killed").exists()
    assert run(command(tmp_path, "killed")) == 2, "an unfinished fit is neither resumed nor thrown away unasked"
    assert run(command(tmp_path, "killed", "--resume")) == 0
    assert not (tmp_path / "killed.partial").exists()
    assert run(command(tmp_path, "whole")) == 0
    resumed, whole = read_folder(tmp_path / "killed"), read_folder(tmp_path / "whole")
    for name, tensors in whole.tensors.items():
        for key, tensor in tensors.items():
            assert torch.equal(tensor, resumed.tensors[name][key]), f"{name} {key}"


@pytest.mark.slow
def test_who_interrupts_a_fit_is_told_how_to_go_on(planted: pa.Table, tmp_path: Path) -> None:
    pyarrow.csv.write_csv(planted.slice(0, 600), tmp_path / "t.csv")
    stopped = subprocess.Popen(
        [sys.executable, "-m", "carat", *command(tmp_path, "m")], stderr=subprocess.PIPE, text=True
    )
    wait_for(tmp_path / "m.partial" / "fit.json", stopped)
    stopped.send_signal(signal.SIGINT)
    said = stopped.communicate()[1]
    assert stopped.returncode == 130, said
    assert "m.partial: progress is saved; to continue, run the same command with --resume" in said
    assert said.splitlines()[-1] == "carat: interrupted"


def test_complete_already_tells_the_same_facts(
    planted: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow.csv.write_csv(planted.slice(0, 100), tmp_path / "t.csv")
    options = ["--profile", "instant", "--json"]
    assert run(command(tmp_path, "m", *options)) == 0
    first = capsys.readouterr().out
    assert run(command(tmp_path, "m", "--resume", *options)) == 0
    assert capsys.readouterr().out == first


def test_nothing_to_resume_is_said(planted: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow.csv.write_csv(planted.slice(0, 100), tmp_path / "t.csv")
    assert run(command(tmp_path, "m", "--resume", "--profile", "instant")) == 0
    assert "m.partial: nothing to resume, starting from the beginning" in capsys.readouterr().err


def test_resuming_with_other_settings_is_refused(
    planted: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pyarrow.csv.write_csv(planted.slice(0, 100), tmp_path / "t.csv")
    (tmp_path / "m.partial").mkdir()
    (tmp_path / "m.partial" / "fit.json").write_text('{"seed": 1}', encoding="utf-8")
    options = ["--profile", "instant"]
    assert run(command(tmp_path, "m", "--resume", *options)) == 2
    assert "other data or settings" in capsys.readouterr().err
    assert run(command(tmp_path, "m", "--force", *options)) == 0
    assert (tmp_path / "m" / "manifest.json").exists()


def test_a_damaged_claim_is_said(planted: pa.Table, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pyarrow.csv.write_csv(planted.slice(0, 100), tmp_path / "t.csv")
    (tmp_path / "m.partial").mkdir()
    (tmp_path / "m.partial" / "fit.json").write_text('{"data": ', encoding="utf-8")
    assert run(command(tmp_path, "m", "--resume", "--profile", "instant")) == 2
    assert "m.partial and start over" in capsys.readouterr().err


def test_resuming_replaces_the_model_that_was_to_be_replaced(planted: pa.Table, tmp_path: Path) -> None:
    """`fit --force` over a model was interrupted; `--resume` alone must be enough to end it."""
    pyarrow.csv.write_csv(planted.slice(0, 100), tmp_path / "t.csv")
    assert run(command(tmp_path, "m", "--profile", "instant", "--quiet")) == 0
    (tmp_path / "m.partial").mkdir()
    assert run(command(tmp_path, "m", "--profile", "instant", "--seed", "3", "--resume")) == 0
    assert read_folder(tmp_path / "m").facts["training"]["seed"] == 3
