"""What kind of error a cell holds, and why, in words that a person who knows the table accepts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from carat.auditing.proposals import Proposed
from carat.auditing.signals import Eyes
from carat.auditing.suspicion import foreign_shapes
from carat.data.spelling import bound, distance, key, sorted_key
from carat.data.vocabulary import FIRST


def swaps(eyes: Eyes, proposed: Proposed) -> np.ndarray:
    """Numbers of cells of a row that hold each other's proposals, int64 [k]; −1 for a cell by itself."""
    group = np.full(len(proposed.row), -1, dtype=np.int64)
    by_row: dict[int, list[int]] = {}
    for k, row in enumerate(proposed.row.tolist()):
        by_row.setdefault(row, []).append(k)
    values = [_value(eyes, row, number) for row, number in zip(proposed.row, proposed.number, strict=True)]
    made = 0
    for cells in by_row.values():
        for place, one in enumerate(cells):
            for other in cells[place + 1 :]:
                if group[one] < 0 and group[other] < 0 and _exchanged(one, other, values, proposed.text):
                    group[one] = group[other] = made
                    made += 1
    return group


def _exchanged(one: int, other: int, values: Sequence[str | None], texts: Sequence[str | None]) -> bool:
    first, second = values[one], values[other]
    return first is not None and second is not None and texts[one] == second and texts[other] == first


def _value(eyes: Eyes, row: int, number: int) -> str | None:
    column = eyes.table.columns[eyes.plan.places[number]]
    code = int(column.codes[row])
    return None if code < 0 else column.values[code]


class Describing:
    """Says of a suspicious cell what kind of error it holds, and why.

    Args:
        eyes: on the table.
    """

    def __init__(self, eyes: Eyes) -> None:
        self.eyes = eyes
        self.codes = {
            place: {text: code for code, text in enumerate(eyes.table.columns[place].values)}
            for place in eyes.plan.places
        }
        self.foreign = {place: foreign_shapes(eyes.table.columns[place]) for place in eyes.plan.places}

    def kind(self, row: int, number: int, proposal: str | None) -> str:
        """What kind of error a cell holds, given what should stand there."""
        place = self.eyes.plan.places[number]
        column, known = self.eyes.table.columns[place], self.eyes.texts[place]
        code = int(column.codes[row])
        if code < 0 or known.placeholder[code] or proposal == "":
            return "missing"
        value = column.values[code]
        if proposal is not None:
            if proposal == known.rewritten[code]:
                return "format"
            if key(value) == key(proposal) or sorted_key(value) == sorted_key(proposal):
                return "variant"
            apart = int(distance([value], [proposal])[0])
            # Several slips in a long text are slips all the same.
            near = max(int(bound(np.array([len(value)]))[0]), min(len(value), len(proposal)) // 4)
            if apart <= near or proposal == known.spelt[code]:
                return "typo"
        home = int(known.elsewhere[code])
        if home >= 0 and self.eyes.table.columns[home].counts[self.codes[home][value]] > column.counts[code]:
            return "misplaced"
        return "format" if self.foreign[place][code] else "mismatch"

    def witness(self, row: int, number: int, text: str | None, doubted: np.ndarray) -> tuple[int, int, int] | None:
        """(column, rows that say so, rows in all) that share this row's value there; the row itself is not counted."""
        voters, size = self.eyes.voters, len(self.eyes.plan.voted)
        codes = self.codes[self.eyes.plan.places[number]]
        if voters is None or number >= size or not text or text not in codes:
            return None
        pairs, offsets = voters.witnesses.pairs, voters.witnesses.offsets
        ids = voters.ids[row]
        asked = [j for j in range(size) if j != number and int(ids[j]) >= FIRST and not doubted[j]]
        if not asked:
            return None
        beside = ids[asked] + offsets[asked]
        mine = torch.full_like(beside, codes[text] + FIRST + int(offsets[number]))
        with_it = pairs.count(mine, beside).tolist()
        known = (pairs.singles[beside] - 1).tolist()
        best = max(range(len(asked)), key=lambda k: ((with_it[k] + 0.5) / (known[k] + 2.0), known[k]))
        if with_it[best] < 2:
            return None
        return asked[best], with_it[best], max(known[best], with_it[best])

    def say(self, row: int, number: int, kind: str, text: str | None, doubted: np.ndarray) -> str:
        """Why a cell is suspicious, in words."""
        eyes = self.eyes
        place = eyes.plan.places[number]
        column = eyes.table.columns[place]
        code = int(column.codes[row])
        value = None if code < 0 else column.values[code]
        said = []
        found = self.witness(row, number, text, doubted)
        if found is not None:
            other, times, rows = found
            beside = eyes.table.columns[eyes.plan.places[other]]
            shared = beside.values[int(beside.codes[row])]
            said.append(f"{times:,} of the {rows:,} other rows with {beside.name} {_short(shared)} say {_short(text)}")
        said += self._about_text(kind, value, text, code, place)
        if not said:
            rare = (
                "no other row has it" if code >= 0 and column.counts[code] == 1 else "it is unusual beside the others"
            )
            said.append("the cell is empty, and others like it are not" if value is None else rare)
        return "; ".join(said)

    def _about_text(self, kind: str, value: str | None, text: str | None, code: int, place: int) -> list[str]:
        column, known = self.eyes.table.columns[place], self.eyes.texts[place]
        if kind == "missing":
            return [] if value is None else [f"{_short(value)} stands for an empty cell"]
        if kind == "typo" and value is not None and text:
            apart = int(distance([value], [text])[0])
            return ["this is one letter away" if apart == 1 else f"this is {apart} letters away"]
        if kind == "variant" and text:
            times = int(column.counts[self.codes[place][text]]) if text in self.codes[place] else 0
            return [f"the same value is written {_short(text)} in {times:,} rows"]
        if kind == "format":
            pattern = known.pattern[code] if code >= 0 else None
            return [f"{pattern}, as in the rest of the column" if pattern else "its form is foreign to this column"]
        if kind == "misplaced":
            home = self.eyes.table.columns[int(known.elsewhere[code])]
            return [f"it is a value of {home.name}"]
        return []


def _short(text: str | None) -> str:
    shown = text or ""
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
