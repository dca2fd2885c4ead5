"""One row in words: which values do not belong and why, and what would have made it normal."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from carat.data.text import visible
from carat.explain.choice import CUT
from carat.results.precedents import Agreement, Precedent
from carat.results.rarity import Pair

SCHEMA, VERSION = "carat.record", 1
"""Of `Explanation.to_json`. Fields are only ever added; one that changes its meaning raises the version."""

DOUBTFUL = 0.7
"""Above this likelihood, the least likely entity of a record is no hint."""
FILLED = 0.95
"""A domain that has an entity in so many of the training records is expected to have one."""


def _finite(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def _only(times: int) -> str:
    return {1: "only once", 2: "only twice"}.get(times, f"only {times:,} times")


def _any_of(texts: list[str]) -> str:
    """As they are listed in a sentence: a, b or c."""
    return " or ".join(", ".join(part) for part in (texts[:-1], texts[-1:]) if part)


def worse(anomalous: bool) -> str:
    """What is said of a fix whose score is below the threshold, by whether the record was anomalous before."""
    return "still anomalous" if anomalous else "makes it anomalous"


@dataclass(frozen=True)
class Witness:
    """What the counts say about a value and another value of the same row.

    Args:
        domain: the other value's column.
        entity: the other value.
        together: how often the two were seen together in training.
        usual: what the other value usually goes with instead, and how often.
    """

    domain: str
    entity: str
    together: int
    usual: tuple[tuple[str, int], ...]

    def to_json(self) -> dict[str, Any]:
        """As a part of `Explanation.to_json`."""
        return {
            "column": self.domain,
            "value": self.entity,
            "together": self.together,
            "usual": [{"value": text, "count": count} for text, count in self.usual],
        }


@dataclass(frozen=True)
class EntityView:
    """One value of the row.

    Args:
        domain: its column.
        entity: its text; None if missing.
        likelihood: how likely it is, given the rest of the row; None if missing.
        seen: how often it was seen in training.
        against: why it is doubtful, the strongest reason first; empty if it is not flagged.
        unseen: whether it is new to the model. A value with `seen` 0 that is not new occurs only in held-out rows.
        filled: if it is missing, the share of the training rows that have a value here.
    """

    domain: str
    entity: str | None
    likelihood: float | None
    seen: int
    against: tuple[Witness, ...] = ()
    unseen: bool = False
    filled: float | None = None

    @property
    def named(self) -> str:
        """Its column and its text, to be read: spaces that nobody would see are drawn."""
        return f"{self.domain} {'missing' if self.entity is None else visible(self.entity)}"

    @property
    def lacking(self) -> bool:
        """Whether it is missing where an entity is expected."""
        return self.filled is not None and self.filled >= FILLED

    @property
    def flagged(self) -> bool:
        """Whether its likelihood is below 0.5."""
        return self.likelihood is not None and self.likelihood < CUT

    def to_json(self) -> dict[str, Any]:
        """As a part of `Explanation.to_json`."""
        return {
            "column": self.domain,
            "value": self.entity,
            "likelihood": _finite(self.likelihood),
            "flagged": self.flagged,
            "seen": self.seen,
            "new": self.unseen,
            "filled": _finite(self.filled),
            "against": [one.to_json() for one in self.against],
        }

    def is_new(self) -> str:
        """What there is to say about a value that training never saw, in one sentence."""
        if self.unseen:
            return f"{self.named} was never seen in training."
        return f"{self.named} is only in held-out rows, so the model has learned nothing about it."

    def is_lacking(self) -> str:
        """What there is to say of a domain that should have an entity."""
        often = "every training row has it" if self.filled == 1 else "nearly every training row has it"
        return f"{self.domain} is missing; {often}."

    def in_words(self) -> str:
        """Why it does not belong, in one sentence."""
        if not self.flagged:
            return f"{self.named} belongs here."
        if not self.seen:
            return self.is_new()
        words = f"{self.named} is unlikely here"
        if not self.against:
            return f"{words}."
        first = self.against[0]
        seen = f"seen {_only(first.together)}" if first.together else "never seen"
        words += f": {seen} with {first.domain} {visible(first.entity)}"
        if first.usual:
            goes = (
                "usually goes"
                if first.usual[0][1] > 1
                else "was seen once each"
                if first.usual[1:]
                else "was seen once"
            )
            words += f", which {goes} with {_any_of([visible(text) for text, _ in first.usual])}"
        return f"{words}."


@dataclass(frozen=True)
class Counterfactual:
    """A suggested fix: the row with some values replaced. The research literature calls it a counterfactual.

    Args:
        rank: 1 is the best.
        score: the detector's score of the fixed row.
        percentile: of the score.
        valid: whether the score of the fixed row is not below the threshold.
        changes: by column, the value before and after.
        support: by column, how often the new value was seen with the least familiar of the other values.
        cost: of the changes; None without costs.
        known: by column, with how many of the other values the new value was ever seen.
    """

    rank: int
    score: float
    percentile: float
    valid: bool
    changes: dict[str, tuple[str | None, str]]
    support: dict[str, int]
    cost: float | None
    known: dict[str, int] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As a part of `Explanation.to_json`."""
        return {
            "rank": self.rank,
            "score": _finite(self.score),
            "percentile": _finite(self.percentile),
            "valid": self.valid,
            "cost": _finite(self.cost),
            "changes": [
                {
                    "column": name,
                    "before": before,
                    "after": after,
                    "support": self.support[name],
                    "known": self.known.get(name, 0),
                }
                for name, (before, after) in self.changes.items()
            ],
        }

    def in_words(self) -> str:
        """What changes, in one line."""
        return ", ".join(
            f"{name} {'missing' if old is None else visible(old)} → {visible(new)}"
            for name, (old, new) in self.changes.items()
        )

    def verdict(self, *, anomalous: bool = True) -> str:
        """Where its score lies, what it costs, and whether it helps at all; a record may have been normal before."""
        cost = "" if self.cost is None else f", cost {self.cost:g}"
        return f"percentile {self.percentile:.1f}{cost}{'' if self.valid else f', {worse(anomalous)}'}"


