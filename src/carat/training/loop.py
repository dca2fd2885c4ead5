"""The one training loop: every model of carat is trained by `train`."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from carat.errors import InputError
from carat.training.checkpoint import pack, part, read_checkpoint, unpack, write_checkpoint
from carat.training.run import Run
from carat.training.step import GraphedStep, PlainStep


class TrainableNetwork(nn.Module, ABC):
    """Base of everything that `train` takes: a module with a `loss`."""

    @abstractmethod
    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Mean loss of a batch of records ids [b, m], a scalar; corruptions are drawn from the generator."""


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long and how fast to train.

    Args:
        epochs: passes over the records.
        batch_size: records a step.
        learning_rate: peak of the one-cycle schedule, or the constant rate.
        schedule: `one-cycle` warms up over the first 30 % and decays to nearly nothing; `constant` is the paper's.
        patience: stop after so many epochs without a better validation loss; None trains to the end.
        keep_best: end with the weights of the best validation loss, else with the last ones.
        accelerate: on a GPU, bfloat16 products and the step as one CUDA graph.
    """

    epochs: int
    batch_size: int = 512
    learning_rate: float = 5e-3
    schedule: Literal["one-cycle", "constant"] = "one-cycle"
    patience: int | None = None
    keep_best: bool = True
    accelerate: bool = False

    def for_records(self, count: int) -> Plan:
        """Smaller batches for a small table (at least 50 a pass, at least 32 records each): it needs its steps too."""
        return replace(self, batch_size=min(self.batch_size, max(32, count // 50)))

    def rate(self, step: int, steps: int) -> float:
        """Learning rate at a step."""
        if self.schedule == "constant" or steps < 2:
            return self.learning_rate
        warm, position = 0.3, step / (steps - 1)
        if position < warm:
            start, end, share = self.learning_rate / 25, self.learning_rate, position / warm
        else:
            start, end, share = self.learning_rate, self.learning_rate / 1e4, (position - warm) / (1 - warm)
        return end + (start - end) * (1 + math.cos(math.pi * share)) / 2


@dataclass
class History:
    """What happened: a loss for every epoch, the best validation loss and its epoch, the time spent."""

    train: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    best: float = math.inf
    best_epoch: int = -1
    seconds: float = 0.0

    @property
    def epochs(self) -> int:
        """Epochs that were trained."""
        return len(self.train)

    def stalled(self, patience: int | None) -> bool:
        """Whether the validation loss has not improved for so many epochs."""
        return patience is not None and self.epochs - 1 - self.best_epoch >= patience > 0


def train(
    network: TrainableNetwork,
    ids: Tensor,
    plan: Plan,
    run: Run,
    *,
    stage: str,
    label: str | None = None,
    validation: Tensor | None = None,
) -> History:
    """Train a network in place and leave it in evaluation mode, with the best weights seen.

    "Best" is by validation loss where there are validation records, else the last weights.

    Args:
        network: what to train; only parameters that require gradients are.
        ids: training records, [n, m].
        plan: how long and how fast.
        run: seed, device, progress, checkpoints.
        stage: name of this training among the checkpoints.
        label: what the progress display calls it; None takes the stage.
        validation: held-out records, [v, m].
    """
    if not len(ids):
        raise InputError(f"{stage}: there are no rows to train on")
    with _deterministic(run.device):
        return _Trainer(network, ids, plan, run, stage, validation, label or stage).run_to_end()


class _Trainer:
    """State of one training, so that it can be put aside at any step and taken up again."""

    def __init__(
        self,
        network: TrainableNetwork,
        ids: Tensor,
        plan: Plan,
        run: Run,
        stage: str,
        validation: Tensor | None,
        label: str,
    ) -> None:
        self.network = network.to(run.device)
        self.ids = ids.to(run.device)
        self.validation = None if validation is None or not len(validation) else validation.to(run.device)
        self.plan, self.run, self.stage, self.label = plan, run, stage, label
        self.steps_an_epoch = math.ceil(len(ids) / plan.batch_size)
        parameters = [p for p in network.parameters() if p.requires_grad]
        self.generator = torch.Generator(run.device).manual_seed(run.seed_of("batches", stage))
        graphed = plan.accelerate and run.device.type == "cuda"
        rate = torch.tensor(plan.learning_rate, device=run.device) if graphed else plan.learning_rate
        self.optimizer = torch.optim.Adam(parameters, lr=rate, fused=True, capturable=graphed)
        self.do_step = (
            GraphedStep(network.loss, self.optimizer, self.generator, plan.batch_size)
            if graphed
            else PlainStep(network.loss, self.optimizer, self.generator)
        )
        self.history = History()
        self.epoch, self.step = 0, 0
        self.epoch_loss = torch.zeros((), dtype=torch.float64, device=run.device)
        self.best: dict[str, Tensor] = {}
        self.began = self.saved = time.monotonic()

    def run_to_end(self) -> History:
        finished = self._resume()
        bar = self.run.observer.stage(self.label, self.plan.epochs * self.steps_an_epoch)
        bar.advance(self.epoch * self.steps_an_epoch + self.step)
        while not finished:
            self.network.train()
            for batch in self._batches():
                self._train_step(batch)
                bar.advance(1)
                self._save_if_due()
            self._end_epoch()
            finished = self.epoch == self.plan.epochs or self.history.stalled(self.plan.patience)
        bar.advance((self.plan.epochs - self.epoch) * self.steps_an_epoch)
        if self.best:
            self.network.load_state_dict(self.best)
        self.network.eval()
        self.history.seconds += time.monotonic() - self.began
        self._save(finished=True)
        return self.history

    def _batches(self) -> Iterator[Tensor]:
        """What is left of this epoch; the order follows from seed and epoch alone, so a resumed run has it too."""
        shuffle = torch.Generator().manual_seed(self.run.seed_of("order", self.stage, self.epoch))
        order = torch.randperm(len(self.ids), generator=shuffle).to(self.run.device)
        for index in order.split(self.plan.batch_size)[self.step :]:
            yield self.ids[index]

    def _train_step(self, batch: Tensor) -> None:
        step = self.epoch * self.steps_an_epoch + self.step
        self.do_step.set_rate(self.plan.rate(step, self.plan.epochs * self.steps_an_epoch))
        # Summed on the device: reading it out at every step would make a GPU wait.
        self.epoch_loss += self.do_step(batch) * len(batch)
        self.step += 1

    def _end_epoch(self) -> None:
        mean = float(self.epoch_loss) / len(self.ids)
        if not math.isfinite(mean):
            raise InputError(f"{self.stage}: the loss is {mean} after epoch {self.epoch + 1}; lower the learning rate")
        self.history.train.append(mean)
        if self.validation is not None:
            loss = self._validate(self.validation)
            self.history.validation.append(loss)
            if loss < self.history.best:
                self.history.best, self.history.best_epoch = loss, self.epoch
            if self.plan.keep_best and self.history.best_epoch == self.epoch:
                self.best = {name: tensor.clone() for name, tensor in self.network.state_dict().items()}
        self.epoch, self.step = self.epoch + 1, 0
        self.epoch_loss.zero_()

    @torch.no_grad()
    def _validate(self, validation: Tensor) -> float:
        """Loss on the held-out records, corrupted the same way after every epoch."""
        self.network.eval()
        generator = torch.Generator(self.run.device).manual_seed(self.run.seed_of("validation", self.stage))
        total = torch.zeros((), dtype=torch.float64, device=self.run.device)
        with self.do_step.precision():
            for batch in validation.split(self.plan.batch_size):
                total += self.network.loss(batch, generator) * len(batch)
        return float(total) / len(validation)

    # Checkpoints

    def _path(self) -> Path | None:
        return None if self.run.checkpoints is None else self.run.checkpoints / f"{self.stage}.safetensors"

    def _save_if_due(self) -> None:
        if self.run.checkpoints is not None and time.monotonic() - self.saved >= self.run.checkpoint_seconds:
            self._save(finished=False)

    def _facts(self) -> dict[str, Any]:
        """What must be equal for a checkpoint to be this training's."""
        return {"plan": asdict(self.plan), "seed": self.run.seed, "records": len(self.ids)}

    def _save(self, *, finished: bool) -> None:
        path = self._path()
        if path is None:
            return
        tensors = pack(self.network, self.optimizer)
        tensors |= {f"best.{name}": tensor for name, tensor in self.best.items()}
        tensors |= {"generator": self.generator.get_state(), "epoch_loss": self.epoch_loss}
        seconds = self.history.seconds + (0 if finished else time.monotonic() - self.began)
        state = {
            "facts": self._facts(),
            "epoch": self.epoch,
            "step": self.step,
            "finished": finished,
            "history": {**asdict(self.history), "seconds": seconds},
        }
        write_checkpoint(path, tensors, state)
        self.saved = time.monotonic()

    def _resume(self) -> bool:
        """Take up a checkpoint if there is one; whether it was already at its end."""
        path = self._path()
        found = None if path is None else read_checkpoint(path)
        if found is None:
            return False
        tensors, state = found
        if state["facts"] != self._facts():
            raise InputError(
                f"{path}: the checkpoint belongs to a run with other settings or data; start again without it"
            )
        unpack(tensors, self.network, self.optimizer)
        self.best = {name: t.to(self.run.device) for name, t in part(tensors, "best.").items()}
        self.generator.set_state(tensors["generator"])
        self.epoch_loss = tensors["epoch_loss"].to(self.run.device)
        self.epoch, self.step = state["epoch"], state["step"]
        self.history = History(**state["history"])
        return bool(state["finished"])


class _deterministic:  # noqa: N801 - reads as a function
    """On the CPU, runs repeat bit for bit; on a GPU that would cost too much and is not promised."""

    def __init__(self, device: torch.device) -> None:
        self.active = device.type == "cpu"

    def __enter__(self) -> None:
        self.before = torch.are_deterministic_algorithms_enabled()
        if self.active:
            torch.use_deterministic_algorithms(True)

    def __exit__(self, *_: object) -> None:
        if self.active:
            torch.use_deterministic_algorithms(self.before)
