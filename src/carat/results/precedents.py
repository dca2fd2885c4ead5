"""Precedents: the training records most like one that is in doubt, and what they say of its entities.

People trust cases more than likelihoods. With the flagged domains hidden, memory names the records that match the rest
best, by the weights that it has learned. What these hold in a flagged domain speaks for itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from carat.data.text import visible
from carat.data.vocabulary import FIRST, MISSING, UNSEEN, Vocabulary
from carat.memory import Memory

SHOWN = 5
"""Different records that are shown."""
ASKED = 12
"""Records whose word counts, at least; those that are as much alike as the last of them count too."""
PART_ROWS = 64
CLOSE = 1e-3
"""Exponents that differ by less are the same matches, summed in another order."""


@dataclass(frozen=True)
class Precedent:
    """A training row much like the row in question.

    Args:
        values: by column, its text; None if missing.
        count: how many training rows are exactly like it.
        differs: the columns in which it differs from the row in question.
    """

    values: dict[str, str | None]
    count: int
    differs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As a part of `Explanation.to_json`."""
        return {"values": list(self.values.values()), "count": self.count, "differs": list(self.differs)}


@dataclass(frozen=True)
class Agreement:
    """What the most similar training rows have in one column.

    Args:
        domain: the column.
        rows: how many rows were asked.
        value: the value that most of them have.
        having: how many of them have it.
        same: how many have the value of the row in question; None if the row has none there.
    """

    domain: str
    rows: int
    value: str
    having: int
    same: int | None

    def to_json(self) -> dict[str, Any]:
        """As a part of `Explanation.to_json`."""
        return {
            "column": self.domain,
            "rows": self.rows,
            "value": self.value,
            "count": self.having,
            "same": self.same,
        }

    def in_words(self) -> str:
        """In one sentence.

        >>> Agreement("Dest", 12, "LAX", 11, 0).in_words()
        'Of the 12 training rows most like this one, 11 have Dest LAX; none has the value here.'
        """
        named = f"{self.domain} {visible(self.value)}"
        if self.rows == 1:
            return f"The training row most like this one has {named}."
        asked = f"Of the {self.rows:,} training rows most like this one, "
        have = "all have" if self.having == self.rows else "1 has" if self.having == 1 else f"{self.having:,} have"
        asked += f"{have} {named}"
        if self.same is None or self.having == self.rows:
            return f"{asked}."
        if not self.same:
            return f"{asked}; none has the value here."
        return f"{asked}; {'1 has' if self.same == 1 else f'{self.same:,} have'} the value here."


@dataclass(frozen=True)
class Similar:
    """The precedents of one record, the most similar first, and what they agree on."""

    precedents: tuple[Precedent, ...] = ()
    agreements: tuple[Agreement, ...] = ()


