"""The training loop on a network small enough to reason about."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from carat.devices import pick_device
from carat.errors import InputError
from carat.training import Plan, Run, TrainableNetwork, train
from tests.support.interrupts import Bomb, Interrupted

IDS = torch.arange(2, 42, dtype=torch.int32).reshape(20, 2)


class Line(TrainableNetwork):
    """Learns y = 3x from noisy draws, so that its loss uses the generator."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.randn(()))
        self.frozen = nn.Parameter(torch.ones(()), requires_grad=False)
        self.batches: list[list[int]] = []

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        if self.training:
            self.batches.append(ids[:, 0].tolist())
        x = torch.randn(len(ids), generator=generator)
        return (self.slope * x - 3 * x).square().mean()


def fitted(run: Run, plan: Plan | None = None, validation: Tensor | None = None) -> Line:
    with run.seeded("line"):
        network = Line()
    train(
        network, IDS, plan or Plan(epochs=30, batch_size=6, learning_rate=0.3), run, stage="line", validation=validation
    )
    return network


def test_learns() -> None:
    assert float(fitted(Run()).slope.detach()) == pytest.approx(3, abs=0.05)


def test_every_record_once_an_epoch_in_changing_order() -> None:
    network = fitted(Run(), Plan(epochs=2, batch_size=6, learning_rate=0.1))
    first, second = network.batches[:4], network.batches[4:]
    assert [len(batch) for batch in first] == [6, 6, 6, 2]
    assert sorted(sum(first, [])) == sorted(sum(second, [])) == IDS[:, 0].tolist()
    assert first != second


def test_same_seed_same_bits_other_seed_other_bits() -> None:
    slopes = [fitted(Run(seed=seed)).slope.detach() for seed in (1, 1, 2)]
    assert torch.equal(slopes[0], slopes[1])
    assert not torch.equal(slopes[0], slopes[2])


def test_leaves_the_callers_random_state_alone() -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    fitted(Run())
    assert torch.equal(torch.rand(3), expected)


def test_frozen_parameters_stay() -> None:
    assert float(fitted(Run()).frozen) == 1.0


def test_one_cycle_warms_up_and_decays() -> None:
    plan = Plan(epochs=1, learning_rate=1.0)
    rates = [plan.rate(step, 101) for step in range(101)]
    assert rates[0] == pytest.approx(1 / 25)
    assert max(rates) == pytest.approx(1.0)
    assert rates.index(max(rates)) == 30
    assert rates[-1] == pytest.approx(1e-4)
    assert rates[:31] == sorted(rates[:31])
    assert rates[30:] == sorted(rates[30:], reverse=True)
    assert Plan(epochs=1, learning_rate=0.5, schedule="constant").rate(7, 101) == 0.5


class Worsening(TrainableNetwork):
    """Its validation loss is the best after the third epoch."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(()))
        self.epochs = 0

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        if not self.training:
            self.epochs += 1
            return torch.tensor([5.0, 4.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0][self.epochs - 1])
        return -self.weight  # grows at every step


def test_early_stopping_keeps_the_best_weights() -> None:
    network = Worsening()
    plan = Plan(epochs=8, batch_size=20, learning_rate=0.1, schedule="constant", patience=2)
    history = train(network, IDS, plan, Run(), stage="worsening", validation=IDS)
    assert history.epochs == 5
    assert (history.best, history.best_epoch) == (1.0, 2)
    assert float(network.weight.detach()) == pytest.approx(0.3, abs=1e-4), "three steps of 0.1"
    assert not network.training


def test_a_loss_that_is_not_finite_is_said() -> None:
    class Broken(Line):
        def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
            return self.slope * math.nan

    with pytest.raises(InputError, match="loss is nan after epoch 1"):
        train(Broken(), IDS, Plan(epochs=1), Run(), stage="broken")


def test_no_records_is_said() -> None:
    with pytest.raises(InputError, match="no rows"):
        train(Line(), IDS[:0], Plan(epochs=1), Run(), stage="line")


@pytest.mark.parametrize("at", [1, 5, 17, 119])
def test_resumes_at_any_step_to_the_same_bits(tmp_path: Path, at: int) -> None:
    whole = fitted(Run(seed=3), validation=IDS)

    run = Run(seed=3, checkpoints=tmp_path, checkpoint_seconds=0, observer=Bomb(at))
    with pytest.raises(Interrupted):
        fitted(run, validation=IDS)
    resumed = fitted(Run(seed=3, checkpoints=tmp_path, checkpoint_seconds=0), validation=IDS)
    assert torch.equal(whole.slope, resumed.slope)
    assert len(resumed.batches) < 120, "the second run did not start from the beginning"
    again = fitted(Run(seed=3, checkpoints=tmp_path), validation=IDS)
    assert torch.equal(whole.slope, again.slope)
    assert not again.batches, "a finished stage is not trained again"


def test_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    fitted(Run(checkpoints=tmp_path))
    with pytest.raises(InputError, match="other settings"):
        fitted(Run(checkpoints=tmp_path), Plan(epochs=3))


def test_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    fitted(Run(checkpoints=tmp_path))
    file = tmp_path / "line.safetensors"
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(InputError, match="damaged checkpoint"):
        fitted(Run(checkpoints=tmp_path))


@pytest.mark.slow
def test_a_killed_process_resumes_to_the_same_bits(tmp_path: Path) -> None:
    """A real SIGKILL in the middle of training, after the first checkpoint is on disk."""
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from carat.training import Run
        from tests.training.test_loop import fitted, Plan
        folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
        plan = Plan(epochs=int(sys.argv[2]), batch_size=2, learning_rate=0.3)
        print(repr(float(fitted(Run(seed=4, checkpoints=folder, checkpoint_seconds=0), plan).slope.detach())))
        """
    )
    root = Path(__file__).parents[2]

    def start(folder: Path) -> subprocess.Popen[str]:
        command = [sys.executable, "-c", script, str(folder), "100"]
        return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)

    killed = start(tmp_path / "killed")
    checkpoint = tmp_path / "killed" / "line.safetensors"
    while not checkpoint.exists() and killed.poll() is None:
        pass
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert killed.returncode == -signal.SIGKILL, "the run must not have ended before it was killed"
    resumed = start(tmp_path / "killed").communicate(timeout=120)[0]
    whole = start(tmp_path / "whole").communicate(timeout=120)[0]
    assert resumed == whole != ""


def test_devices() -> None:
    assert pick_device("cpu") == torch.device("cpu")
    assert pick_device("auto").type in ("cpu", "cuda")
    with pytest.raises(InputError, match="auto, cpu or cuda"):
        pick_device("gpu")
