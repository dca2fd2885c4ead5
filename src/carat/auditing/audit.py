"""The audit of a table: which cells are wrong, and what should stand there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.auditing.blanks import unremarkable, without_guesses
from carat.auditing.contained import Relations
from carat.auditing.contested import UNCERTAIN, contested
from carat.auditing.decided import Decided
from carat.auditing.findings import ColumnReport, Findings, Role
from carat.auditing.judging import Jury, Known, Lessons, posterior, teach
from carat.auditing.kinds import Describing, swaps
from carat.auditing.newcomers import DOUBTED, UNSURE, doubtful
from carat.auditing.options import AuditOptions
from carat.auditing.pages import Pages
from carat.auditing.programs import Pattern
from carat.auditing.proposals import Proposed, propose
from carat.auditing.readers import Readers
from carat.auditing.roles import roles
from carat.auditing.shelf import Shelf
from carat.auditing.signals import Eyes, Plan
from carat.auditing.table import AuditTable
from carat.auditing.teaching import Taught
from carat.auditing.trust import Trust, learn_trust
from carat.auditing.usual import FORM, Usual
from carat.auditing.votes import Learned, encoded, learn_votes
from carat.observing import Remark, Stage
from carat.profiles import fast
from carat.training import Run
from carat.training.box import Box

PART = 20_000
"""Rows judged between two steps that a killed audit need not repeat."""
AT_ONCE = 2_048
"""Rows looked at together."""
FEWEST = 8
"""Rows below which there is nothing to learn from."""


class Spread(Protocol):
    """Judges the parts of a table elsewhere."""

    def __call__(self, judge: Judge, parts: Sequence[Tensor]) -> Iterator[tuple[int, Tensor]]:
        """Numbers of the parts, in any order, and what the judge says of each; the parts are numbers of rows."""
        ...


def audit_table(
    table: AuditTable,
    options: AuditOptions,
    run: Run,
    taught: Taught | None = None,
    patterns: Sequence[Pattern] = (),
    spread: Spread | None = None,
) -> Findings:
    """All cells of the table whose probability of being wrong reaches `options.cut`, the most suspicious first.

    Args:
        table: what is audited.
        options: which columns take part, and how sure it must be.
        run: seed, observer, and where progress is kept.
        taught: what somebody decided about some of the cells.
        patterns: rewrites that the decided cells ask for.
        spread: judges cells elsewhere; None judges them here.
    """
    raw, found = table, roles(table, options)
    voted, text = (tuple(p for p, (role, _) in enumerate(found) if role == wanted) for wanted in ("voted", "text"))
    if table.rows < FEWEST or not voted + text:
        return _nothing(table, found)
    usual = Usual.of(raw, (*voted, *text))
    table = usual.table
    shelf = Shelf(run.checkpoints)
    # Checkpoints are the shelf's: the small networks train in seconds and need none of their own.
    run = replace(run, checkpoints=None)
    # A single column has nobody to be voted on by.
    if len(voted) == 1:
        voted, text = (), (*text, *voted)
    learned = shelf.keep("votes", lambda: learn_votes(table, voted, run), Learned) if voted else None
    pages = _pages(table, voted, options, run, shelf)
    plan = Plan(voted, text, learned, Relations.of(table, (*voted, *text), run.seed), run.seed, pages)
    eyes = Eyes(table, plan)
    jury, trust = shelf.keep_pair("judge", lambda: _learned(eyes, usual, run, taught), Jury, Trust)
    odds = _judged(Judge(eyes, jury), run, shelf, spread)
    error, rate = posterior(odds, jury.share)
    decided = Decided.of(eyes, raw, taught, patterns)
    said = np.where(unremarkable(eyes), 0.0, error.numpy())
    unsure = doubtful(eyes)
    said = np.where(unsure, np.minimum(said, DOUBTED), said)
    return _findings(eyes, usual, said, unsure, rate, trust, options, found, run, decided)


def _pages(table: AuditTable, voted: tuple[int, ...], options: AuditOptions, run: Run, shelf: Shelf) -> Pages | None:
    """The table as networks read it; None where the profile has none, or where there are no columns to relate."""
    if options.profile == "instant":
        return None
    if len(voted) < 2:
        text = "fewer than two columns have values that repeat, so there is nothing for a network to learn"
        run.observer.remark(Remark("no-network", f"{text}; the audit goes on as with the profile instant"))
        return None
    ids, vocabulary = encoded([table.columns[place] for place in voted])
    readers = Readers.learn(ids, vocabulary, Box.of(options.minutes, options.steps, fast().minutes), run, shelf)
    return Pages.of(readers, ids, run.observer, shelf)


def _learned(eyes: Eyes, usual: Usual, run: Run, taught: Taught | None) -> tuple[Jury, Trust]:
    lessons = Lessons(eyes, as_text(eyes.table), run)
    known = None
    if taught is not None and len(taught):
        number = {place: k for k, place in enumerate(eyes.plan.places)}
        mine = np.array([place in number for place in taught.column.tolist()], dtype=bool)
        if mine.any():
            numbers = np.array([number[place] for place in taught.column[mine].tolist()], dtype=np.int64)
            known = Known.of(eyes, lessons, taught.row[mine], numbers, _said_wrong(usual, taught)[mine])
    jury, doubted = teach(eyes, lessons, run, known)
    rows = torch.from_numpy(lessons.rows)
    errors = [posterior(jury.logits(copy.sight.told, rows), jury.share)[0].numpy() for copy in lessons.copies]
    return jury, learn_trust(lessons, errors, doubted, run)


def _said_wrong(usual: Usual, taught: Taught) -> np.ndarray:
    """Which decided cells are wrong in what they say, bool [k]: not those that are right in the usual form."""
    found = taught.wrong.copy()
    for k, (row, place) in enumerate(zip(taught.row.tolist(), taught.column.tolist(), strict=True)):
        text, _ = usual.rewrite(row, place)
        found[k] &= text is None or text != taught.truth[k]
    return found


def as_text(table: AuditTable) -> pa.Table:
    """The table as Arrow strings, columns named by their places."""
    columns = [
        pa.array(column.values, pa.string()).take(pa.array(column.codes, mask=column.codes < 0))
        for column in table.columns
    ]
    return pa.table(columns, names=[str(place) for place in range(len(columns))])


@dataclass(frozen=True)
class Judge:
    """All that it takes to judge cells of a table.

    Args:
        eyes: on the table.
        jury: what it has learned.
    """

    eyes: Eyes
    jury: Jury

    def odds(self, rows: Tensor, stage: Stage | None = None) -> Tensor:
        """Log-odds that the cells of some rows are wrong, [r, c]."""
        return torch.cat([self.jury.logits(self.eyes.look(some, stage).told, some) for some in rows.split(AT_ONCE)])


def _judged(judge: Judge, run: Run, shelf: Shelf, spread: Spread | None) -> Tensor:
    """Log-odds that each cell is wrong, [n, c]."""
    rows = judge.eyes.table.rows
    stage = run.observer.stage("judging cells", rows)
    parts = list(torch.arange(rows).split(PART))
    odds: dict[int, Tensor] = {}
    for number in range(len(parts)):
        held = shelf.read(f"odds-{number}")
        if held is not None:
            odds[number] = held["odds"]
            stage.advance(len(parts[number]))
    left = [number for number in range(len(parts)) if number not in odds]
    found: Iterator[tuple[int, Tensor]]
    if spread is None:
        found = ((place, judge.odds(parts[number], stage)) for place, number in enumerate(left))
    else:
        found = spread(judge, [parts[number] for number in left])
    for place, told in found:
        odds[left[place]] = told
        shelf.write(f"odds-{left[place]}", {"odds": told})
        if spread is not None:
            stage.advance(len(told))
    stage.finish()
    return torch.cat([odds[number] for number in range(len(parts))])


def _findings(
    eyes: Eyes,
    usual: Usual,
    said_wrong: np.ndarray,
    unsure: np.ndarray,
    rate: float,
    trust: Trust,
    options: AuditOptions,
    found: tuple[tuple[Role, str], ...],
    run: Run,
    decided: Decided,
) -> Findings:
    """Everything about the cells whose error reaches the cut.

    Args:
        said_wrong: the probability that what a cell says is wrong, in whatever form, [n, c].
    """
    error = decided.error(np.maximum(said_wrong, FORM * usual.odd(eyes.plan.places)))
    flagged = error >= options.cut
    row, number = np.nonzero(flagged)
    order = np.lexsort((number, row, -error[row, number]))
    row, number = row[order], number[order]
    wrong = error[row, number]
    stage = run.observer.stage("proposing values", 2)
    # A cell that is wrong in its form alone is believed.
    doubted = flagged & ((said_wrong >= options.cut) | ~usual.odd(eyes.plan.places))
    proposed = propose(eyes, row, number, torch.from_numpy(doubted[row]), wrong)
    stage.advance()
    confidence = np.minimum(wrong * trust.right(proposed), np.where(unsure[row, number], UNSURE, wrong))
    guessed = without_guesses(eyes, proposed, confidence)
    guessed = usual.proposals(*guessed, said_wrong[row, number], eyes.plan.places, options.cut)
    proposed, confidence = decided.proposals(*guessed)
    group = swaps(eyes, proposed)
    kinds, reasons = _described(Describing(eyes, usual), proposed, flagged, group)
    said = decided.said(row, number)
    # What somebody decided, or asked for by a pattern, is nothing to be in doubt about.
    untold = np.array([not word for word in said], dtype=bool) & (confidence == guessed[1])
    disputed = contested(eyes, row, number, kinds) & untold
    confidence = np.where(disputed, np.minimum(confidence, UNCERTAIN), confidence)
    stage.finish()
    places = np.asarray(eyes.plan.places, dtype=np.int64)
    findings = Findings(
        row=row.astype(np.int64),
        column=places[number] if len(number) else np.empty(0, dtype=np.int64),
        kind=kinds,
        error=wrong,
        proposal=proposed.text,
        confidence=confidence,
        alternatives=proposed.others,
        reason=reasons,
        group=group,
        columns=_reports(usual.raw, found, eyes, np.bincount(number, minlength=len(places))),
        rate=rate,
        decision=said,
        patterns=decided.learned(),
        contested=_by_column(eyes, number[disputed]),
    )
    return findings.take(decided.shown(proposed))


def _by_column(eyes: Eyes, numbers: np.ndarray) -> tuple[tuple[str, int], ...]:
    """How many cells there are of each column, by name."""
    each, count = np.unique(numbers, return_counts=True)
    names = [eyes.table.columns[eyes.plan.places[number]].name for number in each.tolist()]
    return tuple(zip(names, count.tolist(), strict=True))


def _described(
    describing: Describing, proposed: Proposed, flagged: np.ndarray, group: np.ndarray
) -> tuple[list[str], list[str]]:
    kinds, reasons = [], []
    for k, (row, number) in enumerate(zip(proposed.row.tolist(), proposed.number.tolist(), strict=True)):
        text = proposed.text[k]
        kind = "misplaced" if group[k] >= 0 else describing.kind(row, number, text)
        kinds.append(kind)
        reasons.append(describing.say(row, number, kind, text, flagged[row]))
    return kinds, reasons


def _reports(
    table: AuditTable, found: tuple[tuple[Role, str], ...], eyes: Eyes | None, suspicious: np.ndarray
) -> tuple[ColumnReport, ...]:
    number = {} if eyes is None else {place: k for k, place in enumerate(eyes.plan.places)}
    foretold = {} if eyes is None else dict(zip(eyes.plan.voted, eyes.foretold.tolist(), strict=True))
    return tuple(
        ColumnReport(
            name=column.name,
            role=role,
            why=why,
            values=len(column.values),
            blank=column.blank,
            suspicious=int(suspicious[number[place]]) if place in number else 0,
            foretold=foretold.get(place, float("nan")),
        )
        for place, (column, (role, why)) in enumerate(zip(table.columns, found, strict=True))
    )


def _nothing(table: AuditTable, found: tuple[tuple[Role, str], ...]) -> Findings:
    """Findings of a table in which nothing can be looked at."""
    none = np.empty(0)
    return Findings(
        none.astype(np.int64),
        none.astype(np.int64),
        [],
        none,
        [],
        none,
        [],
        [],
        none.astype(np.int64),
        _reports(table, found, None, none),
    )
