"""Training on several processes: each computes its share of every batch, and all take the same step.

What is random is drawn by every process for the whole batch, from the same generator, and cut afterwards. So a step is
the one that a single process would take, up to the rounding of sums. What a network does not cut is computed by every
process, and the average over all of them is what each of them has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import Tensor, nn

from carat.errors import InputError
from carat.launched import Launched

T = TypeVar("T")


@dataclass(frozen=True)
class Team:
    """The processes that train together; by default there is one.

    Args:
        rank: number of this process; 0 leads: it alone prints, keeps checkpoints and saves.
        size: how many there are.
        local: number of this process among those on its machine.
    """

    rank: int = 0
    size: int = 1
    local: int = 0

    @property
    def leads(self) -> bool:
        """Whether this is the process that speaks and writes."""
        return self.rank == 0

    def rows(self, *batch: Tensor) -> tuple[Tensor, ...]:
        """This process's share of tensors [b, ...]; all of them where there are fewer rows than processes."""
        count = len(batch[0])
        if self.size == 1 or count < self.size:
            return batch
        mine = slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)
        return tuple(tensor[mine] for tensor in batch)

    def ratio(self, total: Tensor, weight: Tensor) -> Tensor:
        """A weighted mean of the whole batch: `total` and `weight` are the sums of this process's share.

        What comes back is scaled so that its average over all processes is the mean; its gradient likewise.
        """
        if self.size == 1:
            return total / weight.clamp(min=1)
        whole = weight.detach().clone()
        dist.all_reduce(whole)
        return self.size * total / whole.clamp(min=1)

    def mean(self, values: Tensor) -> Tensor:
        """The mean of values [b] of the whole batch, from those of this process's share; scaled as `ratio` is."""
        if self.size == 1:
            return values.mean()
        return self.ratio(values.sum(), torch.tensor(float(values.numel()), device=values.device))

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Replace each tensor by its average over all processes, in place and all at once: each message takes time."""
        if self.size == 1:
            return
        for kind in dict.fromkeys(tensor.dtype for tensor in tensors):
            alike = [tensor for tensor in tensors if tensor.dtype == kind]
            flat = torch.cat([tensor.reshape(-1) for tensor in alike])
            dist.all_reduce(flat)
            flat /= self.size
            for tensor, part in zip(alike, flat.split([tensor.numel() for tensor in alike]), strict=True):
                tensor.copy_(part.view_as(tensor))

    def align(self, network: nn.Module) -> None:
        """Give every process the leader's weights, in place."""
        if self.size > 1:
            for tensor in network.state_dict().values():
                dist.broadcast(tensor, src=0)

    def agreed(self, what: T) -> T:
        """What the leader says; the others' word is not heard."""
        if self.size == 1:
            return what
        said: list[Any] = [what]
        dist.broadcast_object_list(said, src=0)
        found: T = said[0]
        return found

    def check_same(self, what: object, words: str) -> None:
        """Refuse where a process has something else than the leader."""
        if self.agreed(what) != what:
            raise InputError(f"process {self.rank} of {self.size} has {words} than process 0; give them all the same")

    def device(self, wanted: torch.device) -> torch.device:
        """Where this process computes: on a GPU of its own, or on the CPU."""
        if self.size == 1 or wanted.type != "cuda":
            return wanted
        there = torch.cuda.device_count()
        if self.local >= there:
            raise InputError(
                f"there are more processes than GPUs here ({there}): start one for each with --nproc-per-node {there}, "
                "or use cpu for `device`"
            )
        torch.cuda.set_device(self.local)
        return torch.device("cuda", self.local)


ALONE = Team()
"""The usual case."""


@contextmanager
def joined(wanted: bool = True) -> Iterator[Team]:
    """The team of the processes that torchrun started, for as long as the block runs; without it, or them, `ALONE`."""
    launched = Launched.read() if wanted else Launched()
    if launched.size == 1:
        yield ALONE
        return
    if not dist.is_available():
        raise InputError("this torch was built without torch.distributed; start one process only")
    already = dist.is_initialized()
    if not already:
        # Its functions have the group of all processes as a default. An optimizer imports it in passing: were that
        # while there is a group, they would keep it, and torch would abort when the process ends.
        import torch.distributed.nn.functional  # noqa: PLC0415

        try:
            dist.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
        except (
            RuntimeError,
            ValueError,
        ) as error:  # a port in use, a host that nobody knows, a process that never came
            raise InputError(
                f"the {launched.size} processes do not reach each other: {str(error).splitlines()[0]}"
            ) from error
    try:
        yield Team(launched.rank, launched.size, launched.local)
        # Who ends early must not end the others: the leader has a model to write.
        dist.barrier()
    finally:
        if not already:
            dist.destroy_process_group()
