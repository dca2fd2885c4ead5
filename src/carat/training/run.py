"""What a training run is given from outside: seed, device, observer, place for checkpoints."""

from __future__ import annotations

import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import torch

from carat.observing import Observer, Silent
from carat.training.team import ALONE, Team


@dataclass(frozen=True, kw_only=True)
class Run:
    """Shared by all stages of one `fit`.

    Args:
        seed: every random choice of every stage follows from it.
        device: where tensors live.
        observer: is told of stages and remarks.
        checkpoints: a folder for checkpoints; None keeps none.
        checkpoint_seconds: at most this much work is lost when the run is killed.
        steps: for some of the stages, how many steps they train instead of their epochs.
        clock: what steps are timed by, in seconds.
        team: the processes that train together.
    """

    seed: int = 0
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))
    observer: Observer = field(default_factory=Silent)
    checkpoints: Path | None = None
    checkpoint_seconds: float = 15.0
    steps: Mapping[str, int] = field(default_factory=dict)
    clock: Callable[[], float] = time.perf_counter
    team: Team = ALONE

    def seed_of(self, *names: object) -> int:
        """A seed for one purpose, different for every purpose and the same on every machine."""
        return zlib.crc32(repr((self.seed, *names)).encode())

    @contextmanager
    def seeded(self, stage: str) -> Iterator[None]:
        """Initial weights drawn inside follow from the seed and leave the caller's random state alone."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed_of("weights", stage))
            yield
