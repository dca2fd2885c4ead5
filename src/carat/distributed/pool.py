"""A pool of workers: tasks go out in order and come back in order, and what a dead worker had is done again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Any, Self

from carat._version import __version__
from carat.distributed.worker import Task
from carat.errors import CaratError, InputError

AHEAD = 4
"""Tasks for each worker that may be done before the first one that is not: what they give is held meanwhile."""
TRIES = 3
"""Workers that may die of one task before it is given up."""
PATIENCE = 300.0
"""Seconds within which the first worker must be ready."""
STEP = 1.0
"""Seconds between two looks at whether somebody asked to stop."""


class Holder:
    """A worker process: holds something, and does tasks with it."""

    def __init__(self, take: Callable[[], Any], version: str) -> None:
        self._take, self._version = take, version

    def ready(self) -> bool:
        """Take what there is to hold, and answer then."""
        if self._version != __version__:
            raise InputError(
                f"a worker has carat {__version__}, this machine {self._version}; install the same on both"
            )
        self._held = self._take()
        return True

    def run(self, task: Task) -> Any:
        """Do a task."""
        return task.run(self._held)


class Pool:
    """Workers of a cluster.

    Args:
        ray: the module, connected.
        take: gives a worker what it holds.
        workers: how many; None is as many as the cluster has processors, or GPUs.
        gpu: whether each takes a GPU.
        check: is called every second; whoever wants to stop raises.
    """

    def __init__(
        self,
        ray: Any,
        take: Callable[[], Any],
        *,
        workers: int | None = None,
        gpu: bool = False,
        check: Callable[[], object] | None = None,
    ) -> None:
        self.ray, self._take, self._check = ray, take, check or (lambda: None)
        found = int(ray.cluster_resources().get("GPU" if gpu else "CPU", 0))
        if workers is None and not found:
            raise InputError(f"the cluster has no {'GPUs' if gpu else 'processors'}; add machines to it")
        self.workers = workers or found
        self._actor = ray.remote(num_cpus=1, num_gpus=int(gpu), max_restarts=0)(Holder)
        self._waiting: dict[Any, tuple[Any, int | None]] = {}
        """By what is waited for: the worker, and the number of its task; None while it gets ready."""
        self._idle: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The workers are sent home."""
        for worker in [*self._idle, *(worker for worker, _ in self._waiting.values())]:
            self.ray.kill(worker)

    def run(self, tasks: Sequence[Task]) -> Iterator[Any]:
        """What the tasks give, in order."""
        left, done, tries = deque(range(len(tasks))), {}, [0] * len(tasks)
        next_up, began = 0, time.monotonic()
        while len(self._idle) + len(self._waiting) < min(self.workers, len(tasks)):
            self._hire()
        while next_up < len(tasks):
            while self._idle and left and left[0] < next_up + AHEAD * self.workers:
                worker, number = self._idle.pop(), left.popleft()
                self._waiting[worker.run.remote(tasks[number])] = (worker, number)
            for number, outcome in self._answers():
                if outcome is not None:
                    done[number] = outcome
                    continue
                tries[number] += 1
                if tries[number] == TRIES:
                    raise InputError(
                        f"{TRIES} workers died of {tasks[number]}; is there enough memory? Try fewer workers"
                    )
                left.appendleft(number)
            if not self._idle and all(number is None for _, number in self._waiting.values()):
                self._check_patience(began)
            else:
                began = time.monotonic()
            while next_up in done:
                yield done.pop(next_up)
                next_up += 1

    def _hire(self) -> None:
        worker = self._actor.remote(self._take, __version__)
        self._waiting[worker.ready.remote()] = (worker, None)

    def _answers(self) -> Iterator[tuple[int, Any]]:
        """Numbers of tasks and what they gave; None where the worker died."""
        self._check()
        found, _ = self.ray.wait(list(self._waiting), num_returns=1, timeout=STEP) if self._waiting else ([], [])
        for each in found:
            worker, number = self._waiting.pop(each)
            try:
                outcome = self.ray.get(each)
            except self.ray.exceptions.RayTaskError as error:
                raise _own(error) from error
            except self.ray.exceptions.RayActorError:
                self._hire()
                if number is not None:
                    yield number, None
                continue
            self._idle.append(worker)
            if number is not None:
                yield number, outcome

    def _check_patience(self, began: float) -> None:
        if time.monotonic() - began > PATIENCE:
            raise InputError("no worker could be started; are processors free, and is carat installed there?")


def _own(error: Any) -> Exception:
    """carat's own error from a worker, else the one that Ray reports."""
    return _cause(error) or RuntimeError(f"a worker failed: {error}")


def _cause(error: Any) -> CaratError | None:
    cause = getattr(error, "cause", None) or error.__cause__
    return cause if isinstance(cause, CaratError) else None
