"""How long and how fast to train."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How long and how fast to train.

    Args:
        epochs: passes over the records.
        steps: so many steps instead, be they less than a pass or many; None takes the epochs.
        batch_size: records a step.
        learning_rate: peak of the one-cycle schedule, or the constant rate.
        schedule: `one-cycle` warms up over the first 30 % and decays to nearly nothing; `constant` is the paper's.
        patience: stop after so many epochs without a better validation loss; None trains to the end.
        keep_best: end with the weights of the best validation loss, else with the last ones.
        accelerate: on a GPU, bfloat16 products and the step as one CUDA graph.
    """

    epochs: int
    steps: int | None = None
    batch_size: int = 512
    learning_rate: float = 5e-3
    schedule: Literal["one-cycle", "constant"] = "one-cycle"
    patience: int | None = None
    keep_best: bool = True
    accelerate: bool = False

    def for_records(self, count: int) -> Plan:
        """Smaller batches for a small table (at least 50 a pass, at least 32 records each): it needs its steps too."""
        return replace(self, batch_size=min(self.batch_size, max(32, count // 50)))

    def steps_an_epoch(self, records: int) -> int:
        """Batches in one pass over so many records."""
        return math.ceil(records / self.batch_size)

    def steps_in_all(self, records: int) -> int:
        """Steps until the end, over so many records."""
        return self.epochs * self.steps_an_epoch(records) if self.steps is None else self.steps

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
