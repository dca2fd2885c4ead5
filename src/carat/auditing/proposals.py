"""What should stand in a suspicious cell: what belongs there, and how easily that turns into what stands there.

argmax over u of P(u | context) · P(v | u). Candidates are the values that similar rows vote for, near spellings, the
dominant variant, and rewritten texts. How probably the best one is right is learned from slips, whose truth is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from carat.auditing.signals import Eyes
from carat.auditing.suspicion import is_numeric
from carat.data.spelling import typed_as
from carat.data.vocabulary import FIRST
from carat.memory import Tally

VOTED = 8
"""Values taken from the vote."""
PART = 256
"""Rows asked about at once."""
FAR = -9.0
"""What a value that this is no slip of is worth as its origin, in nats, at least: any value can stand in place of
another, and the more often something stands where it belongs, the likelier it is to stand in a wrong place, too."""
FARTHER = -13.0
"""The same for a value whose text shows what it was, by a misspelt word, its case, or a sign: nobody writes another
value and misspells that, too."""
WHICH = 2.0
"""What it takes, in nats, that a slip made just this text and none of the others that it could have made."""
SAME, AFFIXED = -1.0, -2.0
"""What a text that explains the cell by itself is worth as its origin, in nats: the value of the cell that this one
changed places with, or the same date in the usual form; and what the cell without a sign such as `$` is worth."""
ALTERNATIVES = 3
SURE = ("best", "gap", "vote", "slip", "error", "voted", "novel", "blank")
"""What is known of a proposal when its confidence is decided."""


@dataclass(frozen=True)
class Proposed:
    """Proposals for some cells.

    Args:
        row: row numbers, int64 [k].
        number: numbers of the columns among those that take part, int64 [k].
        text: what should stand there, [k]; None where nothing is proposed, "" for an empty cell.
        others: the next best, [k].
        told: `SURE` of each, float32 [k, SURE].
        vote: log-probability that the vote gives the proposal, [k]; −∞ where none votes.
        same: whether the proposal says what stands there, in the usual form, bool [k].
    """

    row: np.ndarray
    number: np.ndarray
    text: list[str | None]
    others: list[list[str]]
    told: np.ndarray
    vote: np.ndarray
    same: np.ndarray


def propose(eyes: Eyes, rows: np.ndarray, numbers: np.ndarray, flagged: Tensor, error: np.ndarray) -> Proposed:
    """Proposals for cells (rows, numbers), each int64 [k].

    Args:
        eyes: on the table.
        rows: row numbers.
        numbers: of their columns, among those that take part.
        flagged: cells of these rows that are not to be believed, bool [k, c].
        error: the probability that each cell is wrong, [k].
    """
    votes = _votes(eyes, rows, numbers, flagged)
    texts: list[str | None] = []
    others, told, vote, alike = [], [], [], []
    believed = {number: _believed(eyes, number, rows[numbers == number]) for number in np.unique(numbers).tolist()}
    bad = {number: _unfit(eyes, number, shares) for number, shares in believed.items()}
    fit = {number: frozenset(eyes.table.columns[eyes.plan.places[number]].values) - bad[number] for number in bad}
    exchanged = eyes.exchanged(rows)[np.arange(len(rows)), numbers] if len(rows) else numbers
    numeric = {
        place: is_numeric(eyes.table.columns[place], eyes.texts[place].placeholder) for place in eyes.plan.places
    }
    for k, (row, number) in enumerate(zip(rows.tolist(), numbers.tolist(), strict=True)):
        place = eyes.plan.places[number]
        column, known = eyes.table.columns[place], eyes.texts[place]
        code = int(column.codes[row])
        voted = number < len(eyes.plan.voted)
        other = _value(eyes, row, int(exchanged[k]))
        candidates = _fit(_candidates(eyes, place, code, votes[k], voted, other), bad[number])
        explained = {} if other is None else {other: SAME}
        if code >= 0 and (rewritten := known.rewritten[code]) is not None:
            explained |= {rewritten: SAME} if known.same[code] else _signs_apart(column.values[code], rewritten)
        nothing = code >= 0 and bool(known.placeholder[code]) and numeric[place]
        if nothing and max(candidates.values(), default=-np.inf) < np.log(0.5):
            candidates = {"": 0.0}  # a word for nothing among numbers, and nobody knows the number
        far = FAR if code < 0 else max(FAR, float(np.log(believed[number][code] + 1e-9)))
        if code >= 0 and (known.variant[code] >= 0 or known.spelt[code] or explained):
            far = FARTHER
        # A word for nothing is no slip of a value that looks like it.
        empty = code < 0 or bool(known.placeholder[code])
        ranked = _ranked(None if empty else column.values[code], candidates, far, explained)
        texts.append(ranked[0][0] if ranked else None)
        # A text that the column does not hold is an alternative only where a rule leads to it.
        ruled = explained.keys() | ({known.rewritten[code]} if code >= 0 else set())
        rest = [text for text, _, _ in ranked[1:] if text in ruled or text in fit[number]]
        others.append(rest[:ALTERNATIVES])
        told.append(_sure(ranked, error[k], voted, empty))
        vote.append(ranked[0][2] if ranked else -np.inf)
        alike.append(code >= 0 and bool(known.same[code]) and texts[-1] == known.rewritten[code])
    sure = np.array(told, np.float32).reshape(-1, len(SURE))
    return Proposed(rows, numbers, texts, others, sure, np.array(vote), np.array(alike, dtype=bool))


def _signs_apart(value: str, text: str) -> dict[str, float]:
    """What a text is worth as the origin of a value that only has a sign more or less, such as `$` or `%`."""
    longer, shorter = (value, text) if len(value) > len(text) else (text, value)
    rest = longer.replace(shorter, "", 1) if shorter and shorter in longer else "a"
    return {text: AFFIXED} if rest and not any(sign.isalnum() for sign in rest) else {}


def _believed(eyes: Eyes, number: int, doubted: np.ndarray) -> np.ndarray:
    """For the values of a column, the share of its cells that hold them and are not doubted, [V]."""
    column = eyes.table.columns[eyes.plan.places[number]]
    codes = column.codes[doubted]
    kept = column.counts - np.bincount(codes[codes >= 0], minlength=len(column.values))
    found: np.ndarray = kept / max(int(column.counts.sum()), 1)
    return found


def _unfit(eyes: Eyes, number: int, believed: np.ndarray) -> frozenset[str]:
    """Values of a column that nobody should write: words for nothing, those doubted wherever they stand, and those that
    are another way to write a more frequent one."""
    known, values = eyes.texts[eyes.plan.places[number]], eyes.table.columns[eyes.plan.places[number]].values
    bad = known.placeholder | (believed <= 0) | (known.variant >= 0)
    return frozenset(values[code] for code in np.flatnonzero(bad).tolist())


def _fit(candidates: dict[str, float], bad: frozenset[str]) -> dict[str, float]:
    """The candidates that somebody may write; all of them if none is left.

    Cells that went wrong together vote for each other: where cities and states were swapped, the other swapped rows
    have a city for a state.
    """
    return {text: weight for text, weight in candidates.items() if text not in bad} or candidates


def _votes(eyes: Eyes, rows: np.ndarray, numbers: np.ndarray, flagged: Tensor) -> list[list[tuple[int, float]]]:
    """What similar rows would put into each cell, with what is not believed hidden: codes and log-probabilities."""
    found: list[list[tuple[int, float]]] = [[] for _ in rows]
    voters, size = eyes.voters, len(eyes.plan.voted)
    if voters is None:
        return found
    for some in torch.arange(len(rows)).split(PART):
        index = torch.from_numpy(rows)[some]
        hidden = flagged[some][:, :size]
        ballot = voters.memory.ask(voters.ids[index], hidden[:, None].expand(-1, size, -1), index)
        asked = torch.from_numpy(numbers)[some]
        for number in asked.unique().tolist():
            if number >= size:
                continue
            mine = (asked == number).nonzero().flatten()
            tally = Tally.of(ballot, number, mine)
            entities, share = tally.top(VOTED)
            if eyes.pages is not None:
                said = eyes.pages.fitting(index[mine], hidden[mine], number)
                entities, share = _mixed(tally, entities, said)
            entities, share = _asked_too(tally, entities, share, _by_text(eyes, number, index[mine].numpy()))
            for k, codes, shares in zip(some[mine].tolist(), (entities - FIRST).tolist(), share.tolist(), strict=True):
                found[k] = [
                    (code, float(np.log(each))) for code, each in zip(codes, shares, strict=True) if each > 1e-12
                ]
    return found


def _by_text(eyes: Eyes, number: int, rows: np.ndarray) -> Tensor:
    """Values of the column that the text of its cells suggests, as entities, int64 [r, 2]; 0 for none."""
    place = eyes.plan.places[number]
    known, codes = eyes.texts[place], eyes.table.columns[place].codes[rows]
    found = np.stack([np.append(each, -1)[codes] for each in (known.variant, known.near)], axis=1)
    return torch.from_numpy(np.where(found >= 0, found + FIRST, 0))


def _asked_too(tally: Tally, entities: Tensor, share: Tensor, more: Tensor) -> tuple[Tensor, Tensor]:
    """The best of a vote, [r, k], and what it says of some more entities, int64 [r, e], which may be among them; 0 for
    none."""
    twice = (more[:, :, None] == entities[:, None]).any(dim=2)
    # Of two that are the same, the first counts.
    twice[:, 1:] |= more[:, 1:] == more[:, :-1]
    said = tally.at(more.clamp(min=FIRST)).masked_fill(twice | (more == 0), 0.0)
    return torch.cat([entities, more.clamp(min=FIRST)], dim=1), torch.cat([share, said], dim=1)


def _mixed(tally: Tally, entities: Tensor, said: Tensor) -> tuple[Tensor, Tensor]:
    """The best of what the vote and a network propose, and half of what each gives to it; ids and shares [r, k].

    Args:
        tally: of the vote.
        entities: that it puts first, [r, k].
        said: what the network gives to every value, [r, V].
    """
    known = said.topk(min(entities.shape[1], said.shape[1]), dim=1).indices + FIRST
    # What both put forward counts once.
    twice = (known[:, :, None] == entities[:, None]).any(dim=2)
    both = torch.cat([entities, known], dim=1)
    share = (tally.at(both) + said.gather(1, (both - FIRST).clamp(min=0))) / 2
    share[:, entities.shape[1] :].masked_fill_(twice, 0.0)
    best, place = share.topk(entities.shape[1], dim=1)
    return both.gather(1, place), best


def _value(eyes: Eyes, row: int, number: int) -> str | None:
    """What stands in a cell, by the number of its column; None for no column, and where it is blank."""
    column = eyes.table.columns[eyes.plan.places[number]]
    code = int(column.codes[row])
    return None if number < 0 or code < 0 else column.values[code]


def _candidates(
    eyes: Eyes, place: int, code: int, votes: list[tuple[int, float]], voted: bool, exchanged: str | None
) -> dict[str, float]:
    """Texts that may be right, with the log-probability that they belong there.

    Args:
        eyes: on the table.
        place: of the column.
        code: of what stands there.
        votes: codes and log-probabilities.
        voted: whether rows vote on the column.
        exchanged: what stands in the cell that this one changed places with.
    """
    column, known = eyes.table.columns[place], eyes.texts[place]
    # Where nothing stands, another word for nothing is no help.
    empty = code < 0 or bool(known.placeholder[code])
    candidates = {
        column.values[each]: weight
        for each, weight in votes
        if each != code and not (empty and known.placeholder[each])
    }
    least = min((weight for _, weight in votes[:VOTED]), default=0.0) - 1.0
    cells = max(int(column.counts.sum()), 1)

    def add(text: str | None, count: int) -> None:
        if text and (code < 0 or text != column.values[code]) and text not in candidates:
            candidates[text] = least if voted else float(np.log((count + 0.5) / cells))

    if code >= 0:
        for near in (int(known.variant[code]), int(known.near[code])):
            if near >= 0:
                add(column.values[near], int(column.counts[near]))
        # A text that the table does not hold is as likely as one that it holds once.
        add(known.rewritten[code], 1)
        add(known.spelt[code], 1)
        add(exchanged, 1)
    return candidates


def _ranked(
    value: str | None, candidates: dict[str, float], far: float, explained: Mapping[str, float] | None = None
) -> list[tuple[str, float, float]]:
    """Candidates, best first: text, log of its share among all, and what the vote gave it.

    Args:
        value: what stands there; None where it is blank.
        candidates: texts that may be right, with the log-probability that they belong there.
        far: log-probability that the value stands in place of any other.
        explained: texts that explain the value by themselves, and what that is worth.
    """
    if not candidates:
        return []
    texts = list(candidates)
    belongs = np.array([candidates[text] for text in texts])
    slips = np.zeros(len(texts)) if value is None else np.maximum(typed_as(texts, [value] * len(texts)) - WHICH, far)
    for place, text in enumerate(texts):
        slips[place] = (explained or {}).get(text, slips[place])
    score = belongs + slips
    share = score - np.logaddexp.reduce(score)
    order = sorted(range(len(texts)), key=lambda i: (-score[i], texts[i]))
    return [(texts[i], float(share[i]), float(belongs[i])) for i in order]


def _sure(ranked: list[tuple[str, float, float]], error: float, voted: bool, blank: bool) -> list[float]:
    if not ranked:
        return [0.0] * len(SURE)
    best, second = ranked[0][1], ranked[1][1] if len(ranked) > 1 else -20.0
    slip = best - ranked[0][2]
    doubt = float(np.log(error / max(1 - error, 1e-6)))
    return [
        best,
        min(best - second, 20.0),
        ranked[0][2],
        slip,
        doubt,
        float(voted),
        float(ranked[0][2] < -8),
        float(blank),
    ]
