"""Small transformers over the rows of a table, each asked only about rows that it has not learned from.

A network that has learned from a row finds its errors normal. So the rows are dealt into folds, and each fold has a
network of its own, fitted on all the other rows.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from carat.auditing.shelf import Shelf
from carat.data.pairs import Pairs
from carat.data.training_data import TrainingData
from carat.data.vocabulary import FIRST, MISSING, UNSEEN, Vocabulary
from carat.explain import TransformerExplainer
from carat.fitting.boxing import settled
from carat.observing import Observer, Remark, Stage
from carat.profiles import fast
from carat.training import Run
from carat.training.box import Box

FOLDS = 3
"""Two networks would be quicker, but each would learn from half of the rows, and of a value that comes three times it
would often meet one at most. More than three cost time and add little."""
MET = 2
"""A network knows a value from so many of its rows on. One that comes only once says nothing about where it belongs;
read as unseen, it teaches the network how to read rows with values that it has never met."""
SAID = ("network, belongs", "network, margin", "network, best")
"""What a network says of a cell: decoder-P's logit of the value; by how much decoder-R, which does not see the cell,
prefers another; and how sure it is of that one. The first two are 0 for a value that the network does not know. That it
does not know it is no signal: the text of a slip is always new to it, but that of an error that recurs is not, and the
judge would learn to trust errors that recur."""
MOST = 15.0
"""Signals are cut off there."""


@dataclass(frozen=True)
class Readers:
    """Networks by fold.

    Args:
        networks: that of fold f has not seen the rows of fold f.
        fold: of every row, int64 [n].
        met: the entities that each network knows, bool [k, total].
        vocabulary: of the columns that they read.
    """

    networks: tuple[TransformerExplainer, ...]
    fold: Tensor
    met: Tensor
    vocabulary: Vocabulary

    @classmethod
    def learn(cls, ids: Tensor, vocabulary: Vocabulary, box: Box, run: Run, shelf: Shelf) -> Readers:
        """Fit them on a table's rows, ids int64 [n, m]; fits that are on the shelf are not done again.

        Args:
            ids: all rows.
            vocabulary: what the ids mean.
            box: how long all networks may train together.
            run: seed and observer.
            shelf: keeps finished fits, and in its folder how far the present one has come.
        """
        fold = folds(len(ids), run.seed_of("audit folds"))
        met = torch.stack([known(ids[fold != each], vocabulary) for each in range(FOLDS)])
        readers = cls((), fold, met, vocabulary)
        run = replace(run, checkpoints=shelf.folder)
        fresh = TransformerExplainer(**fast().plain_params)
        # The folds differ by a row at most, so the first speaks for all of them.
        schedule = settled(box, fresh.trainings(readers.data(ids, 0, run), run), run, times=FOLDS)
        run = replace(run, steps=schedule.stages)
        networks = tuple(readers._network(ids, each, run, shelf) for each in range(FOLDS))
        return replace(readers, networks=networks)

    def data(self, ids: Tensor, fold: int, run: Run) -> TrainingData:
        """What the network of a fold learns from: the rows outside it."""
        outside = self.legible(ids[self.fold != fold], fold).to(torch.int32)
        return TrainingData.split(outside, self.vocabulary, seed=run.seed_of("audit held out", fold))

    def legible(self, ids: Tensor, fold: int) -> Tensor:
        """Rows [r, m] as the network of a fold reads them: values that it does not know are unseen."""
        return ids.masked_fill((ids >= FIRST) & ~self.met[fold][ids + self.vocabulary.offsets], UNSEEN)

    def _network(self, ids: Tensor, fold: int, run: Run, shelf: Shelf) -> TransformerExplainer:
        network, name = TransformerExplainer(**fast().plain_params), f"network-{fold}"
        held = shelf.read(name)
        if held is not None:
            network.restore_facts(json.loads(bytes(held.pop("facts").tolist())))
            network.restore(held, self.vocabulary, Pairs.of(ids[:0], self.vocabulary))
            return network
        folder = None if shelf.folder is None else shelf.folder / name
        observer = _Named(run.observer, f"network {fold + 1} of {FOLDS}")
        own = replace(run, seed=run.seed_of("audit network", fold), checkpoints=folder, observer=observer)
        network.fit(self.data(ids, fold, run), own)
        facts = torch.tensor(list(json.dumps(network.facts()).encode()), dtype=torch.uint8)
        shelf.write(name, {**network.tensors(), "facts": facts})
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return network

    def tell(self, ids: Tensor, rows: Tensor, stage: Stage | None = None) -> Tensor:
        """What is said of every cell of rows ids [r, m], float32 [r, m, SAID].

        Args:
            ids: what they hold; `UNSEEN` for values that the table does not hold.
            rows: their numbers in the table, int64 [r].
            stage: advances with the rows.
        """
        found = torch.zeros((*ids.shape, len(SAID)))
        for fold, network, mine in self._by_fold(rows):
            x = self.legible(ids[mine], fold)
            unmet = x < FIRST
            belongs = network.logits(x).masked_fill(unmet, 0.0)
            own, best = network.standing(x)
            margin = (best - own).masked_fill(unmet, 0.0)
            said = torch.stack([belongs, margin, best], dim=2)
            found[mine] = said.clamp(-MOST, MOST)
            if stage is not None:
                stage.advance(len(mine))
        return found

    def fitting(self, ids: Tensor, rows: Tensor, hidden: Tensor, number: int) -> Tensor:
        """Log-probabilities of what fits into one column of rows ids [r, m], with what is hidden masked, [r, entities].

        Args:
            ids: what the rows hold.
            rows: their numbers in the table, int64 [r].
            hidden: cells that are not believed, bool [r, m].
            number: of the column.
        """
        found = torch.empty((len(ids), int(self.vocabulary.sizes[number]) - FIRST))
        for fold, network, mine in self._by_fold(rows):
            x = self.legible(ids[mine], fold).masked_fill(hidden[mine], MISSING)
            target = torch.zeros_like(x, dtype=torch.bool)
            target[:, number] = True
            for _, some, said in network.log_probability(x, target):
                found[mine[some]] = said.float()
        return found

    def _by_fold(self, rows: Tensor) -> Iterator[tuple[int, TransformerExplainer, Tensor]]:
        """Each network, and the places of those rows that it has not seen."""
        fold = self.fold[rows]
        for each, network in enumerate(self.networks):
            mine = (fold == each).nonzero().flatten()
            if len(mine):
                yield each, network, mine


def folds(rows: int, seed: int) -> Tensor:
    """A fold for every row, at random and of equal sizes, int64 [n]."""
    order = torch.randperm(rows, generator=torch.Generator().manual_seed(seed))
    found = torch.empty(rows, dtype=torch.int64)
    found[order] = torch.arange(rows) % FOLDS
    return found


def known(ids: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Entities that rows ids [r, m] hold often enough to learn from, bool [total]."""
    return torch.bincount((ids + vocabulary.offsets).flatten(), minlength=vocabulary.total) >= MET


class _Named:
    """Passes all on to an observer, stages under the name of the network that they train."""

    def __init__(self, observer: Observer, name: str) -> None:
        self._observer, self._name = observer, name

    def stage(self, name: str, total: int | None) -> Stage:
        return self._observer.stage(f"{self._name}, {name.rsplit(', ', maxsplit=1)[-1]}", total)

    def remark(self, remark: Remark) -> None:
        self._observer.remark(remark)
