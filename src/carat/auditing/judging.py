"""The judge of an audit: taught by slips made in copies of the table, and kept from learning that errors are right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import torch
from torch import Tensor
from torch.nn import functional

from carat.auditing.signals import Eyes, Sight
from carat.auditing.suspicion import suspicious
from carat.auditing.table import AuditTable
from carat.data.slips import KINDS, Spoiled, slip
from carat.explain.calibration import fit_calibration
from carat.explain.judge import JudgeNetwork
from carat.observing import Stage
from carat.threads import side_by_side
from carat.training import Plan as Training
from carat.training import Run, deterministic, train
from carat.training.checkpoint import part

SHARE = 0.05
"""Of the cells that get a slip in each copy."""
WEIGHTS = {"typo": 3.0, "other": 2.0}
"""How many times as often as the other kinds these are made: they look the most different from each other."""
CELLS = 240_000
"""Cells of all copies together, about."""
COPIES = 12
"""Copies of a small table."""
ROWS = 15_000
"""Rows of a large table that are spoiled in each copy."""
NETWORKS = 4
"""Networks that judge together: one alone is too sure of what it has never seen."""
UNTOUCHED = 4
"""Untouched cells for each slip that the judge learns from."""
ROUNDS = 3
"""Times that the judge learns; what it finds suspicious the first time teaches no more the second time."""
FOLDS = 2
"""A cell is judged by networks that have not learned from its row."""


KNOWN_SHARE, KNOWN_MOST = 0.1, 30
"""Decided cells count for this share of what is learned from, but each for no more than so many slips."""
FEWEST_RIGHT = 3
"""Odd cells of a column that must have been decided to be right before they teach that: one blank that may stay says
nothing about the others."""
DROPPED = 0.1
"""Share of the signals that a network is not told while it learns: each must count for something without the others,
for real errors are never quite like slips."""
EPOCHS = 16
WIDTH = 64


class AuditNetwork(JudgeNetwork):
    """From signals [.., F] to the logit that a cell is right [..]; learns with some signals left out."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, WIDTH)

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy; the last column of ids [b, F + 1] says whether the cell is right."""
        told = ids[:, :-1]
        kept = torch.rand(told.shape, generator=generator, device=told.device) >= DROPPED
        logits = self(torch.where(kept, told, self.mean))
        return functional.binary_cross_entropy_with_logits(logits, ids[:, -1])


@dataclass(frozen=True)
class Copy:
    """A copy of the table with slips.

    Args:
        eyes: look at it.
        sight: the rows that were spoiled, or some of them.
        slips: kinds of the slips, 1 + place in `KINDS`, 0 for untouched, int64 [r, c].
        spoiled: what was done; rows count within the spoiled part.
    """

    eyes: Eyes
    sight: Sight
    slips: Tensor
    spoiled: Spoiled

    def before(self, rows: np.ndarray, numbers: np.ndarray) -> list[str | None]:
        """What stood in cells (rows within the spoiled part, columns that take part) that got a slip."""
        order = {
            (row, column): place
            for place, (row, column) in enumerate(
                zip(self.spoiled.row.tolist(), self.spoiled.column.tolist(), strict=True)
            )
        }
        places = self.eyes.plan.places
        index = [order[row, places[number]] for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)]
        texts: list[str | None] = self.spoiled.before.take(pa.array(index, pa.int64())).to_pylist()
        return texts


class Lessons:
    """Copies of a table with slips, looked at.

    Args:
        eyes: on the table.
        texts: the table as an Arrow table of text.
        run: seed and observer.
        kinds: of slips.
    """

    def __init__(self, eyes: Eyes, texts: pa.Table, run: Run, kinds: Sequence[str] = KINDS) -> None:
        table, plan = eyes.table, eyes.plan
        generator = np.random.default_rng(run.seed_of("audit lessons"))
        columns = max(len(plan.places), 1)
        self.rows = np.sort(generator.permutation(table.rows)[:ROWS])
        count = int(np.clip(round(CELLS / max(len(self.rows) * columns, 1)), 1, COPIES))
        stage = run.observer.stage("making practice errors", count)
        self.copies = []
        for number in range(count):
            self.copies.append(_copy(eyes, texts, self.rows, run.seed_of("audit copy", str(number)), kinds))
            stage.advance()
        stage.finish()


def _copy(like: Eyes, texts: pa.Table, rows: np.ndarray, seed: int, kinds: Sequence[str]) -> Copy:
    """One copy of the table with slips in some rows."""
    table, plan = like.table, like.plan
    part = texts if len(rows) == table.rows else texts.take(pa.array(rows))
    # By place, for two columns may have the same name.
    part = part.rename_columns([str(place) for place in range(part.num_columns)])
    weights = {kind: WEIGHTS.get(kind, 1.0) for kind in kinds}
    made = slip(part, share=SHARE, kinds=weights, columns=[str(place) for place in plan.places], seed=seed)
    whole = made.table
    if len(rows) < table.rows:
        chosen = np.zeros(table.rows, dtype=bool)
        chosen[rows] = True
        mask = pa.array(chosen)
        whole = pa.table(
            [
                pc.replace_with_mask(before.combine_chunks(), mask, after.combine_chunks())
                for before, after in zip(texts.columns, made.table.columns, strict=True)
            ],
            names=made.table.column_names,
        )
    eyes = Eyes(AuditTable.of(whole), plan, like)
    kind = np.zeros((len(rows), texts.num_columns), dtype=np.int64)
    kind[made.row, made.column] = 1 + made.kind
    return Copy(eyes, eyes.look(torch.from_numpy(rows)), torch.from_numpy(kind[:, list(plan.places)]), made)


@dataclass(frozen=True)
class Jury:
    """Networks by fold, and the share of slips among what they learned from.

    Args:
        networks: by fold; those of fold f have learned from rows of fold f alone.
        scale: of their logits.
        shift: of their logits.
        share: of slips among what they learned from.
    """

    networks: tuple[tuple[JudgeNetwork, ...], ...]
    scale: float
    shift: float
    share: float

    def logits(self, told: Tensor, rows: Tensor) -> Tensor:
        """Log-odds that cells are wrong, of signals [r, c, F] of some rows, by networks that have not seen them."""
        found = torch.zeros(told.shape[:2])
        for fold, networks in enumerate(self.networks):
            mine = fold_of(rows) != fold
            if mine.any():
                found[mine] = _mean_logit(networks, told[mine])
        return self.scale * found + self.shift

    def tensors(self) -> dict[str, Tensor]:
        """For the folder of a killed audit."""
        facts = {"facts": torch.tensor([self.scale, self.shift, self.share], dtype=torch.float64)}
        return facts | {
            f"{fold}.{number}.{name}": tensor
            for fold, networks in enumerate(self.networks)
            for number, network in enumerate(networks)
            for name, tensor in network.state_dict().items()
        }

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, Tensor]) -> Jury:
        """The inverse of `tensors`."""
        scale, shift, share = tensors["facts"].tolist()
        networks = [
            tuple(restored(part(dict(tensors), f"{fold}.{number}.")) for number in range(NETWORKS))
            for fold in range(FOLDS)
        ]
        return cls(tuple(networks), scale, shift, share)


def restored(tensors: Mapping[str, Tensor]) -> JudgeNetwork:
    """A network from its weights."""
    with torch.random.fork_rng(devices=[]):
        width = len(tensors["layers.0.bias"])
        network = JudgeNetwork(len(tensors["mean"]), width)
    network.load_state_dict(dict(tensors))
    network.eval()
    return network


def fold_of(rows: Tensor) -> Tensor:
    """The fold of rows, int64; neighbours in a table are often alike, so it does not simply alternate."""
    mixed = (rows.to(torch.int64) * 0x9E3779B1) & 0xFFFFFFFF
    return (mixed >> 16) % FOLDS


def _mean_logit(networks: Sequence[JudgeNetwork], told: Tensor) -> Tensor:
    with torch.no_grad():
        return -torch.stack([network(told) for network in networks]).mean(dim=0)


@dataclass(frozen=True)
class Known:
    """Cells of the table that somebody decided about.

    Args:
        told: their signals, float32 [k, F].
        wrong: bool [k].
        barred: which cells of the lessons' rows are no examples of right for that, bool [r, c].
        free: which are, bool [r, c].
    """

    told: Tensor
    wrong: Tensor
    barred: Tensor
    free: Tensor

    @classmethod
    def of(cls, eyes: Eyes, lessons: Lessons, rows: np.ndarray, numbers: np.ndarray, wrong: np.ndarray) -> Known:
        """Of cells (rows, numbers of their columns among those that take part), each int64 [k]."""
        each, back = np.unique(rows, return_inverse=True)
        sight = eyes.look(torch.from_numpy(each))
        allowed = suspicious(eyes, sight).numpy()[back, numbers] & ~wrong
        alone = allowed & (np.bincount(numbers[allowed], minlength=len(eyes.plan.places))[numbers] < FEWEST_RIGHT)
        rows, numbers, wrong, back = rows[~alone], numbers[~alone], wrong[~alone], back[~alone]
        shape = (len(lessons.rows), len(eyes.plan.places))
        barred, free = torch.zeros(shape, dtype=torch.bool), torch.zeros(shape, dtype=torch.bool)
        place = np.searchsorted(lessons.rows, rows)
        there = (place < len(lessons.rows)) & (lessons.rows[np.minimum(place, len(lessons.rows) - 1)] == rows)
        barred[place[there & wrong], numbers[there & wrong]] = True
        free[place[there & ~wrong], numbers[there & ~wrong]] = True
        return cls(sight.told[back, numbers], torch.from_numpy(wrong), barred, free)

    def beside(self, cells: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """What is learned from, [n, F] and [n], with the decided cells: each counts for several slips."""
        # A single decision must not outweigh a whole table.
        most = min(KNOWN_MOST, max(len(self.told), 1))
        times = int(np.clip(KNOWN_SHARE * len(cells) / max(len(self.told), 1), 1, most))
        return torch.cat([cells, self.told.repeat(times, 1)]), torch.cat([label, self.wrong.repeat(times)])


def teach(eyes: Eyes, lessons: Lessons, run: Run, known: Known | None = None) -> tuple[Jury, Tensor]:
    """Learn to tell slips from untouched cells; see `suspicion` for which of these teach nothing.

    Also which cells of the lessons' rows are then probably wrong before any slip, bool [r, c].
    """
    rows = torch.from_numpy(lessons.rows)
    sight = eyes.look(rows)
    barred = suspicious(eyes, sight)
    if known is not None:
        barred = (barred | known.barred) & ~known.free
    stage = run.observer.stage("learning to tell wrong from right", ROUNDS * FOLDS * NETWORKS)
    for number in range(ROUNDS):
        jury = _learn(lessons, rows, barred, run, number, stage, known)
        odds = jury.logits(sight.told, rows)
        error, _ = posterior(odds, jury.share)
        doubted = error > 0.5
        barred = barred | doubted
        if known is not None:
            barred &= ~known.free
    stage.finish()
    return jury, doubted


def _learn(
    lessons: Lessons, rows: Tensor, barred: Tensor, run: Run, number: int, stage: Stage, known: Known | None
) -> Jury:
    told = torch.stack([copy.sight.told for copy in lessons.copies])  # [k, r, c, F]
    wrong = torch.stack([copy.slips > 0 for copy in lessons.copies])
    kept = wrong | ~barred
    fold = fold_of(rows)
    networks = []
    checked: list[tuple[Tensor, Tensor]] = []
    shares = []
    for each in range(FOLDS):
        mine = fold == each
        if not mine.any() or not wrong[:, mine].any():  # a table of a row or two
            mine = torch.ones_like(mine)
        cells, label = told[:, mine][kept[:, mine]], wrong[:, mine][kept[:, mine]]
        cells, label = _balanced(cells, label, run.seed_of("audit cells", str(number), str(each)))
        shares.append(float(label.double().mean()))
        if known is not None:
            cells, label = known.beside(cells, label)
        made = _networks(cells, label, run, [f"audit {number} {each} {member}" for member in range(NETWORKS)], stage)
        networks.append(tuple(made))
        other = ~mine
        if other.any():
            check, truth = told[:, other][kept[:, other]], wrong[:, other][kept[:, other]]
            check, truth = _balanced(check, truth, run.seed_of("audit check", str(number), str(each)))
            checked.append((_mean_logit(made, check), truth))
    share = float(np.mean(shares))
    scale, shift = 1.0, 0.0
    if checked:
        logits, truth = (torch.cat(parts) for parts in zip(*checked, strict=True))
        found = fit_calibration(logits, truth, shift=True)
        scale, shift = found.scale, found.shift
    return Jury(tuple(networks), scale, shift, share)


def _balanced(cells: Tensor, wrong: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """All slips, and some untouched cells for each."""
    generator = torch.Generator().manual_seed(seed)
    slips, right = wrong.nonzero().flatten(), (~wrong).nonzero().flatten()
    right = right[torch.randperm(len(right), generator=generator)[: UNTOUCHED * max(len(slips), 100)]]
    index = torch.cat([slips, right])
    return cells[index], wrong[index]


def _networks(cells: Tensor, wrong: Tensor, run: Run, names: Sequence[str], stage: Stage) -> list[JudgeNetwork]:
    """Networks of different initial weights that learn the same."""
    mean, spread = cells.mean(dim=0), cells.std(dim=0).nan_to_num(nan=1.0).clamp(min=1e-3)
    plan = Training(epochs=EPOCHS, batch_size=1024, learning_rate=5e-3).for_records(len(cells))
    quiet = Run(seed=run.seed, device=torch.device("cpu"))
    told = torch.cat([cells, (~wrong).float()[:, None]], dim=1)
    made: dict[str, JudgeNetwork] = {}
    for name in names:  # one after the other: initial weights come from torch's only random state
        with run.seeded(name):
            made[name] = AuditNetwork(cells.shape[1])
        made[name].mean, made[name].spread = mean, spread
    with deterministic(quiet.device):
        side_by_side(lambda name: train(made[name], told, plan, quiet, stage=name), names, lambda _: stage.advance())
    return list(made.values())


def posterior(odds: Tensor, share: float, rounds: int = 60) -> tuple[Tensor, float]:
    """Probabilities that cells are wrong, given the share of wrong ones in this table, which is estimated (EM).

    Args:
        odds: log-odds under the share of the lessons, any shape.
        share: that share.
        rounds: of the estimate.
    """
    rate = share
    known = odds.double()
    for _ in range(rounds):
        moved = known + _logit(rate) - _logit(share)
        rate = float(moved.sigmoid().mean().clamp(1e-6, 0.5)) if odds.numel() else share
    return (known + _logit(rate) - _logit(share)).sigmoid(), rate


def _logit(share: float) -> float:
    return float(np.log(share / (1 - share)))
