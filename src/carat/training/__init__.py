"""The one training loop, with early stopping and checkpoints that a killed run resumes from."""

from carat.training.determinism import deterministic
from carat.training.loop import History, TrainableNetwork, train
from carat.training.plan import Plan
from carat.training.run import Run

__all__ = [
    "train",
    "deterministic",
    "Plan",
    "Run",
    "History",
    "TrainableNetwork",
]
