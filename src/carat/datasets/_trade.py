"""The invented trade world behind the synthetic shipments: who deals with whom, in what, and by which way.

Records are drawn for whole arrays at a time, without a Python loop over records or companies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from carat.datasets._market import ROUTE_CARRIERS, Choice, Companies, Floats, Goods, Ints, Side, heavy_tail

# The numbers below are not measured on real trade. They are set so that a table of the paper's size has
# about its number of entities, 92 to 96 % of the pairs of a held-out record were seen before, and an entity
# replaced at random can be told from the pairs it makes, mostly but not always.
NEAR_PORTS = 2
COMPANY_GOODS = 4

SECOND_CHAPTER = 0.25
EXTRA_PARTNERS = 0.9
OUTSIDE_PARTNER = 0.15
LATE_LANE = 0.3
LANE_FLOOR = 0.6
LANE_SECOND_PORT = 0.2
NOISE = 0.06

GOOD_ODDS = np.array([0.55, 0.83, 0.95])
"""Cumulative odds of a lane's goods, most regular first."""
SECOND_CARRIER_ODDS = 0.25
SECOND_PORT_ODDS = 0.08


@dataclass(frozen=True)
class World:
    """Standing trade relationships ("lanes") of which records are drawn.

    A lane joins a shipper to a consignee, with the few goods, the route and the carriers that they use.
    """

    origin: Side
    destination: Side
    goods: Goods
    shippers: Companies
    consignees: Companies
    lanes: Mapping[str, Ints]  # entity numbers [lanes], or [lanes, choices] for goods and carriers
    opens: Floats  # when a lane starts, as a share of the whole period
    first_lane: Ints  # [shippers]: a lane that is open from the start
    pick_lane: Choice
    pick_carrier: Choice
    pick_buyer: Choice

    @classmethod
    def build(cls, rng: np.random.Generator, counts: Mapping[str, int]) -> World:
        """A world with `counts` entities in each domain."""
        origin = Side.build(rng, counts["ShipmentOrigin"], counts["PortOfLading"])
        destination = Side.build(rng, counts["ShipmentDestination"], counts["PortOfUnlading"])
        goods = Goods.build(rng, counts["Goods"])
        shippers = Companies.build(rng, counts["Shipper"], origin, goods)
        consignees = Companies.build(rng, counts["Consignee"], destination, goods)
        seller = Choice(shippers.weight, shippers.chapter, goods.chapters)
        buyer = Choice(consignees.weight, consignees.chapter, goods.chapters)
        carrier_weight = heavy_tail(rng, counts["Carrier"], 1.0, 0.3)
        serving = _route_carriers(rng, carrier_weight, origin.regions, destination.regions)

        shipper, consignee, first_lane = _partners(rng, shippers, consignees, seller, buyer)
        size = len(shipper)
        sold = _assortments(rng, shippers, goods, seller)
        favourite = rng.integers(0, COMPANY_GOODS, (size, 1))
        from_place = shippers.lane_place(rng, shipper)
        to_place = consignees.lane_place(rng, consignee)
        regions = origin.region[from_place], destination.region[to_place]
        habits = shippers.habit[shipper], consignees.habit[consignee]
        by_second_port = (rng.random((2, size)) < LANE_SECOND_PORT).astype(np.int64)

        # A consignee's own lane and a shipper's first one are there from the start and not too thin: else
        # some companies would never occur.
        late = rng.random(size) < LATE_LANE
        late[first_lane] = False
        late[-len(consignees.weight) :] = False
        popularity = np.sqrt(shippers.weight[shipper] * consignees.weight[consignee])
        weight = popularity * rng.lognormal(0.0, 0.8, size)
        return cls(
            origin=origin,
            destination=destination,
            goods=goods,
            shippers=shippers,
            consignees=consignees,
            lanes={
                "Shipper": shipper,
                "Consignee": consignee,
                "ShipmentOrigin": from_place,
                "ShipmentDestination": to_place,
                "PortOfLading": origin.near[from_place, by_second_port[0]],
                "PortOfUnlading": destination.near[to_place, by_second_port[1]],
                "Goods": sold[shipper[:, None], (favourite + np.arange(COMPANY_GOODS)) % COMPANY_GOODS],
                "Carrier": np.stack([serving[*regions, habit] for habit in habits], axis=1),
            },
            opens=np.where(late, rng.random(size), 0.0).astype(np.float32),
            first_lane=first_lane,
            pick_lane=Choice(np.where(late, weight, np.maximum(weight, LANE_FLOOR * weight.mean()))),
            pick_carrier=Choice(carrier_weight),
            pick_buyer=buyer,
        )

    def draw(self, rng: np.random.Generator, when: Floats, noisy: tuple[str, ...]) -> dict[str, Ints]:
        """The entity number in each domain of one record for every time in `when`.

        Args:
            rng: where the chance comes from.
            when: the time of each record, as a share of the whole period.
            noisy: the domains in which an atypical record may differ from its lane.
        """
        size = len(when)
        lane = self.pick_lane.draw_any(rng, size)
        shipper = self.lanes["Shipper"]
        lane = np.where(self.opens[lane] > when, self.first_lane[shipper[lane]], lane)
        record = {name: values[lane] for name, values in self.lanes.items() if values.ndim == 1}
        good = np.searchsorted(GOOD_ODDS, rng.random(size), side="right")
        carrier = (rng.random(size) < SECOND_CARRIER_ODDS).astype(np.int64)
        record["Goods"] = self.lanes["Goods"][lane, good]
        record["Carrier"] = self.lanes["Carrier"][lane, carrier]
        for port, place, side in (
            ("PortOfLading", "ShipmentOrigin", self.origin),
            ("PortOfUnlading", "ShipmentDestination", self.destination),
        ):
            other = np.flatnonzero(rng.random(size) < SECOND_PORT_ODDS)
            pick = rng.integers(0, NEAR_PORTS, len(other))
            record[port][other] = side.near[record[place][other], pick]
        self._disturb(rng, record, noisy)
        return record

    def _disturb(self, rng: np.random.Generator, record: dict[str, Ints], noisy: tuple[str, ...]) -> None:
        """Make one atypical but plausible choice in a few of the records."""
        size = len(record["Shipper"])
        kind = np.where(rng.random(size) < NOISE, rng.integers(0, len(noisy), size), -1)
        for number, domain in enumerate(noisy):
            at = np.flatnonzero(kind == number)
            if domain == "Goods":
                record[domain][at] = self.goods.popular.draw_any(rng, len(at))
            elif domain == "Carrier":
                record[domain][at] = self.pick_carrier.draw_any(rng, len(at))
            elif domain == "Consignee":
                # A one-off buyer in the shipper's trade: the shipment goes to where that buyer is.
                buyer = self.pick_buyer.draw(rng, self.shippers.chapter[record["Shipper"][at]])
                place = self.consignees.place[buyer, 0]
                record[domain][at] = buyer
                record["ShipmentDestination"][at] = place
                record["PortOfUnlading"][at] = self.destination.near[place, 0]
            else:
                side = self.origin if domain == "PortOfLading" else self.destination
                record[domain][at] = side.popular_port.draw_any(rng, len(at))


