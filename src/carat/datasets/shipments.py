"""Synthetic bills of lading with the schemas of the paper's three proprietary sources.

The paper's data can't be had, so this invents some of the same shape: the same domains, metapaths, numbers
of entities and of records. **Synthetic**: no company, place or trade in it exists, and no figure measured on
it says anything about real trade. What it keeps is why such data is learnable: ports serve the places around
them, companies deal in related goods with few partners over few routes, and everything has a heavy tail.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.data.schema import Schema
from carat.datasets._market import Ints, Side
from carat.datasets._trade import World
from carat.datasets.dataset import Dataset
from carat.errors import InputError, nearest

TEST_ROWS = 5000
"""The paper's test set; the default table has so many records after those for training."""

BLOCK = 65_536
"""Records per random stream; fixed, so that the size of the batches can't change the records."""

MIN_ENTITIES = 200
MAX_GOODS = 5000
GROWTH = 0.6
"""A world with more companies has more places, ports, carriers and goods too, but not in proportion."""

FIRST_DAY = np.datetime64("2019-01-01", "D")
DAYS = 3 * 365

COMPANIES = ("Shipper", "Consignee")
GOODS = ("HSCode", "GoodsShipped")


@dataclass(frozen=True, kw_only=True)
class _Shape:
    title: str
    training_rows: int
    counts: dict[str, int]
    metapaths: tuple[tuple[str, ...], ...]


_SHAPES = {
    "us_import": _Shape(
        title="US imports",
        training_rows=38_291,
        counts={
            "Shipper": 2340,
            "Consignee": 2290,
            "HSCode": 860,
            "Carrier": 190,
            "PortOfLading": 83,
            "PortOfUnlading": 50,
            "ShipmentOrigin": 286,
            "ShipmentDestination": 254,
        },
        metapaths=(
            ("ShipmentOrigin", "HSCode", "PortOfLading"),
            ("ShipmentDestination", "HSCode", "PortOfUnlading"),
            ("PortOfLading", "HSCode", "Carrier"),
            ("HSCode", "Carrier", "PortOfUnlading"),
            ("Shipper", "ShipmentOrigin", "PortOfLading"),
            ("Consignee", "ShipmentDestination", "PortOfUnlading"),
            ("Consignee", "Carrier", "ShipmentDestination"),
            ("Shipper", "Carrier", "ShipmentOrigin"),
            ("Consignee", "Carrier", "PortOfUnlading"),
            ("Shipper", "Carrier", "PortOfLading"),
        ),
    ),
    "colombia_export": _Shape(
        title="exports from Colombia",
        training_rows=16_758,
        counts={
            "Shipper": 1430,
            "Consignee": 1758,
            "HSCode": 580,
            "ShipmentOrigin": 60,
            "ShipmentDestination": 180,
        },
        metapaths=(
            ("Shipper", "ShipmentOrigin", "HSCode"),
            ("Consignee", "ShipmentDestination", "HSCode"),
            ("ShipmentDestination", "HSCode", "ShipmentOrigin"),
            ("Shipper", "HSCode", "Consignee"),
        ),
    ),
    "ecuador_export": _Shape(
        title="exports from Ecuador",
        training_rows=13_956,
        counts={
            "Shipper": 860,
            "Consignee": 1482,
            "GoodsShipped": 440,
            "Carrier": 112,
            "PortOfUnlading": 90,
            "ShipmentOrigin": 40,
            "ShipmentDestination": 174,
        },
        metapaths=(
            ("ShipmentDestination", "GoodsShipped", "PortOfUnlading"),
            ("Shipper", "GoodsShipped", "ShipmentOrigin"),
            ("GoodsShipped", "Carrier", "PortOfUnlading"),
            ("Consignee", "ShipmentDestination", "PortOfUnlading"),
            ("Consignee", "Carrier", "ShipmentDestination"),
            ("Shipper", "Carrier", "ShipmentOrigin"),
            ("Consignee", "Carrier", "PortOfUnlading"),
        ),
    ),
}


