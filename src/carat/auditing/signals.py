"""Everything that the judge of an audit is told about a cell, on one line of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from carat.auditing.contained import Relations
from carat.auditing.exchanges import exchanged
from carat.auditing.pages import Pages
from carat.auditing.readers import SAID
from carat.auditing.table import AuditTable
from carat.auditing.texts import (
    IN_ROWS,
    OF_CELLS,
    OF_COLUMNS,
    OF_VALUES,
    RANKED,
    ValueTexts,
    copied_texts,
    likeness,
    value_texts,
)
from carat.auditing.votes import Learned, Voters
from carat.data.vocabulary import FIRST
from carat.explain.signals import HABITS, TOLD, Habits
from carat.observing import Stage

NAMES = (*TOLD, *HABITS, *OF_VALUES, *OF_CELLS, *OF_COLUMNS, *IN_ROWS, *(f"{name}, rank" for name in RANKED))
"""The signals of a cell, in order; where networks read the rows, `SAID` follows."""
SAMPLE = 20_000
"""Rows that say what is usual in a column."""


STEP = 0.05
"""Signals closer than this have the same rank. A slip is one cell more than the table had: shares that differ by that
much alone would tell copies from the table."""
FEWEST_CELLS, ASKED_FOR = 5, 1.0
"""An affix is no slip, and a word for nothing is a value, where it stands in so many cells, and the rest of their rows
makes half of them likelier by this many nats."""


@dataclass(frozen=True)
class Plan:
    """What an audit looks at, the same for the table and for its copies with slips.

    Args:
        voted: places of the columns that rows vote on.
        text: places of the columns whose text alone is checked.
        learned: what a match is worth; None where nothing is voted on.
        relations: columns whose values hold others'.
        seed: decides which rows say what is usual.
        pages: the table as networks read it; None where there are none.
    """

    voted: tuple[int, ...]
    text: tuple[int, ...]
    learned: Learned | None
    relations: Relations
    seed: int = 0
    pages: Pages | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The signals of a cell, in order."""
        return NAMES if self.pages is None else (*NAMES, *SAID)

    @property
    def places(self) -> tuple[int, ...]:
        """All columns that take part, those that are voted on first."""
        return (*self.voted, *self.text)


@dataclass(frozen=True)
class Sight:
    """Signals of the cells of some rows.

    Args:
        rows: which rows, int64 [r].
        told: float32 [r, c, F], as `Plan.names` has them.
        best: codes of the values that both votes put first, int64 [r, v, 2], of the voted columns.
    """

    rows: Tensor
    told: Tensor
    best: Tensor

    def __getitem__(self, name: str) -> Tensor:
        """One signal, [r, c]."""
        return self.told[..., NAMES.index(name)]


