"""Trains at a station, as two dozen sites report them: every train has a row from each site, and they disagree.

A third of the sites is good, a third middling, and a third wrong in half of its times. Bad sites give the scheduled
time as the actual one, the time of another zone or of the other half of the day, or leave it blank; some write times
in a form of their own, and two copy from another bad site.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from made_up.common import listed, word
from made_up.twin import Twin

COLUMNS = listed("src train sched_dep act_dep sched_arr act_arr")
SITES = 24
WRONG = [0.03, 0.05, 0.08] * 3 + [0.15, 0.2, 0.3, 0.2] * 2 + [0.4, 0.5, 0.6, 0.5, 0.4, 0.5, 0.6]
"""The share of wrong times, site by site."""
STYLES = {12: "24h", 19: "date first", 21: "date last"}
"""Sites that write most times in a form of their own."""
COPIES = {20: 19, 23: 22}
"""Sites that copy most cells from another one."""
REPORTED = 0.98

Said = tuple[int | None, str]
"""A time in minutes, or None for blank, and the kind of error in it, or nothing."""


@dataclass(frozen=True)
class Site:
    """A site that reports times.

    Args:
        name: its address.
        wrong: the share of its times that are wrong.
        blank: the share that is left out.
        style: how it writes them: "", or one of `STYLES`.
    """

    name: str
    wrong: float
    blank: float
    style: str = ""


def _sites(draw: Random) -> list[Site]:
    names: set[str] = set()
    while len(names) < SITES:
        what = draw.choice(listed("rail trains times boards tracks departures"))
        names.add(f"{word(draw, 1).lower()}{what}.{draw.choice(listed('com com com net org info io eu'))}")
    # The best sites leave hardly anything out.
    blank = [0.01] * 5 + draw.sample([0, 0, 0.03, 0.1, 0.3] * 4, SITES - 5)
    order = draw.sample(sorted(names), SITES)
    return [Site(name, WRONG[at], blank[at], STYLES.get(at, "")) for at, name in enumerate(order)]


def _train(draw: Random) -> tuple[str, tuple[int, ...]]:
    """Its name, and its four times in minutes after midnight."""
    ends = [word(draw, 1)[:3].upper() for _ in range(2)]
    leaves, takes = draw.randrange(300, 1320), draw.randrange(45, 330)
    late = 0 if draw.random() < 0.35 else int(draw.expovariate(1 / 14))
    left = leaves + late - (2 if draw.random() < 0.1 else 0)
    came = leaves + takes + max(-6, late + int(draw.gauss(-2, 6)))
    name = f"{draw.choice(listed('IC RE NX EC'))}-{draw.randrange(100, 2900)}-{ends[0]}-{ends[1]}"
    return name, (leaves, left, leaves + takes, came)


def _said(draw: Random, site: Site, times: tuple[int, ...], place: int) -> Said:
    """What a site says of one of a train's times; actual times go wrong more often than scheduled ones."""
    actual = place in (1, 3)
    if draw.random() < site.blank * (1.5 if actual else 0.5):
        return None, "blank"
    if draw.random() >= site.wrong * (1.3 if actual else 0.6):
        return times[place], ""
    if actual and draw.random() < 0.5:
        # A train that was on time is right all the same.
        return times[place - 1], "scheduled as actual" if times[place - 1] != times[place] else ""
    if draw.random() < 0.25:
        return times[place] + draw.choice([-60, 60, 720]), "zone or am/pm"
    return times[place] + draw.choice([-1, 1]) * max(1, int(draw.expovariate(1 / 9))), "wrong time"


def _clock(minutes: int) -> str:
    hour, minute = divmod(minutes % 1440, 60)
    return f"{hour % 12 or 12}:{minute:02d} {'a.m.' if hour < 12 else 'p.m.'}"


def _written(draw: Random, site: Site, said: Said) -> tuple[str, str]:
    """A time as the site writes it, and the kind of error, which counts the writing."""
    minutes, kind = said
    if minutes is None:
        return "", kind
    text = _clock(minutes)
    if site.style == "24h" and draw.random() < 0.9:
        text = f"{minutes % 1440 // 60:02d}:{minutes % 60:02d}"
    elif site.style == "date first" and draw.random() < 0.8:
        text = f"05/14/2024 {text.replace(' a.m.', 'AM').replace(' p.m.', 'PM')}"
    elif site.style == "date last" and draw.random() < 0.5:
        text = f"{text} (May 14)"
    else:
        return text, kind
    return text, f"{kind}+format" if kind else "format"


def make(draw: Random, rows: int) -> Twin:
    """Trains by sites: a train for every 24 rows, of which a few are missing."""
    sites = _sites(draw)
    trains = [_train(draw) for _ in range(max(1, rows // SITES))]
    reports = [(at, train) for at in range(SITES) for train in trains if draw.random() < REPORTED]
    told: dict[tuple[int, str, int], Said] = {}
    lines = []
    for at, (train, times) in reports:
        for place in range(len(times)):
            copied = told.get((COPIES.get(at, -1), train, place))
            if copied is None or draw.random() < 0.2:
                copied = _said(draw, sites[at], times, place)
            told[at, train, place] = copied
        written = [_written(draw, sites[at], told[at, train, place]) for place in range(len(times))]
        lines.append(([sites[at].name, train, *map(_clock, times)], written))
    draw.shuffle(lines)
    twin = Twin(COLUMNS, [right for right, _ in lines], draw)
    for row, (_, written) in enumerate(lines):
        for name, (text, kind) in zip(COLUMNS[2:], written, strict=True):
            twin.put(row, name, text, kind)
    return twin
