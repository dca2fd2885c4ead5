"""A fitted detector on the planted table, and an anomaly of it whose repair is known by eye."""

from __future__ import annotations

import itertools
from functools import cache

import torch
from torch import Tensor

from carat.data import FIRST, MISSING, TrainingData, Vocabulary
from carat.detectors import Ape, CallableDetector, Counts, Mead
from carat.protocols import Detector
from tests.support.planted import GROUPS, planted_table, record
from tests.support.small import training_data

DETECTORS = ("mead", "ape", "counts", "callable")


@cache
def data() -> TrainingData:
    return training_data(planted_table(rows=600))


@cache
def detector(name: str) -> Detector:
    if name == "callable":
        return CallableDetector(_agreement, takes="ids").fit(data())
    made = {"mead": Mead(dim=8, epochs=15), "ape": Ape(), "counts": Counts()}[name]
    return made.fit(data())


def _agreement(ids: Tensor) -> Tensor:
    """How many pairs of entities occurred together: whole numbers, so that there are many ties."""
    rows = ids.to(torch.int64) + data().vocabulary.offsets
    pairs = itertools.combinations(range(ids.shape[1]), 2)
    return sum((data().pairs.count(rows[:, i], rows[:, j]) > 0).float() for i, j in pairs) + torch.zeros(len(ids))


def vocabulary() -> Vocabulary:
    return data().vocabulary


def anomalies() -> Tensor:
    """A record of each group whose Carrier is of the next group, int32 [6, 4]."""
    return vocabulary().encode([record(Port=g, Good=g, Carrier=(g + 1) % GROUPS, Buyer=g) for g in range(GROUPS)])


CARRIER = 2


def groups(ids: Tensor) -> list[list[str]]:
    """The group of every entity of records ids [n, m]; "?" where it is missing or unseen."""
    columns = [column.to_pylist() for column in vocabulary().decode(ids).values()]
    return [[text.split("-")[1][0] if text else "?" for text in row] for row in zip(*columns, strict=True)]


def repaired(ids: Tensor) -> list[bool]:
    """Whether all entities of records ids [n, m] are of one group."""
    return [len(set(row)) == 1 for row in groups(ids)]


def brute_force(ids: Tensor, m: int, judge: Detector) -> tuple[Tensor, Tensor]:
    """Every record [C, domains] that differs from ids [domains] in m present entities, and its score [C]."""
    present = [domain for domain, id in enumerate(ids.tolist()) if id != MISSING]
    found = []
    for domains in itertools.combinations(present, m):
        for entities in itertools.product(*(range(FIRST, int(vocabulary().sizes[domain])) for domain in domains)):
            new = ids.to(torch.int64).clone()
            new[list(domains)] = torch.tensor(entities)
            if int((new != ids).sum()) == m:
                found.append(new)
    records = torch.stack(found)
    return records, judge.score(records)