def _partners(
    rng: np.random.Generator, shippers: Companies, consignees: Companies, seller: Choice, buyer: Choice
) -> tuple[Ints, Ints, Ints]:
    """Shipper and consignee of each lane, and the first lane of each shipper.

    Both ends look for partners, so that no company is left without one.
    """
    n_shippers, n_consignees = len(shippers.weight), len(consignees.weight)
    partners = 1 + rng.poisson(EXTRA_PARTNERS * np.minimum(np.sqrt(shippers.weight), 8.0))
    first_lane = np.cumsum(partners) - partners
    asking = np.repeat(np.arange(n_shippers), partners)
    answering = buyer.draw(rng, shippers.chapter[asking])
    outside = rng.random(len(asking)) < OUTSIDE_PARTNER
    answering = np.where(outside, rng.integers(0, n_consignees, len(asking)), answering)
    supplier = seller.draw(rng, consignees.chapter)
    shipper = np.concatenate([asking, supplier]).astype(np.int32)
    consignee = np.concatenate([answering, np.arange(n_consignees)]).astype(np.int32)
    return shipper, consignee, first_lane


def _assortments(rng: np.random.Generator, shippers: Companies, goods: Goods, seller: Choice) -> Ints:
    """The goods of each shipper, [shippers, COMPANY_GOODS]: of one chapter, or two."""
    count = len(shippers.weight)
    chapter = np.repeat(shippers.chapter[:, None], COMPANY_GOODS, axis=1)
    two = rng.random(count) < SECOND_CHAPTER
    chapter[two, -1] = goods.popular_chapter.draw_any(rng, int(two.sum()))
    sold = goods.in_chapter.draw(rng, chapter.ravel()).reshape(count, COMPANY_GOODS)
    # Every good has someone who sells it, however unpopular it is.
    slot = np.arange(len(goods.chapter)) % COMPANY_GOODS
    sold[seller.draw(rng, goods.chapter), slot] = np.arange(len(goods.chapter))
    return sold


def _route_carriers(rng: np.random.Generator, weight: Floats, origins: int, destinations: int) -> Ints:
    """The carriers that serve each pair of regions, [origins, destinations, ROUTE_CARRIERS]."""
    serving = Choice(weight).draw_any(rng, origins * destinations * ROUTE_CARRIERS)
    # Each carrier has at least one pair of regions, as far as there are enough.
    known = rng.permutation(len(weight))[: len(serving)]
    serving[rng.permutation(len(serving))[: len(known)]] = known
    return serving.reshape(origins, destinations, ROUTE_CARRIERS)
