"""The synthetic shipments: the shapes of the paper, a structure to learn, batching that changes nothing."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from numpy.typing import NDArray

from carat.datasets.dataset import Dataset
from carat.datasets.shipments import BLOCK, TEST_ROWS, shipment_batches, shipments
from carat.errors import InputError

Ints = NDArray[np.integer[Any]]

# The paper's dataset table: entities, domains and training size of Dataset-1, -4 and -5; and its metapaths.
PAPER = {
    "us_import": (6353, 8, 38_291, 10),
    "colombia_export": (4008, 5, 16_758, 4),
    "ecuador_export": (3198, 7, 13_956, 7),
}
SCHEMAS = list(PAPER)


@cache
def default(schema: str) -> Dataset:
    return shipments(schema)


def entity_numbers(data: Dataset) -> Ints:
    """[records, domains]"""
    columns = [data.table[domain].combine_chunks() for domain in data.schema.domains]
    return np.stack([column.indices.to_numpy() for column in columns], axis=1).astype(np.int64)


def seen_pairs(train: Ints, test: Ints) -> float:
    """Share of the pairs of entities in `test` that a record of `train` has too."""
    width = int(max(train.max(), test.max())) + 1
    pairs = itertools.combinations(range(train.shape[1]), 2)
    shares = [np.isin(test[:, i] * width + test[:, j], train[:, i] * width + train[:, j]).mean() for i, j in pairs]
    return float(np.mean(shares))


@pytest.mark.parametrize("schema", SCHEMAS)
def test_has_the_shape_of_the_papers_table(schema: str) -> None:
    entities, domains, training, metapaths = PAPER[schema]
    data = default(schema)
    assert data.name == f"shipments:{schema}"
    assert data.table.num_rows == training + TEST_ROWS
    assert len(data.schema.domains) == domains
    assert data.schema.metapaths is not None
    assert len(data.schema.metapaths) == metapaths
    assert all(len(path) == 3 for path in data.schema.metapaths)
    assert {domain for path in data.schema.metapaths for domain in path} == set(data.schema.domains)
    assert data.table.column_names == ["Date", *data.schema.domains]
    occurring = sum(len(data.table[domain].unique()) for domain in data.schema.domains)
    assert occurring == pytest.approx(entities, rel=0.05)


def test_metapaths_are_those_of_the_appendix() -> None:
    us = default("us_import").schema.metapaths or ()
    assert us[0] == ("ShipmentOrigin", "HSCode", "PortOfLading")
    assert us[-1] == ("Shipper", "Carrier", "PortOfLading")
    assert default("colombia_export").schema.metapaths == (
        ("Shipper", "ShipmentOrigin", "HSCode"),
        ("Consignee", "ShipmentDestination", "HSCode"),
        ("ShipmentDestination", "HSCode", "ShipmentOrigin"),
        ("Shipper", "HSCode", "Consignee"),
    )
    ecuador = default("ecuador_export").schema.metapaths or ()
    assert ecuador[0] == ("ShipmentDestination", "GoodsShipped", "PortOfUnlading")


@pytest.mark.parametrize("schema", SCHEMAS)
def test_is_declared_synthetic(schema: str) -> None:
    data = default(schema)
    assert data.synthetic
    assert data.about.startswith("Synthetic")
    metadata = data.table.schema.metadata
    assert metadata[b"synthetic"] == b"true"
    assert metadata[b"generator"] == b"carat.datasets.shipments"
    assert metadata[b"schema"] == schema.encode()


@pytest.mark.parametrize("schema", SCHEMAS)
def test_dates_are_sorted_and_names_are_unique(schema: str) -> None:
    data = default(schema)
    dates = data.table["Date"]
    assert data.schema.time == "Date"
    assert dates.type == pa.date32()
    assert (np.diff(dates.cast(pa.int32()).to_numpy()) >= 0).all()
    for domain in data.schema.domains:
        names = data.table[domain].chunk(0).dictionary
        assert pc.count_distinct(names).as_py() == len(names)


def test_hs_codes_are_four_digits_in_chapters_that_exist() -> None:
    codes = default("us_import").table["HSCode"].chunk(0).dictionary.to_pylist()
    assert all(len(code) == 4 and code.isdecimal() for code in codes)
    chapters = {code[:2] for code in codes}
    assert len(chapters) < len(codes) / 5
    assert all("01" <= chapter <= "97" and chapter != "77" for chapter in chapters)


def test_the_seed_decides() -> None:
    one = shipments("ecuador_export", rows=500, seed=3)
    assert one.table.equals(shipments("ecuador_export", rows=500, seed=3).table)
    assert not one.table.equals(shipments("ecuador_export", rows=500, seed=4).table)


@pytest.mark.parametrize("batch_rows", [BLOCK - 1, BLOCK, 50_000, 1_000_000])
def test_batches_make_up_the_table_whatever_their_size(batch_rows: int) -> None:
    rows = 2 * BLOCK + 17
    whole = shipments("colombia_export", rows=rows, entities=1000).table
    batches = list(shipment_batches("colombia_export", rows=rows, entities=1000, batch_rows=batch_rows))
    assert all(batch.num_rows == batch_rows for batch in batches[:-1])
    assert all(batch.schema.metadata[b"synthetic"] == b"true" for batch in batches)
    assert pa.Table.from_batches(batches).equals(whole, check_metadata=True)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_popularity_has_a_heavy_tail(schema: str) -> None:
    records = entity_numbers(default(schema))
    for domain in (0, 1):
        counts = np.sort(np.bincount(records[:, domain]))[::-1]
        top = len(counts) // 100
        assert counts[:top].sum() > 5 * 0.01 * len(records)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_held_out_pairs_are_mostly_seen_and_those_of_shuffled_columns_are_not(schema: str) -> None:
    records = entity_numbers(default(schema))
    train, test = records[:-TEST_ROWS], records[-TEST_ROWS:]
    rng = np.random.default_rng(0)
    assert 0.85 < seen_pairs(train, test) < 0.97
    assert seen_pairs(train, rng.permuted(test, axis=0)) < 0.3


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_replaced_entity_shows_in_the_pairs_but_not_always(schema: str) -> None:
    records = entity_numbers(default(schema))
    train, test = records[:-TEST_ROWS], records[-1000:]
    rng = np.random.default_rng(0)
    at = np.arange(len(test)), rng.integers(0, test.shape[1], len(test))
    replaced = test.copy()
    replaced[at] = (test[at] + rng.integers(1, train.max(axis=0)[at[1]] + 1)) % (train.max(axis=0)[at[1]] + 1)
    width = int(records.max()) + 1
    normal, corrupted = np.zeros(len(test)), np.zeros(len(test))
    for i, j in itertools.combinations(range(test.shape[1]), 2):
        known = train[:, i] * width + train[:, j]
        normal += np.isin(test[:, i] * width + test[:, j], known)
        corrupted += np.isin(replaced[:, i] * width + replaced[:, j], known)
    above = (normal[:, None] > corrupted).mean() + 0.5 * (normal[:, None] == corrupted).mean()
    assert 0.88 < above < 0.97


@pytest.mark.parametrize(
    ("port", "place"), [("PortOfLading", "ShipmentOrigin"), ("PortOfUnlading", "ShipmentDestination")]
)
def test_a_port_serves_few_places(port: str, place: str) -> None:
    data = default("us_import")
    records = entity_numbers(data)
    columns = [data.schema.domains.index(domain) for domain in (port, place)]
    table = np.zeros(records[:, columns].max(axis=0) + 1)
    np.add.at(table, tuple(records[:, columns].T), 1)
    served = np.cumsum(np.sort(table, axis=1)[:, ::-1], axis=1) / table.sum(axis=1, keepdims=True)
    for_most = (served < 0.85).sum(axis=1) + 1
    assert np.median(for_most) < 0.05 * table.shape[1]


def test_a_shipper_has_few_partners_and_few_chapters() -> None:
    table = default("us_import").table
    chapter = pc.utf8_slice_codeunits(table["HSCode"].cast(pa.string()), 0, 2)
    by_shipper = (
        table.select(["Shipper", "Consignee"])
        .append_column("chapter", chapter)
        .group_by(["Shipper", "chapter"])
        .aggregate([([], "count_all")])
        .group_by("Shipper")
        .aggregate([("count_all", "max"), ("count_all", "sum")])
    )
    main = pc.sum(by_shipper["count_all_max"]).as_py() / pc.sum(by_shipper["count_all_sum"]).as_py()
    assert main > 0.75
    partners = table.group_by("Shipper").aggregate([("Consignee", "count_distinct")])
    assert np.median(partners["Consignee_count_distinct"].to_numpy()) <= 5


def test_scales_to_many_entities() -> None:
    batches = shipment_batches("us_import", rows=200_000, entities=100_000)
    table = pa.Table.from_batches(batches)
    sizes = [len(column.chunk(0).dictionary) for column in table.columns[1:]]
    assert table.num_rows == 200_000
    assert sum(sizes) == 100_000


@pytest.mark.parametrize("schema", SCHEMAS)
def test_smallest_sizes_work(schema: str) -> None:
    assert shipments(schema, rows=2, entities=200).table.num_rows == 2


def test_a_misspelt_schema_gets_a_hint() -> None:
    with pytest.raises(InputError, match="no schema 'us_imports'; did you mean 'us_import'"):
        shipments("us_imports")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rows": 1}, "rows must be at least 2, got 1"),
        ({"entities": 10}, "entities must be at least 200, got 10"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
    ],
)
def test_sizes_that_make_no_sense_are_refused(options: dict[str, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        shipments("us_import", **options)


def test_batches_complain_at_the_call_not_at_the_first_batch() -> None:
    with pytest.raises(InputError, match="batch_rows must be at least 1, got 0"):
        shipment_batches("us_import", rows=10, entities=1000, batch_rows=0)
