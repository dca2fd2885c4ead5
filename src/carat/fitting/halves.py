"""The held-out records in two halves: what is chosen on one is measured on the other."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data import TrainingData
from carat.training import Run


def halves(data: TrainingData, run: Run) -> tuple[Tensor, Tensor]:
    """Held-out records int64 [a, m] to choose by, and others [b, m] to measure on; as the judge splits them."""
    generator = torch.Generator().manual_seed(run.seed_of("judge"))
    held_out = (data.held_out if len(data.held_out) else data.train).to(torch.int64)
    shuffled = held_out[torch.randperm(len(held_out), generator=generator)]
    first, second = shuffled.tensor_split(2)
    return first, second
