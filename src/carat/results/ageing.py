"""Has a model aged? What is usual in its held-out records, and whether a batch still looks like them.

Shares are of records: with a value never seen in training, with a missing one, with a flagged one, listed as anomalous,
or scoring among the lowest tenth. A batch speaks of age only where its share is a multiple of the usual one and chance
can't have made it so.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.sketch import bound
from carat.data.vocabulary import MISSING, Vocabulary

TIMES = {"unseen": 2.0, "missing": 2.0, "flagged": 2.0, "listed": 2.0, "low": 1.5}
"""How many times the usual share is too much."""
SAYS = {
    "unseen": "have a value that is new to the model",
    "missing": "have a missing value",
    "flagged": "have a flagged value",
    "listed": "are anomalous",
    "low": "score among the lowest tenth",
}
"""The shares in words; the most telling first."""
SURE = 3.0
"""Standard errors by which either share may be off by chance."""
SELECTED = ("flagged", "listed", "low")
"""Where more than half of the rows are so, somebody has picked them, and they say nothing of age."""
FEWEST = 10
"""Fewer rows than this are no sign of anything."""
LEAST = 0.005
"""A share below this is never much, whatever it was before."""
AGED = "aged"
"""The code of the remark."""
LOW = 0.1
"""Records below this quantile of the usual scores score low."""
QUANTILES = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
BEYOND = 0.25
"""Share of records with a value that came after the networks were trained, from which on they should be."""


@dataclass
class Counted:
    """How many records of a table are so and so.

    Args:
        records: of each share, how many were looked at.
        found: how many of them are so.
    """

    records: dict[str, int] = field(default_factory=dict)
    found: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, which: Tensor) -> None:
        """Records that are (bool [n]) or are not so."""
        self.records[name] = self.records.get(name, 0) + len(which)
        self.found[name] = self.found.get(name, 0) + int(which.sum())

    def merge(self, other: Counted) -> None:
        """Count the records that another one counted, too."""
        for name, records in other.records.items():
            self.records[name] = self.records.get(name, 0) + records
            self.found[name] = self.found.get(name, 0) + other.found[name]

    def share(self, name: str) -> float:
        """Of the records that were looked at."""
        return self.found.get(name, 0) / max(self.records.get(name, 0), 1)

    def shares(self) -> dict[str, float]:
        """All of them."""
        return {name: self.share(name) for name in self.records}


@dataclass(frozen=True)
class Usual:
    """What is usual for a model, as its held-out records show it.

    Args:
        counted: their shares.
        quantiles: of their scores, by quantile.
        cuts: the score below which, and the alarm from which on, records were listed.
    """

    counted: Counted
    quantiles: Mapping[str, float]
    cuts: tuple[float, float | None]

    @property
    def low(self) -> float | None:
        """Below this score lies the lowest tenth."""
        return self.quantiles.get(str(LOW))

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back."""
        return {
            "records": dict(self.counted.records),
            "found": dict(self.counted.found),
            "quantiles": dict(self.quantiles),
            "cuts": list(self.cuts),
        }

    @classmethod
    def from_json(cls, facts: Mapping[str, Any]) -> Usual:
        """The inverse of `to_json`."""
        score, alarm = facts["cuts"]
        return cls(Counted(dict(facts["records"]), dict(facts["found"])), dict(facts["quantiles"]), (score, alarm))

    def unusual(self, met: Counted) -> list[str]:
        """Which shares of a table are far above the usual ones; chance alone does not do that."""
        usual = self.counted
        found = []
        for name, times in TIMES.items():
            if not met.records.get(name) or not usual.records.get(name):
                continue
            much = met.share(name) >= times * max(usual.share(name), LEAST)
            high = bound(usual.found[name], usual.records[name], SURE)
            low = bound(met.found[name], met.records[name], -SURE)
            selected = name in SELECTED and met.share(name) > 0.5
            if much and met.found[name] >= FEWEST and low > high and not selected:
                found.append(name)
        return found


def outdated(met: Counted) -> bool:
    """Whether so many records hold a value that came after the networks were trained that these should be, again."""
    return bool(met.records.get("later")) and bound(met.found["later"], met.records["later"], -SURE) > BEYOND


def in_words(usual: Usual | None, met: Counted) -> str | None:
    """One line on a table that shows a model's age, and what to do about it; None where it shows none.

    Args:
        usual: what is usual for the model; None where nobody counted.
        met: the table.
    """
    if outdated(met):
        return (
            f"{_percent(met.share('later'))} of these rows have a value that the model's networks have never learned; "
            "a refit is due"
        )
    unusual = [] if usual is None else usual.unusual(met)
    if usual is None or not unusual:
        return None
    said = [
        f"{_percent(met.share(name))} of these rows {SAYS[name]}, against {_percent(usual.counted.share(name))} of the "
        "rows held out of training"
        for name in unusual[:1]
    ]
    if unusual[0] == "missing":
        return f"{said[0]}; check the data first: if that is how it is now, an update is due"
    return f"the model is out of date: {said[0]}; an update is due"


def described(usual: Usual) -> str:
    """The usual shares in words, for whoever inspects a model."""
    shares = usual.counted.shares()
    return ", ".join(f"{_percent(shares[name])} {SAYS[name]}" for name in SAYS if name in shares and name != "low")


def look(met: Counted, ids: Tensor, pairs: Pairs, vocabulary: Vocabulary) -> None:
    """Count records ids [n, m] with values that training never met, and with missing ones.

    A value that only held-out records have was not met in training either: so the usual share can be counted on them.
    """
    rows = ids.long() + vocabulary.offsets
    unseen = (pairs.singles[rows] <= 0) & (ids != MISSING)
    met.add("unseen", unseen.any(dim=1))
    met.add("missing", (ids == MISSING).any(dim=1))


def _percent(share: float) -> str:
    """A share with as many digits as it takes.

    >>> _percent(0.152), _percent(0.0041)
    ('15%', '0.4%')
    """
    return f"{100 * share:.0f}%" if share >= 0.0995 else f"{100 * share:.1f}%"
