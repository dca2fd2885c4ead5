"""Results to report on: real ones of a small model, a long one, and one with texts that try to break out."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import torch

import carat
from carat.results import RecourseResult
from tests.support.planted import DOMAINS, GROUPS, planted_table, record

EVIL = "<script>alert(1)</script>"
CLOSING = "</script><img src=x onerror=alert(2)> \"double\" 'single' &amp; \u2028"
COST: dict[str, Any] = {"cost": {"change": 1.0, "domains": {"Port": 2.0}}}


@cache
def model() -> carat.Model:
    """Counts on the planted table."""
    return carat.fit(planted_table(), profile="instant", memory=False)


def mixed() -> list[dict[str, str | None]]:
    """Every group with only one value of another; some with a missing or unseen one, one of two groups."""
    records: list[dict[str, str | None]] = []
    for group in range(GROUPS):
        for domain in DOMAINS:
            good = record(Port=group, Good=group, Carrier=group, Buyer=group)
            records.append({**good, domain: f"{domain}-{(group + 2) % GROUPS}a"})
    records[1] |= {"Buyer": None}
    records[2] |= {"Buyer": "Nobody & Sons"}
    records[3] |= dict(record(Port=1, Good=2, Carrier=1, Buyer=2))
    return records


def frame(records: list[dict[str, str | None]]) -> pa.Table:
    """Records as a table of text."""
    return pa.table({name: pa.array([row[name] for row in records], pa.string()) for name in DOMAINS})


@cache
def result(**options: Any) -> RecourseResult:
    """Counterfactuals of the mixed records."""
    return model().recourse(frame(mixed()), all=True, **options)


@cache
def judged() -> RecourseResult:
    """The same records, and some that are normal, by a model that keeps its records and judges by them."""
    fitted = carat.fit(planted_table(), profile="instant")
    normal = planted_table(12, seed=9).to_pylist()
    return fitted.recourse(frame([*mixed(), *normal]), all=True)


@cache
def blank() -> RecourseResult:
    """A normal record, and the same with a blank where training records have none: nothing in it is flagged."""
    good: dict[str, str | None] = dict(record(Port=1, Good=1, Carrier=1, Buyer=1))
    return carat.fit(planted_table(), profile="instant").recourse(frame([good, good | {"Buyer": None}]), all=True)


def costly() -> RecourseResult:
    """The same with costs."""
    return model().recourse(frame(mixed()), all=True, constraints=COST)


def barren() -> RecourseResult:
    """The same where nothing may change: no counterfactuals at all."""
    return model().recourse(frame(mixed()), all=True, constraints={"immutable": list(DOMAINS)})


def hasty() -> RecourseResult:
    """The same where a limit ends the search early for some records."""
    found = model().recourse(frame(mixed()), all=True, budget=1)
    assert not all(row["exhausted"] for row in found.records)
    return found


def unscored() -> RecourseResult:
    """The same where the detector had no score for the first record."""
    found = result()
    score = found.batches[0].score.clone()
    score[0] = torch.nan
    return replace(found, batches=(replace(found.batches[0], score=score),))


def fitted_with_id(table: pa.Table) -> carat.Model:
    """A model of records that are named by a number of their own."""
    return carat.fit(table.append_column("bill", [range(len(table))]), id="bill", profile="instant", memory=False)


def hostile() -> RecourseResult:
    """Entities, domains, record names and the file's name that are markup, formulas and quotes."""
    table = planted_table()
    names = {"Port": "Port", "Good": EVIL, "Carrier": "Carrier", "Buyer": 'Buy"er'}
    spoilt = {
        "Good-1a": EVIL,
        "Good-3a": CLOSING,
        "Good-3b": '=HYPERLINK("x")',
        "Buyer-3a": "-1+2, @all",
        "Good-4a": "W" * 200,
    }
    columns = {names[name]: [spoilt.get(text, text) for text in table[name].to_pylist()] for name in table.column_names}
    fitted = carat.fit(
        pa.table(columns | {"bill": [f"=B{i}" for i in range(len(table))]}), id="bill", profile="instant", memory=False
    )
    rows = [record(Port=g, Good=(g + 2) % GROUPS, Carrier=g, Buyer=g) for g in range(GROUPS)]
    asked = {names[name]: [spoilt.get(row[name], row[name]) for row in rows] for name in DOMAINS}
    found = fitted.recourse(pa.table(asked | {"bill": ["</script>", "=1+1", "a", "b", "c", "d"]}), all=True)
    assert found.origin is not None
    return replace(found, origin=replace(found.origin, data=f"<script>alert(3)<script>{'W' * 200}.csv"))


def loose() -> pa.Table:
    """Two domains that seldom meet in one pair, and two that are tied to nothing."""
    rng = np.random.default_rng(0)
    rows = 3_000
    columns = {name: rng.integers(0, 3, rows) for name in ("Port", "Good", "Carrier", "Buyer")}
    # Most of what would be Port 1 with Good 1 goes elsewhere.
    moved = (columns["Port"] == 1) & (columns["Good"] == 1) & (rng.random(rows) < 0.7)
    columns["Good"] = np.where(moved, 2, columns["Good"])
    return pa.table({name: [f"{name[0]}{value}" for value in values] for name, values in columns.items()})


@cache
def blameless() -> RecourseResult:
    """Records in which no entity is less likely than not."""
    fitted = carat.fit(loose(), profile="instant", memory=False, threshold=0.5)
    asked = {"Port": ["P1", "P0"], "Good": ["G1", "G0"], "Carrier": ["C0", "C0"], "Buyer": ["B0", None]}
    return fitted.recourse(pa.table(asked), all=True)


@cache
def long() -> RecourseResult:
    """200 records × 50 counterfactuals of eight domains with long texts."""
    rng = np.random.default_rng(0)
    rows, groups = 6_000, 8
    group = rng.integers(0, groups, rows)
    columns = {
        f"Domain {d}": [
            f"A rather long entity {d}, {g}, {m:03}" for g, m in zip(group, rng.integers(0, 60, rows), strict=True)
        ]
        for d in range(8)
    }
    table = pa.table(columns)
    fitted = carat.fit(table, profile="instant", memory=False)
    spoilt = table.slice(0, 200).to_pydict()
    for row in range(200):
        for domain in rng.choice(8, 2, replace=False):
            spoilt[f"Domain {domain}"][row] = columns[f"Domain {domain}"][row + 300]
    found: RecourseResult = fitted.recourse(pa.table(spoilt), k=50, all=True)
    return found
