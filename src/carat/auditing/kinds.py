"""What kind of error a cell holds, and why, in words that a person who knows the table accepts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from carat.auditing.proposals import Proposed
from carat.auditing.signals import Eyes
from carat.auditing.suspicion import foreign_shapes, usual_code
from carat.auditing.table import AuditColumn
from carat.auditing.telling import misspelling, spaces
from carat.auditing.texts import RATIO
from carat.auditing.usual import Usual
from carat.data.spelling import GARBLED, LONGEST, bound, distance, key, sorted_key
from carat.data.text import visible
from carat.data.vocabulary import FIRST

USUAL = 10
"""A value that occurs so often, and a third as often as the one that is proposed, is no slip of it."""


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
        usual: what had another form than its column; None where nothing had.
    """

    def __init__(self, eyes: Eyes, usual: Usual | None = None) -> None:
        self.eyes, self.usual = eyes, usual
        self.codes = {
            place: {text: code for code, text in enumerate(eyes.table.columns[place].values)}
            for place in eyes.plan.places
        }
        self.codings = {place: usual_code(eyes.table.columns[place]) for place in eyes.plan.places}
        self.foreign = {
            place: foreign_shapes(eyes.table.columns[place]) | self.codings[place][1] for place in eyes.plan.places
        }

    def kind(self, row: int, number: int, proposal: str | None) -> str:
        """What kind of error a cell holds, given what should stand there."""
        place = self.eyes.plan.places[number]
        column, known = self.eyes.table.columns[place], self.eyes.texts[place]
        code = int(column.codes[row])
        if code < 0 or known.placeholder[code] or proposal == "":
            return "missing"
        value = column.values[code]
        if proposal is not None:
            if proposal in (known.rewritten[code], self._in_form(row, place)[0]):
                return "format"
            if len(value) <= LONGEST and (key(value) == key(proposal) or sorted_key(value) == sorted_key(proposal)):
                return "variant"
            apart = _apart(value, proposal)
            # Several slips in a long text are slips all the same.
            near = max(int(bound(np.array([len(value)]))[0]), min(len(value), len(proposal)) // 4)
            # Of `Y` for `N`, nothing is left that would show a slip.
            slip = apart <= near and apart < min(len(value), len(proposal))
            if (slip and not self._is_usual(place, code, proposal)) or proposal == known.spelt[code]:
                return "typo"
        home = int(known.elsewhere[code])
        if home >= 0 and self.eyes.table.columns[home].counts[self.codes[home][value]] > column.counts[code]:
            return "misplaced"
        return "format" if self.foreign[place][code] else "mismatch"

    def _is_usual(self, place: int, code: int, proposal: str) -> bool:
        """Whether a value occurs so often, beside the proposed one too, that it is a value and no slip of that one."""
        counts, meant = self.eyes.table.columns[place].counts, self.codes[place].get(proposal, -1)
        return bool(counts[code] >= USUAL and (meant < 0 or counts[meant] < RATIO * counts[code]))

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
        # In the usual form the row itself may say what is proposed.
        itself = int(int(ids[number]) == codes[text] + FIRST)
        with_it = (pairs.count(mine, beside) - itself).tolist()
        known = (pairs.singles[beside] - 1).tolist()
        own = torch.full_like(beside, max(int(ids[number]), FIRST) + int(offsets[number]))
        against = int(ids[number]) >= FIRST and not itself
        with_own = (pairs.count(own, beside) - 1).tolist() if against else [0] * len(asked)
        best = max(range(len(asked)), key=lambda k: ((with_it[k] + 0.5) / (known[k] + 2.0), known[k]))
        rows = max(known[best], with_it[best])
        # A single row counts where it is the only one; and nobody is persuaded by fewer rows than say the contrary.
        if with_it[best] < min(2, rows) or with_it[best] <= with_own[best]:
            return None
        return asked[best], with_it[best], rows

    def say(self, row: int, number: int, kind: str, text: str | None, doubted: np.ndarray) -> str:
        """Why a cell is suspicious, in words."""
        eyes = self.eyes
        place = eyes.plan.places[number]
        column = eyes.table.columns[place]
        code = int(column.codes[row])
        value = None if code < 0 else column.values[code]
        found = self.witness(row, number, text, doubted)
        votes, most = self._about_votes(row, found, text)
        said = self._about_text(kind, value, text, code, place)
        usual, done = self._in_form(row, place)
        if done is not None:
            # Where it says what is proposed, nothing but its form is wrong.
            said = [_of_form(done), *(said if usual != text else [])]
        if votes:
            named = [_about(value, each) for each in said]
            said = [*votes, *named] if most else [*named, *votes]
        if value is None and not text:
            said.append(f"{_filled(column)} of the rows have a value here, but the right one for this row is not known")
        if not said and value is None:
            said.append("the cell is empty, and others like it are not")
        if not said:
            said.append("no other row has it" if column.counts[code] == 1 else "it is unusual beside the others")
        return "; ".join(said)

    def _in_form(self, row: int, place: int) -> tuple[str | None, str | None]:
        return (None, None) if self.usual is None else self.usual.rewrite(row, place)

    def _about_votes(self, row: int, found: tuple[int, int, int] | None, text: str | None) -> tuple[list[str], bool]:
        """What other rows say, in words, and whether most of them say so."""
        if found is None:
            return [], False
        other, times, rows = found
        beside = self.eyes.table.columns[self.eyes.plan.places[other]]
        shared = beside.values[int(beside.codes[row])]
        said = f"{_of(times, rows)} other rows with {beside.name} {_short(shared)} say {_short(text)}"
        if rows == 1:
            said = f"the only other row with {beside.name} {_short(shared)} says {_short(text)}"
        return [said], 2 * times > rows

    def _about_text(self, kind: str, value: str | None, text: str | None, code: int, place: int) -> list[str]:
        column, known = self.eyes.table.columns[place], self.eyes.texts[place]
        if kind == "missing":
            unknown = [] if text is not None else ["which value belongs here is not known"]
            return [] if value is None else [f"{_short(value)} stands for an empty cell", *unknown]
        if value is None:
            return []
        if kind == "typo" and text:
            return [misspelling(value[:LONGEST], text[:LONGEST], _apart(value, text))]
        if kind == "variant" and text:
            times = int(column.counts[self.codes[place][text]]) if text in self.codes[place] else 0
            said = [f"the same value is written {_short(text)} in {times:,} row{'' if times == 1 else 's'}"]
            return said + [each for each in spaces(value) if each not in spaces(text)]
        if kind == "format":
            return self._about_form(value, code, place)
        if kind == "misplaced":
            home = self.eyes.table.columns[int(known.elsewhere[code])]
            return [f"it is a value of {home.name}"]
        return spaces(value)

    def _about_form(self, value: str, code: int, place: int) -> list[str]:
        """What is odd about the form of a value."""
        pattern, usual = self.eyes.texts[place].pattern[code], self.codings[place][0]
        if pattern:
            return [_of_form(pattern)]
        if spaces(value):
            return spaces(value)
        if usual and value.isdigit() and set(usual) == {"9"} and len(value) != len(usual):
            return [f"it has {len(value)} digit{'' if len(value) == 1 else 's'} where the others have {len(usual)}"]
        return ["it is written differently from the rest of this column"]


def _of_form(pattern: str) -> str:
    """What to do to the form of a value, in words."""
    if pattern == GARBLED:
        return "its letters were garbled by a wrong text encoding"
    return pattern if pattern.startswith("round ") else f"{pattern}, as in the rest of the column"


def _about(value: str | None, said: str) -> str:
    """A remark about a value that names it, to stand beside one about another value.

    >>> _about("EUR", "it is a value of Currency"), _about("Lieth", "two letters are swapped")
    ('EUR is a value of Currency', 'in Lieth, two letters are swapped')
    """
    if value is None or not said.startswith(("it is ", "it has ", "one ", "two ", "there is one ")):
        return said
    return f"{_short(value)} {said[3:]}" if said.startswith("it ") else f"in {_short(value)}, {said}"


def _apart(value: str, text: str) -> int:
    return int(distance([value[:LONGEST]], [text[:LONGEST]])[0])


def _of(times: int, rows: int) -> str:
    """How many of some rows, to be read before `other rows`.

    >>> _of(77, 77), _of(2, 2), _of(11, 12)
    ('all 77', 'both', '11 of the 12')
    """
    if times < rows:
        return f"{times:,} of the {rows:,}"
    return "both" if rows == 2 else f"all {rows:,}"


def _filled(column: AuditColumn) -> str:
    """Which share of a column's cells hold something; never all, for one does not."""
    share = 100 * (1 - column.blank / max(len(column), 1))
    return "over 99%" if share > 99 else f"{share:.0f}%"


def _short(text: str | None) -> str:
    shown = visible((text or "")[:LONGEST])
    return shown if len(shown) <= 40 else f"{shown[:39]}…"
