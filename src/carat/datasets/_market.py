"""What the invented trade world is made of: places with their ports, goods, companies, and weighted choices.

Everything is held as arrays of entity numbers, so that a world of a million entities is built without a Python loop.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.integer[Any]]
Floats = NDArray[np.floating[Any]]

# The numbers below are not measured on real trade. They are set so that a table of the paper's size has
# about its number of entities, 92 to 96 % of the pairs of a held-out record were seen before, and an entity
# replaced at random can be told from the pairs it makes, mostly but not always.
PLACES_PER_REGION = 12
GOODS_PER_CHAPTER = 9
MAX_REGIONS = 120
MAX_CHAPTERS = 96
"""The Harmonized System has chapters 01 to 97, and 77 is not in use."""

REGION_CHAPTERS = 5
ROUTE_CARRIERS = 5
SECOND_PLACE = 0.12
LOCAL_TRADE = 0.75


class Choice:
    """Weighted draws of one item out of a group of items, for a whole array of groups at once.

    Args:
        weight: the weight of each item.
        group: the group of each item; by default all are in group 0.
        groups: the number of groups; an empty one draws from all items.
    """

    def __init__(self, weight: Floats, group: Ints | None = None, groups: int = 1) -> None:
        group = np.zeros(len(weight), np.int64) if group is None else group
        self._order: Ints = np.argsort(group, kind="stable").astype(np.int32)
        self._cumulative = np.cumsum(weight[self._order], dtype=np.float64)
        edges = np.concatenate([[0.0], self._cumulative])
        sizes = np.bincount(group, minlength=groups)
        ends = np.cumsum(sizes)
        self._low = np.where(sizes > 0, edges[ends - sizes], 0.0)
        self._high = np.where(sizes > 0, edges[ends], edges[-1])

    def draw(self, rng: np.random.Generator, group: Ints) -> Ints:
        """One item for each entry of `group`."""
        low = self._low[group]
        at = low + rng.random(len(group)) * (self._high[group] - low)
        # Rounding may put a draw on the very end of the last group.
        found: Ints = np.minimum(np.searchsorted(self._cumulative, at, side="right"), len(self._order) - 1)
        return self._order[found]

    def draw_any(self, rng: np.random.Generator, size: int) -> Ints:
        """`size` items, for a choice that has one group only."""
        return self.draw(rng, np.zeros(size, np.int64))


def heavy_tail(rng: np.random.Generator, size: int, sigma: float, floor: float) -> Floats:
    """Log-normal popularity; the floor keeps the least popular entities from never occurring."""
    return np.maximum(rng.lognormal(0.0, sigma, size), floor)


@dataclass(frozen=True)
class Side:
    """The geography of one end of the trade.

    Places lie along a line; a region is a stretch of it, and ports are spread over it, so that a port serves
    the few places around it.
    """

    region: Ints
    regions: int
    ports: int
    near: Ints
    popular: Choice
    popular_port: Choice

    @classmethod
    def build(cls, rng: np.random.Generator, places: int, ports: int) -> Side:
        """A side with so many places and ports."""
        regions = int(np.clip(places // PLACES_PER_REGION, 1, MAX_REGIONS))
        line = np.arange(places)
        region = line * regions // places
        position = (line + 0.5) * ports / places
        nearest = position.astype(np.int64)
        # The second port is the neighbour on the side of the place's own position.
        second = np.clip(nearest + np.where(position - nearest < 0.5, -1, 1), 0, ports - 1)
        region_weight = rng.lognormal(0.0, 0.5, regions)
        place_weight = np.maximum(rng.lognormal(0.0, 0.9, places) * region_weight[region], 0.4)
        port_weight: Floats = np.bincount(nearest, place_weight, minlength=ports).astype(np.float64)
        return cls(
            region=region,
            regions=regions,
            ports=ports,
            near=np.stack([nearest, second], axis=1).astype(np.int32),
            popular=Choice(place_weight),
            popular_port=Choice(port_weight),
        )

    def port_places(self) -> Ints:
        """The place at which each port lies; no two ports share one."""
        return (2 * np.arange(self.ports) + 1) * len(self.region) // (2 * self.ports)


@dataclass(frozen=True)
class Goods:
    """What is traded: each good in a chapter of related ones."""

    chapter: Ints
    chapters: int
    in_chapter: Choice
    popular: Choice
    popular_chapter: Choice

    @classmethod
    def build(cls, rng: np.random.Generator, count: int) -> Goods:
        """So many goods, in chapters of about the same size but not of the same trade."""
        chapters = int(np.clip(count // GOODS_PER_CHAPTER, 1, MAX_CHAPTERS))
        chapter = np.arange(count) * chapters // count
        weight = heavy_tail(rng, count, 1.0, 0.3)
        chapter_weight = heavy_tail(rng, chapters, 0.8, 0.3)
        return cls(
            chapter=chapter,
            chapters=chapters,
            in_chapter=Choice(weight, chapter, chapters),
            popular=Choice(weight * chapter_weight[chapter]),
            popular_chapter=Choice(chapter_weight),
        )


@dataclass(frozen=True)
class Companies:
    """The shippers or the consignees: where each sits, what it deals in, whom it lets carry it."""

    place: Ints  # [companies, 2]; the second place equals the first for most
    chapter: Ints
    weight: Floats
    habit: Ints  # which of the carriers of a route the company prefers

    @classmethod
    def build(cls, rng: np.random.Generator, count: int, side: Side, goods: Goods) -> Companies:
        """So many companies, most of them in the trades that their regions favour."""
        favoured = goods.popular_chapter.draw_any(rng, side.regions * REGION_CHAPTERS)
        home = side.popular.draw_any(rng, count)
        second = np.where(rng.random(count) < SECOND_PLACE, side.popular.draw_any(rng, count), home)
        local = favoured[side.region[home] * REGION_CHAPTERS + rng.integers(0, REGION_CHAPTERS, count)]
        return cls(
            place=np.stack([home, second], axis=1),
            chapter=np.where(rng.random(count) < LOCAL_TRADE, local, rng.integers(0, goods.chapters, count)),
            weight=heavy_tail(rng, count, 1.1, 0.4),
            habit=np.minimum(rng.geometric(0.5, count), ROUTE_CARRIERS) - 1,
        )

    def lane_place(self, rng: np.random.Generator, company: Ints) -> Ints:
        """Which of its places a company uses for each lane."""
        return self.place[company, (rng.random(len(company)) < 0.4).astype(np.int64)]
