"""The one training loop, with progress, early stopping, and checkpoints that a killed run resumes from."""

from carat.training.loop import History, Plan, TrainableNetwork, train
from carat.training.progress import Progress, Silent, Stage, Watched, terminal_progress
from carat.training.run import Run, pick_device

__all__ = [
    "train",
    "Plan",
    "Run",
    "History",
    "TrainableNetwork",
    "Progress",
    "Stage",
    "Silent",
    "Watched",
    "terminal_progress",
    "pick_device",
]
