"""How probably the best proposal for a cell is right: learned from slips, whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from carat.auditing.judging import FOLDS, Lessons, fold_of, restored
from carat.auditing.proposals import SURE, Proposed, propose
from carat.explain.judge import JudgeNetwork
from carat.training import Plan as Training
from carat.training import Run, train
from carat.training.checkpoint import part

EMPTY = 0.95
"""How probably a word for nothing among numbers means an empty cell."""
REWRITTEN = 0.95
"""How probably a date or number in the usual form is right, if it was wrong to write it otherwise."""


@dataclass(frozen=True)
class Trust:
    """How probably a proposal is right, given that its cell is wrong; by fold, learned from the other rows' slips."""

    networks: tuple[JudgeNetwork, ...]

    def tensors(self) -> dict[str, Tensor]:
        """For the folder of a killed audit."""
        return {
            f"{fold}.{name}": tensor
            for fold, network in enumerate(self.networks)
            for name, tensor in network.state_dict().items()
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Trust:
        """The inverse of `tensors`."""
        return cls(tuple(restored(part(dict(tensors), f"{fold}.")) for fold in range(FOLDS)))

    def right(self, proposed: Proposed) -> np.ndarray:
        """P(right | wrong) of proposals, [k]; 0 where there is none."""
        if not len(proposed.row):
            return np.zeros(0)
        told, fold = torch.from_numpy(proposed.told), fold_of(torch.from_numpy(proposed.row))
        with torch.no_grad():
            found = torch.stack([network(told).sigmoid() for network in self.networks])
        right = found.gather(0, (1 - fold)[None]).squeeze(0).double().numpy()
        # Slips can't teach these two: what they replaced by a word for nothing was something, and none of them writes a
        # date in another form.
        right = np.where([text == "" for text in proposed.text], EMPTY, right)
        right = np.where(proposed.same, np.maximum(right, REWRITTEN), right)
        return np.where([text is None for text in proposed.text], 0.0, right)


def learn_trust(lessons: Lessons, errors: list[np.ndarray], doubted: Tensor, run: Run) -> Trust:
    """From the slips that were found in the copies, by what was proposed for them and what had stood there.

    Args:
        lessons: copies with slips.
        errors: for each copy the probability that its cells are wrong, [r, c].
        doubted: cells that are probably wrong in the table itself: what stands there is no truth, bool [r, c].
        run: seed.
    """
    told, right, fold = [], [], []
    for copy, error in zip(lessons.copies, errors, strict=True):
        flagged = torch.from_numpy(error > 0.5)
        where = (flagged & (copy.slips > 0) & ~doubted).nonzero()
        rows, numbers = lessons.rows[where[:, 0].numpy()], where[:, 1].numpy()
        made = propose(copy.eyes, rows, numbers, flagged[where[:, 0]], error[where[:, 0], numbers])
        before = copy.before(where[:, 0].numpy(), numbers)
        told.append(made.told)
        right += [text is not None and (text or None) == truth for text, truth in zip(made.text, before, strict=True)]
        fold.append(fold_of(torch.from_numpy(rows)))
    cells, label = torch.from_numpy(np.concatenate(told)), torch.tensor(right, dtype=torch.float32)
    folds = torch.cat(fold)
    networks = []
    for each in (0, 1):
        mine = folds == each if bool((folds == each).any()) else torch.ones_like(folds, dtype=torch.bool)
        networks.append(_trust_network(cells[mine], label[mine], run, f"audit trust {each}"))
    return Trust(tuple(networks))


def _trust_network(cells: Tensor, right: Tensor, run: Run, stage: str) -> JudgeNetwork:
    with run.seeded(stage):
        network = JudgeNetwork(len(SURE))
    if len(cells) < 20:  # nothing to learn from: half of the proposals, say
        with torch.no_grad():
            for parameter in network.layers[-1].parameters():
                parameter.zero_()
        return network
    network.mean, network.spread = cells.mean(dim=0), cells.std(dim=0).clamp(min=1e-3)
    plan = Training(epochs=15, batch_size=512, learning_rate=5e-3).for_records(len(cells))
    quiet = Run(seed=run.seed, device=torch.device("cpu"))
    train(network, torch.cat([cells, right[:, None]], dim=1), plan, quiet, stage=stage)
    return network
