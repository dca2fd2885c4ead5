"""The one training loop: every model of carat is trained by `train`."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from carat.errors import InputError
from carat.observing import Silent
from carat.training.checkpoint import pack, part, read_checkpoint, unpack, write_checkpoint
from carat.training.determinism import deterministic
from carat.training.plan import Plan
from carat.training.run import Run
from carat.training.step import GraphedStep, PlainStep
from carat.training.team import ALONE, Team

WARM_UP_STEPS = 5
"""Steps before the clock runs: the first ones allocate, and on a GPU they are recorded."""
FEWEST_STEPS, TIMED_STEPS, TIMED_SECONDS = 5, 40, 1.0
"""Steps that are timed: at least so many, then until there are enough of them or a second has gone."""


class TrainableNetwork(nn.Module, ABC):
    """Base of everything that `train` takes: a module with a `loss`."""

    team: Team = ALONE
    """The processes that train it, while they do."""

    @abstractmethod
    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Mean loss of a batch of records ids [b, m], a scalar; corruptions are drawn from the generator.

        To share the work among processes, draw for the whole batch, go on with `team.rows` of it, and end with
        `team.ratio` or `team.mean`. A network that does not is computed by each process as a whole.
        """


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
        run: seed, device, progress, checkpoints, and where this stage has a number of steps there, how many.
        stage: name of this training among the checkpoints.
        label: what the progress display calls it; None takes the stage.
        validation: held-out records, [v, m].
    """
    if not len(ids):
        raise InputError(f"{stage}: there are no rows to train on")
    plan = replace(plan, steps=run.steps.get(stage, plan.steps))
    with _together(network, run, stage), deterministic(run.device):
        return _Trainer(network, ids, plan, run, stage, validation, label or stage).run_to_end()


def pace(
    network: TrainableNetwork, ids: Tensor, plan: Plan, run: Run, *, stage: str, validation: Tensor | None = None
) -> float:
    """Seconds that a step of `train` with these arguments will take, its share of the validation included.

    It takes a few steps to find out, so the network is one to throw away. Nothing else changes: no checkpoint is
    written, and the random numbers of the caller stay as they were.
    """
    apart = replace(run, observer=Silent(), checkpoints=None, steps={})
    on = [run.device] if run.device.type == "cuda" else []
    with torch.random.fork_rng(devices=on), _together(network, run, stage), deterministic(run.device):
        return _Trainer(network, ids, plan, apart, stage, validation, stage).pace()


@contextmanager
def _together(network: TrainableNetwork, run: Run, stage: str) -> Iterator[None]:
    """The network with the team that trains it; what dropout draws then differs from process to process."""
    with ExitStack() as stack:
        if run.team.size > 1:
            on = [run.device] if run.device.type == "cuda" else []
            stack.enter_context(torch.random.fork_rng(devices=on))
            torch.manual_seed(run.seed_of("dropout", stage, run.team.rank))
        network.team = run.team
        try:
            yield
        finally:
            network.team = ALONE


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
        self.steps_an_epoch, self.steps = plan.steps_an_epoch(len(ids)), plan.steps_in_all(len(ids))
        parameters = [p for p in network.parameters() if p.requires_grad]
        self.generator = torch.Generator(run.device).manual_seed(run.seed_of("batches", stage))
        mixed = plan.accelerate and run.device.type == "cuda"
        graphed = mixed and run.team.size == 1
        rate = torch.tensor(plan.learning_rate, device=run.device) if graphed else plan.learning_rate
        self.optimizer = torch.optim.Adam(parameters, lr=rate, fused=True, capturable=graphed)
        self.do_step = (
            GraphedStep(network.loss, self.optimizer, self.generator, plan.batch_size)
            if graphed
            else PlainStep(network.loss, self.optimizer, self.generator, mixed=mixed, team=run.team)
        )
        self.history = History()
        self.epoch, self.step = 0, 0
        self.epoch_loss = torch.zeros((), dtype=torch.float64, device=run.device)
        self.best: dict[str, Tensor] = {}
        self.began = self.saved = time.monotonic()

    def run_to_end(self) -> History:
        finished = self._resume()
        self.run.team.align(self.network)
        bar = self.run.observer.stage(self.label, self.steps)
        bar.advance(min(self._done(), self.steps))
        while not finished:
            self.network.train()
            for batch in self._batches():
                self._train_step(batch)
                bar.advance(1)
                self._save_if_due()
            self._end_epoch()
            finished = self._done() >= self.steps or self.history.stalled(self.plan.patience)
        bar.advance(max(self.steps - self._done(), 0))
        if self.best:
            self.network.load_state_dict(self.best)
        self.network.eval()
        self.history.seconds += time.monotonic() - self.began
        self._save(finished=True)
        return self.history

    def pace(self) -> float:
        """Seconds a step, by taking a few."""
        self.network.train()
        batches = list(islice(self._batches(), WARM_UP_STEPS + TIMED_STEPS))
        for number in range(WARM_UP_STEPS):
            self._train_step(batches[number % len(batches)])
        began, taken = self._now(), 0
        # All processes must take as many steps as the leader.
        while taken < FEWEST_STEPS or self.run.team.agreed(taken < TIMED_STEPS and self._now() - began < TIMED_SECONDS):
            self._train_step(batches[(WARM_UP_STEPS + taken) % len(batches)])
            taken += 1
        step = (self._now() - began) / taken
        if self.validation is None:
            return step
        some = self.validation[: 2 * self.plan.batch_size]
        began = self._now()
        self._validate(some)
        return step + (self._now() - began) * len(self.validation) / len(some) / self.steps_an_epoch

    def _now(self) -> float:
        if self.run.device.type == "cuda":
            torch.cuda.synchronize(self.run.device)
        return self.run.clock()

    def _done(self) -> int:
        """Steps so far; an epoch that ended early counts as whole."""
        return self.epoch * self.steps_an_epoch + self.step

    def _batches(self) -> Iterator[Tensor]:
        """What is left of this epoch; the order follows from seed and epoch alone, so a resumed run has it too."""
        shuffle = torch.Generator().manual_seed(self.run.seed_of("order", self.stage, self.epoch))
        order = torch.randperm(len(self.ids), generator=shuffle).to(self.run.device)
        left = self.steps - self.epoch * self.steps_an_epoch
        for index in order.split(self.plan.batch_size)[self.step : left]:
            yield self.ids[index]

    def _train_step(self, batch: Tensor) -> None:
        self.do_step.set_rate(self.plan.rate(self._done(), self.steps))
        # Summed on the device: reading it out at every step would make a GPU wait.
        self.epoch_loss += self.do_step(batch) * len(batch)
        self.step += 1

    def _end_epoch(self) -> None:
        # The last epoch may end before it has seen all records.
        mean = float(self.epoch_loss) / min(self.step * self.plan.batch_size, len(self.ids))
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
        self.run.team.average([total])
        # The leader's word, so that all stop at the same epoch and keep the same weights.
        return self.run.team.agreed(float(total)) / len(validation)

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
        found = self.run.team.agreed(None if path is None else read_checkpoint(path))
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