class Eyes:
    """A table that can be looked at, every row left out of what is said of it.

    Args:
        table: all rows.
        plan: what to look at.
        like: of a copy with slips, the eyes on the table itself: what is usual in a column, and how its values are
            written, is what it was before. Else the judge would learn to tell copies from the table.
    """

    def __init__(self, table: AuditTable, plan: Plan, like: Eyes | None = None) -> None:
        self.table, self.plan = table, plan
        self.texts: dict[int, ValueTexts] = (
            value_texts(table, plan.places)
            if like is None
            else copied_texts(like.texts, like.table, table, plan.places)
        )
        self.voters: Voters | None = None
        self.pages = plan.pages
        if like is not None and plan.pages is not None:
            self.pages = plan.pages.copied([table.columns[place] for place in plan.voted])
        self.habits: Tensor = torch.zeros((len(plan.voted), len(HABITS)))
        self.ordered: dict[str, Tensor] = {}
        self.foretold: np.ndarray = np.zeros(len(plan.voted))
        if plan.voted:
            assert plan.learned is not None
            self.voters = Voters.of([table.columns[place] for place in plan.voted], plan.learned)
        if like is not None:
            self.habits, self.ordered, self.foretold = like.habits, like.ordered, like.foretold
            return
        generator = torch.Generator().manual_seed(plan.seed)
        sample = torch.randperm(table.rows, generator=generator)[:SAMPLE].sort().values
        votes, best = self._votes(sample)
        if self.voters is not None:
            self.habits = Habits.of(self.voters.memory, votes, self.voters.ids[sample]).values
            filled = torch.tensor([float((table.columns[place].codes >= 0).sum()) for place in plan.voted])
            lift = _lift(votes, filled.clamp(min=1))
            for number, place in enumerate(plan.voted):
                codes = table.columns[place].codes[sample.numpy()]
                known = self.texts[place].without(_own_ways(self.texts[place], codes, lift[:, number]))
                self.texts[place] = known.meaning(_meant(known, codes, lift[:, number]))
        seen = self._told(sample, votes, best)
        self.ordered = {name: _toward_worse(seen, name).sort(dim=0).values.T.contiguous() for name in RANKED}
        named = self.table.columns
        self.foretold = np.array(
            [float((best[:, k, 0].numpy() == named[p].codes[sample.numpy()]).mean()) for k, p in enumerate(plan.voted)]
        )

    def look(self, rows: Tensor, stage: Stage | None = None) -> Sight:
        """Signals of the cells of some rows, int64 [r]."""
        votes, best = self._votes(rows, stage)
        told = self._told(rows, votes, best)
        for name in RANKED:
            told[..., NAMES.index(f"{name}, rank")] = _rank(_toward_worse(told, name), self.ordered[name])
        if self.pages is not None:
            told[:, : len(self.plan.voted), len(NAMES) :] = self.pages.tell(rows)
        return Sight(rows, told, best)

    def _votes(self, rows: Tensor, stage: Stage | None = None) -> tuple[Tensor, Tensor]:
        if self.voters is None:
            return torch.zeros((len(rows), 0, len(TOLD))), torch.zeros((len(rows), 0, 2), dtype=torch.int64)
        votes, best = self.voters.look(rows, stage)
        return votes, best - FIRST

    def _told(self, rows: Tensor, votes: Tensor, best: Tensor) -> Tensor:
        """All but the ranks and what networks say, float32 [r, c, F]."""
        plan, index, voted = self.plan, rows.numpy(), len(self.plan.voted)
        told = torch.zeros((len(rows), len(plan.places), len(plan.names)))
        told[:, :voted, : len(TOLD)] = votes
        told[:, :voted, len(TOLD) : len(TOLD) + len(HABITS)] = self.habits
        begin = len(TOLD) + len(HABITS)
        for number, place in enumerate(plan.places):
            column, known = self.table.columns[place], self.texts[place]
            codes = column.codes[index]
            parts = [known.told[codes]]
            if number < voted:
                parts += [likeness(column, codes, best[:, number, k].numpy()) for k in (0, 1)]
            else:
                parts.append(np.zeros((len(codes), len(OF_CELLS)), dtype=np.float32))
            usual = np.concatenate([[float(number < voted)], known.usual]).astype(np.float32)
            parts.append(np.broadcast_to(usual, (len(codes), len(OF_COLUMNS))))
            found = np.concatenate(parts, axis=1)
            told[:, number, begin : begin + found.shape[1]] = torch.from_numpy(found)
        contained = plan.relations.told(self.table, plan.places, index)
        told[..., NAMES.index("contained")] = torch.from_numpy(contained)
        told[..., NAMES.index("exchanged")] = torch.from_numpy(self.exchanged(index) >= 0).float()
        return told

    def exchanged(self, rows: np.ndarray) -> np.ndarray:
        """See `exchanges`: with which column each cell of some rows changed places, int64 [r, c]; −1 for none."""
        return exchanged(self.table, self.texts, self.plan.places, rows)


def _lift(votes: Tensor, rows: Tensor) -> np.ndarray:
    """How much likelier than in the whole column the other rows make what stands in each cell, in nats, [r, v]."""
    own, count = votes[..., TOLD.index("own")], votes[..., TOLD.index("count")].exp() - 1
    found: np.ndarray = (own - (count + 0.5).log() + rows.log()).numpy()
    return found


def _own_ways(known: ValueTexts, codes: np.ndarray, lift: np.ndarray) -> frozenset[str]:
    """Patterns of affixes whose cells their rows ask for: 32A beside 32 is another aircraft, 12% beside 12 a slip.

    Args:
        known: of the column.
        codes: what stands in some cells, [r].
        lift: how much the rest of their rows speaks for it, [r].
    """
    cells: dict[str, list[float]] = {}
    for code, much in zip(codes.tolist(), lift.tolist(), strict=True):
        pattern = known.pattern[code] if code >= 0 and not known.same[code] else None
        if pattern is not None:
            cells.setdefault(pattern, []).append(much)
    return frozenset(
        pattern for pattern, much in cells.items() if len(much) >= FEWEST_CELLS and np.median(much) > ASKED_FOR
    )


def _meant(known: ValueTexts, codes: np.ndarray, lift: np.ndarray) -> np.ndarray:
    """Values that look like a word for nothing and that their rows ask for, bool [V]: `NA` beside Windhoek is Namibia.

    Args:
        known: of the column.
        codes: what stands in some cells, [r].
        lift: how much the rest of their rows speaks for it, [r].
    """
    found = np.zeros(len(known.placeholder), dtype=bool)
    for code in np.flatnonzero(known.placeholder).tolist():
        much = lift[codes == code]
        found[code] = len(much) >= FEWEST_CELLS and np.median(much) > ASKED_FOR
    return found


def _toward_worse(told: Tensor, name: str) -> Tensor:
    """A signal [r, c], the higher the worse; in steps, for a hair's breadth is no rank."""
    worse = told[..., NAMES.index(name)] * (1.0 if name.startswith("margin") else -1.0)
    return (worse / STEP).round() * STEP


def _rank(worse: Tensor, ordered: Tensor) -> Tensor:
    """log of the share of a column's usual cells [c, s], ascending, that are as bad or worse; half of ties count."""
    mine = worse.T.contiguous()
    low, high = torch.searchsorted(ordered, mine), torch.searchsorted(ordered, mine, right=True)
    above = ordered.shape[1] - (low + high) / 2
    return ((above.T + 0.5) / (ordered.shape[1] + 1)).log()


def places_of(names: Sequence[str]) -> list[int]:
    """Where some signals stand."""
    return [NAMES.index(name) for name in names]
