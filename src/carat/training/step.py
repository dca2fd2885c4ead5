"""One optimizer step: plain, or recorded once as a CUDA graph and replayed."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

import torch
from torch import Tensor

from carat.training.team import ALONE, Team

WARM_UP = 3
"""Steps done the plain way before recording, as CUDA graphs want."""


class LossOf(Protocol):
    """A loss of a batch that draws from a generator."""

    def __call__(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """A scalar."""
        ...


class PlainStep:
    """Forward, backward, update."""

    def __init__(
        self,
        loss: LossOf,
        optimizer: torch.optim.Optimizer,
        generator: torch.Generator,
        *,
        mixed: bool = False,
        team: Team = ALONE,
    ) -> None:
        self.loss, self.optimizer, self.generator, self.mixed, self.team = loss, optimizer, generator, mixed, team

    def precision(self) -> AbstractContextManager[object]:
        """bfloat16 for the matrix products on a GPU where it was asked for, else full precision."""
        if not self.mixed:
            return nullcontext()
        # A graph records every cast anew; a cache of casts would outlive the weights that it was made from.
        return torch.autocast("cuda", torch.bfloat16, cache_enabled=False)

    def set_rate(self, rate: float) -> None:
        """The learning rate of the next steps."""
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(rate)
            else:
                group["lr"] = rate

    def __call__(self, batch: Tensor) -> Tensor:
        """Do a step; the loss of the batch before it, detached."""
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision():
            loss = self.loss(batch, self.generator)
        loss.backward()
        loss = loss.detach()
        if self.team.size > 1:
            self._average(loss)
        self.optimizer.step()
        return loss

    def _average(self, loss: Tensor) -> None:
        """Gradients and loss over all processes; what one of them has no gradient of, all must send."""
        parameters = [each for group in self.optimizer.param_groups for each in group["params"]]
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
        self.team.average([*(parameter.grad for parameter in parameters), loss])


class GraphedStep(PlainStep):
    """The same step as one CUDA graph: a small network on a GPU waits for launches, not for arithmetic.

    Only batches of the size recorded are replayed; a shorter last batch takes the plain way.
    """

    def __init__(self, loss: LossOf, optimizer: torch.optim.Optimizer, generator: torch.Generator, size: int) -> None:
        super().__init__(loss, optimizer, generator, mixed=True)
        self.size = size
        self.done = 0
        self.graph: torch.cuda.CUDAGraph | None = None

    def __call__(self, batch: Tensor) -> Tensor:
        """Do a step: plain while warming up, recorded then, replayed after."""
        if len(batch) != self.size:
            return super().__call__(batch)
        self.done += 1
        if self.done <= WARM_UP:
            return self._on_side_stream(batch)
        if self.graph is None:
            self._record(batch)
        assert self.graph is not None
        self.batch.copy_(batch)
        self.graph.replay()
        return self.recorded_loss

    def _on_side_stream(self, batch: Tensor) -> Tensor:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            loss = super().__call__(batch)
        torch.cuda.current_stream().wait_stream(stream)
        return loss

    def _record(self, batch: Tensor) -> None:
        self.batch = batch.clone()
        self.graph = torch.cuda.CUDAGraph()
        self.graph.register_generator_state(self.generator)
        with torch.cuda.graph(self.graph):
            self.recorded_loss = super().__call__(self.batch)
