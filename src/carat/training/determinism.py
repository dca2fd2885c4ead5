"""Runs that repeat."""

from __future__ import annotations

import torch


class deterministic:  # noqa: N801 - reads as a function
    """On the CPU, runs repeat bit for bit; on a GPU that would cost too much and is not promised.

    torch has one switch for all threads: who trains several networks at once wraps it all in this once more.
    """

    def __init__(self, device: torch.device) -> None:
        self.active = device.type == "cpu"

    def __enter__(self) -> None:
        self.before = torch.are_deterministic_algorithms_enabled()
        if self.active:
            torch.use_deterministic_algorithms(True)

    def __exit__(self, *_: object) -> None:
        if self.active:
            torch.use_deterministic_algorithms(self.before)