def shipments(
    schema: str = "us_import", *, rows: int | None = None, entities: int | None = None, seed: int = 0
) -> Dataset:
    """Synthetic bills of lading, oldest first.

    Args:
        schema: "us_import" (8 domains), "colombia_export" (5) or "ecuador_export" (7).
        rows: the number of records; by default the paper's training size and 5000 for testing after it.
        entities: how many entities the invented world has, over all domains; by default the paper's number.
            Nearly all of them occur in a table of the default size; in a shorter one, fewer do.
        seed: another seed is another world.

    >>> data = shipments("ecuador_export", rows=100)
    >>> data.table.num_rows, len(data.schema.domains), data.synthetic
    (100, 7, True)
    """
    shape = _shape(schema)
    rows = shape.training_rows + TEST_ROWS if rows is None else rows
    entities = sum(shape.counts.values()) if entities is None else entities
    batches = list(shipment_batches(schema, rows=rows, entities=entities, seed=seed))
    return Dataset(
        name=f"shipments:{schema}",
        table=pa.Table.from_batches(batches),
        schema=Schema(domains=tuple(shape.counts), time="Date", metapaths=shape.metapaths),
        synthetic=True,
        about=(
            f"Synthetic bills of lading in the shape of {shape.title}, generated by "
            f"carat.datasets.shipments (seed {seed}): no company, place or shipment in it is real, "
            "and no third party has rights in it."
        ),
        train_rows=shape.training_rows if rows > shape.training_rows else None,
    )


def shipment_batches(
    schema: str = "us_import", *, rows: int, entities: int, seed: int = 0, batch_rows: int = 262_144
) -> Iterator[pa.RecordBatch]:
    """The table of `shipments`, a batch at a time, in memory that doesn't grow with `rows`.

    Args:
        schema: as for `shipments`.
        rows: the number of records in all.
        entities: as for `shipments`.
        seed: as for `shipments`.
        batch_rows: the records in a batch; the last one may have fewer. The records don't depend on it.
    """
    shape = _shape(schema)
    for name, value, least in (
        ("rows", rows, 2),
        ("entities", entities, MIN_ENTITIES),
        ("batch_rows", batch_rows, 1),
        ("seed", seed, 0),
    ):
        if value < least:
            raise InputError(f"shipments: {name} must be at least {least}, got {value}")
    return _batches(schema, shape, rows=rows, entities=entities, seed=seed, batch_rows=batch_rows)


def _shape(schema: str) -> _Shape:
    if not isinstance(schema, str):
        raise InputError(
            f"shipments: `schema` must be one of {', '.join(_SHAPES)}, got {schema!r}; for rows, use rows="
        )
    if schema not in _SHAPES:
        raise InputError(f"shipments: no schema '{schema}'; {nearest(schema, _SHAPES)}")
    return _SHAPES[schema]


def _batches(
    schema: str, shape: _Shape, *, rows: int, entities: int, seed: int, batch_rows: int
) -> Iterator[pa.RecordBatch]:
    counts = _scaled(shape.counts, entities)
    world = World.build(_stream(seed, 0), {"Carrier": 1, "PortOfLading": 1, "PortOfUnlading": 1, **_roles(counts)})
    names = _names(_stream(seed, 1), world, counts)
    arrow_schema = pa.schema(
        [("Date", pa.date32())] + [(domain, pa.dictionary(pa.int32(), pa.string())) for domain in counts],
        metadata={
            "synthetic": "true",
            "generator": "carat.datasets.shipments",
            "schema": schema,
            "rows": str(rows),
            "entities": str(entities),
            "seed": str(seed),
        },
    )
    block: dict[str, Ints] = {}
    drawn = -1
    for start in range(0, rows, batch_rows):
        stop = min(start + batch_rows, rows)
        pieces = []
        for number in range(start // BLOCK, (stop - 1) // BLOCK + 1):
            if number != drawn:
                block, drawn = _block(world, shape, rows, seed, number), number
            first = number * BLOCK
            piece = slice(max(start - first, 0), stop - first)
            pieces.append({column: values[piece] for column, values in block.items()})
        columns = {column: np.concatenate([piece[column] for piece in pieces]) for column in block}
        arrays = [pa.array(columns["Date"], pa.date32())]
        arrays += [pa.DictionaryArray.from_arrays(columns[domain], names[domain]) for domain in counts]
        yield pa.RecordBatch.from_arrays(arrays, schema=arrow_schema)


def _block(world: World, shape: _Shape, rows: int, seed: int, number: int) -> dict[str, Ints]:
    """Date and entity numbers of one block of records."""
    first = number * BLOCK
    when = (np.arange(first, min(first + BLOCK, rows)) + 0.5) / rows
    roles = _roles(shape.counts)
    noisy = tuple(role for role in ("Goods", "Carrier", "PortOfLading", "PortOfUnlading", "Consignee") if role in roles)
    drawn = world.draw(_stream(seed, 2, number), when, noisy)
    block: dict[str, Ints] = {
        domain: drawn[role].astype(np.int32) for domain, role in zip(shape.counts, roles, strict=True)
    }
    # Trade grows over the period and has a yearly season; the sum stays increasing, so dates stay sorted.
    pace = when + 0.08 * when * (1 - when) + 0.01 * np.sin(6 * np.pi * when)
    block["Date"] = (FIRST_DAY.astype(np.int64) + np.floor(pace * DAYS)).astype(np.int32)
    return block


def _stream(seed: int, *key: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))