@dataclass(frozen=True)
class Precedents:
    """Asks memory for the records most like some others.

    Args:
        memory: the model's.
        vocabulary: what the ids mean.
        learned_from: whether the records asked about are training records. One of those that are identical to a record
            is then the record itself, and no precedent.
    """

    memory: Memory
    vocabulary: Vocabulary
    learned_from: bool = False

    def of_training(self) -> Precedents:
        """The same for records that were learned from."""
        return replace(self, learned_from=True)

    def find(self, ids: Tensor, doubted: Tensor) -> list[Similar]:
        """For records ids [n, m], with the doubted domains, bool [n, m], hidden; where none is, all domains count."""
        found: list[Similar] = []
        for part, chosen in zip(ids.split(PART_ROWS), doubted.split(PART_ROWS), strict=True):
            found += self._part(part.to(torch.int64).cpu(), chosen.cpu())
        return found

    def _part(self, ids: Tensor, doubted: Tensor) -> list[Similar]:
        domains = ids.shape[1]
        # What is hidden must not decide which records are looked at either.
        kept = ids.masked_fill(doubted, MISSING)
        ballot = self.memory.ask(kept, doubted[:, None].expand(-1, domains, -1))
        alone = doubted | ~doubted.any(dim=1, keepdim=True)
        share = alone.float() / alone.sum(dim=1, keepdim=True)
        exponent = (share[:, None].to(ballot.exponent.device) @ ballot.exponent).squeeze(1).cpu()  # [b, L]
        group, there = ballot.alike.group.cpu(), ballot.alike.ids.cpu().to(torch.int64)
        count = self.memory.records_.count.cpu()[group.clamp(min=0)] * (group >= 0)
        if self.learned_from:
            count = count - ((there == ids[..., None]).all(dim=1) & (count > 0)).to(count.dtype)
        exponent = exponent.masked_fill((count <= 0) | (exponent <= CLOSE), -torch.inf)
        close = (exponent / CLOSE).round()
        # The most similar first, of equals the most frequent, then by their place in memory: whatever the batch.
        order = group.argsort(dim=1, stable=True)
        for key in (-count, -close):
            order = order.gather(1, key.gather(1, order).argsort(dim=1, stable=True))
        close, count = close.gather(1, order), count.gather(1, order)
        listed = there.gather(2, order[:, None].expand(-1, domains, -1))  # [b, m, L]
        asked = self._asked(close, count)
        shown = (close[:, :SHOWN] > -torch.inf).sum(dim=1).tolist()
        texts = self._texts(listed[..., :SHOWN])
        return [
            self._similar(ids[row], doubted[row], listed[row], count[row], asked[row], texts[row][: shown[row]])
            for row in range(len(ids))
        ]

    @staticmethod
    def _asked(close: Tensor, count: Tensor) -> Tensor:
        """Which of the groups, the most similar first, are asked, bool [b, L]."""
        before = count.cumsum(dim=1) - count
        there = close > -torch.inf
        last = close.masked_fill(~(there & (before < ASKED)), torch.inf).amin(dim=1, keepdim=True)
        return there & (close >= last)

    def _texts(self, listed: Tensor) -> list[list[dict[str, str | None]]]:
        """Of groups [b, m, k], as text by domain, [b][k]."""
        records, domains, shown = listed.shape
        columns = self.vocabulary.decode(listed.transpose(1, 2).reshape(-1, domains))
        texts = {name: column.to_pylist() for name, column in columns.items()}
        every = [{name: column[place] for name, column in texts.items()} for place in range(records * shown)]
        return [every[row * shown : (row + 1) * shown] for row in range(records)]

    def _similar(
        self,
        ids: Tensor,
        doubted: Tensor,
        listed: Tensor,
        count: Tensor,
        asked: Tensor,
        texts: list[dict[str, str | None]],
    ) -> Similar:
        """Of one record: ids [m], groups [m, L] with their counts [L], and which of them are asked, bool [L]."""
        names, size = self.vocabulary.names, len(texts)
        # Two values that the model does not know are not the same for that.
        differs = ((listed[:, :size] != ids[:, None]) | (ids == UNSEEN)[:, None]).T.tolist()
        shown = tuple(
            Precedent(texts[place], int(count[place]), tuple(name for name, d in zip(names, row, strict=True) if d))
            for place, row in enumerate(differs)
        )
        agreements = []
        for domain in doubted.nonzero().flatten().tolist():
            entity, times = listed[domain, asked], count[asked]
            known = entity >= FIRST
            if not known.any():
                continue
            values, place = entity[known].unique(return_inverse=True)
            held = torch.zeros(len(values), dtype=times.dtype).index_add_(0, place, times[known])
            best = int(held.argmax())
            mine = int(ids[domain])
            same = None if mine == MISSING else int(times[entity == mine].sum()) if mine >= FIRST else 0
            text = self.vocabulary.domains[domain].entities[int(values[best]) - FIRST].as_py()
            agreements.append(Agreement(names[domain], int(times.sum()), text, int(held[best]), same))
        return Similar(shown, tuple(agreements))