@dataclass(frozen=True)
class Explanation:
    """One row: why it was flagged, and what would have made it normal. `print` shows it in words.

    Args:
        record: the row's number, index label or ID.
        score: the detector's score.
        percentile: of the score; 0 = least normal.
        anomalous: whether the score is below the threshold, or the alarm reaches its own.
        entities: the values of the row, in the order of the columns that take part.
        counterfactuals: the best suggested fixes.
        reason: what limited them, if anything did.
        pairs: if no value is flagged, values of the row that are seldom seen together, the rarest pair first.
        count: how many fixes were found, including those not shown.
        exhausted: whether every combination was tried.
        alarm: the probability that some value is wrong; None if no judge was asked.
        below: whether the score is below the threshold. An anomalous row whose score is not has an alarm.
        precedents: the training rows most like it, its flagged values aside; none if the model keeps no training rows.
        agreements: what these rows have in place of each flagged value, in the order of the columns.
    """

    record: Any
    score: float
    percentile: float
    anomalous: bool
    entities: tuple[EntityView, ...]
    counterfactuals: tuple[Counterfactual, ...]
    reason: str | None
    pairs: tuple[Pair, ...] = ()
    count: int = 0
    exhausted: bool = True
    alarm: float | None = None
    below: bool = True
    precedents: tuple[Precedent, ...] = ()
    agreements: tuple[Agreement, ...] = ()

    def place(self) -> tuple[float, float]:
        """Where it stands in a list, the strangest first: by alarm, then by score."""
        return -1.0 if self.alarm is None else -self.alarm, self.score

    @property
    def verdict(self) -> str:
        """In a word or two: a row is not called normal while one of its values is flagged."""
        if self.anomalous and self.below:
            return "anomalous"
        if self.anomalous:
            return "anomalous by its alarm, not by its score"
        return "score above the threshold, but some values look wrong" if self.blamed else "normal"

    @property
    def blamed(self) -> list[EntityView]:
        """The flagged values, the least likely first."""
        return [view for view in self._by_likelihood() if view.flagged]

    def _by_likelihood(self) -> list[EntityView]:
        told = (view for view in self.entities if view.likelihood is not None)
        return sorted(told, key=lambda view: view.likelihood or 0.0)

    def _precedent(self, view: EntityView) -> list[str]:
        """What similar rows have in place of a value."""
        return [one.in_words() for one in self.agreements if one.domain == view.domain]

    def in_words(self) -> list[str]:
        """Why the row was flagged, in sentences: its flagged values, or what else is odd about it."""
        # Without a judge nobody knows whether a missing value is news.
        empty = [] if self.alarm is None else [view for view in self.entities if view.lacking]
        lacking = [sentence for view in empty for sentence in (view.is_lacking(), *self._precedent(view))]
        if self.blamed:
            doubted = [sentence for view in self.blamed for sentence in (view.in_words(), *self._precedent(view))]
            return doubted + lacking
        present = [view for view in self.entities if view.entity is not None]
        if not present:
            return ["The row has no values."]
        said = lacking or ["No single value stands out."]
        said += [
            f"The least likely value is {view.named}, with likelihood {view.likelihood:.2f}."
            for view in self._by_likelihood()[:1]
            if view.likelihood is not None and view.likelihood < DOUBTFUL
        ]
        new = [view for view in present if not view.seen]
        said += [view.is_new() for view in new]
        if self.pairs:
            rarest = self.pairs[0]
            one, other = self.entities[rarest.first], self.entities[rarest.second]
            chance = f"about {rarest.expected:,.0f}" if rarest.expected >= 10 else f"about {rarest.expected:.1f}"
            seen = f"seen together {_only(rarest.together)}" if rarest.together else "never seen together"
            said.append(
                f"The rarest pair is {one.named} and {other.named}: {seen}, while chance alone would give {chance}."
            )
        elif not new and not lacking and len(present) > 1:
            said.append("No pair of its values is rare.")
        return said

    def to_json(self) -> dict[str, Any]:
        """The whole as plain values, in the documented schema (docs/schema.md); numbers that are not finite are None.

        The page, the notebook view, `carat recourse --json` and services read this and nothing else.
        """
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "record": self.record if isinstance(self.record, int) else str(self.record),
            "score": _finite(self.score),
            "percentile": _finite(self.percentile),
            "anomalous": self.anomalous,
            "alarm": _finite(self.alarm),
            "verdict": self.verdict,
            "values": [view.to_json() for view in self.entities],
            "words": self.in_words(),
            "blamed": [view.domain for view in self.blamed],
            "pairs": [
                {
                    "columns": [self.entities[pair.first].domain, self.entities[pair.second].domain],
                    "together": pair.together,
                    "expected": _finite(pair.expected),
                }
                for pair in self.pairs
            ],
            "counterfactuals": [change.to_json() for change in self.counterfactuals],
            "count": self.count,
            "exhausted": self.exhausted,
            "reason": self.reason,
            "precedents": [one.to_json() for one in self.precedents],
            "agreements": [one.to_json() for one in self.agreements],
        }

    def _repr_html_(self) -> str:
        from carat.report import explanation_html  # noqa: PLC0415 - the page is made of results, not the other way

        return explanation_html(self)

    def __str__(self) -> str:
        alarm = "" if self.alarm is None else f"alarm {self.alarm:.2f}, "
        lines = [f"Row {self.record}: {self.verdict}, {alarm}percentile {self.percentile:.2f}"]
        lines += [f"  {sentence}" for sentence in self.in_words()] if self.anomalous or self.blamed else []
        lines += [
            f"  {change.rank}. {change.in_words()} ({change.verdict(anomalous=self.anomalous)})"
            for change in self.counterfactuals
        ]
        if self.reason:
            lines.append(f"  Note: {self.reason}.")
        return "\n".join(lines)