def _roles(counts: dict[str, int]) -> dict[str, int]:
    """The counts under the names that the world has for them: goods are goods, coded or described."""
    return {"Goods" if domain in GOODS else domain: count for domain, count in counts.items()}


def _scaled(counts: dict[str, int], entities: int) -> dict[str, int]:
    """How many entities each domain has when there are `entities` in all."""
    total = sum(counts.values())
    ratio = entities / total
    factor = ratio if ratio < 1 else ratio**GROWTH
    scaled = {domain: max(2, round(count * factor)) for domain, count in counts.items()}
    scaled.update({domain: min(scaled[domain], MAX_GOODS) for domain in GOODS if domain in scaled})
    left = entities - sum(count for domain, count in scaled.items() if domain not in COMPANIES)
    share = counts["Shipper"] / (counts["Shipper"] + counts["Consignee"])
    scaled["Shipper"] = round(left * share)
    scaled["Consignee"] = left - scaled["Shipper"]
    return scaled


STEMS = "Aldera Belmar Cordan Delvia Estrel Galdor Harvane Jorvane Lumar Morvena Nordal Ostrel Pelora Quilon"
TRADES = "Trading Imports Exports Foods Textiles Metals Timber Chemicals Plastics Machinery Hardware Supply"
FLEETS = "Line Shipping Maritime Navigation Ocean Freight"
FORMS = "SA Ltd GmbH Inc LLC BV"
ONSETS = "bdfgklmnprstvz"
VOWELS = "aeiou"
QUALITIES = "premium standard bulk packed mixed sorted selected graded boxed"
WARES = "shrimp bananas roses cocoa coffee tuna balsa hats mango oil paper tiles yarn pumps cable glass tools"


def _names(rng: np.random.Generator, world: World, counts: dict[str, int]) -> dict[str, pa.Array]:
    """The text of every entity, unique in its domain."""
    names: dict[str, pa.Array] = {}
    for domain in COMPANIES:
        names[domain] = _numbered(rng, counts[domain], STEMS, TRADES, FORMS)
    names["ShipmentOrigin"], names["PortOfLading"] = _located(rng, world.origin)
    names["ShipmentDestination"], names["PortOfUnlading"] = _located(rng, world.destination)
    names["Carrier"] = _numbered(rng, counts.get("Carrier", 0), STEMS, FLEETS)
    names["HSCode"] = _hs_codes(rng, world.goods.chapter)
    wares = pa.array(WARES.split()).take(pa.array(world.goods.chapter % len(WARES.split())))
    described = _numbered(rng, len(wares), QUALITIES)
    names["GoodsShipped"] = pc.binary_join_element_wise(wares, described, ", ")
    return names


def _numbered(rng: np.random.Generator, count: int, *vocabularies: str) -> pa.Array:
    """A random word of each vocabulary, and a number that makes the whole unique."""
    parts = [
        pa.array(words).take(pa.array(rng.integers(0, len(words), count))) for words in map(str.split, vocabularies)
    ]
    return pc.binary_join_element_wise(*parts, pc.cast(pa.array(np.arange(1, count + 1)), pa.string()), " ")


def _hs_codes(rng: np.random.Generator, chapter: Ints) -> pa.Array:
    """Four digits: the chapter, then the heading in it."""
    in_use = np.setdiff1d(np.arange(1, 98), [77])
    chosen = np.sort(rng.choice(in_use, int(chapter[-1]) + 1, replace=False))
    heading = np.arange(len(chapter)) - np.searchsorted(chapter, chapter) + 1
    return pc.utf8_lpad(pc.cast(pa.array(chosen[chapter] * 100 + heading), pa.string()), 4, "0")


def _located(rng: np.random.Generator, side: Side) -> tuple[pa.Array, pa.Array]:
    """Places with their region, as in "Kaloma, Terunia", and ports named after the place they lie at."""
    places = len(side.region)
    syllables = [onset + vowel for onset in ONSETS for vowel in VOWELS]
    base = len(syllables)
    chosen = rng.choice(base**3, places + side.regions, replace=False)
    parts = [pa.array(syllables).take(pa.array(chosen // base**power % base)) for power in range(3)]
    words = pc.utf8_capitalize(pc.binary_join_element_wise(*parts, ""))
    towns = words.slice(0, places)
    regions = pc.binary_join_element_wise(words.slice(places), "nia", "").take(pa.array(side.region))
    ports = pc.binary_join_element_wise("Port of", towns.take(pa.array(side.port_places())), " ")
    return pc.binary_join_element_wise(towns, regions, ", "), ports
