"""A table whose answer is visible to the eye: `Port-3` goes with `Good-3x` and `Carrier-3y`, and with nothing else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

GROUPS = 6
DOMAINS = ("Port", "Good", "Carrier", "Buyer")


def planted_table(rows: int = 1200, seed: int = 0, *, shifted: bool = False) -> pa.Table:
    """Records of four domains; every record is of one group, and all its entities bear the group's number.

    Within a group the entities are drawn independently: Port has one entity a group, Good three, Carrier two,
    Buyer four.

    Args:
        rows: how many.
        seed: decides the draws.
        shifted: another world, with the same entities: carriers and buyers go with the ports of the group before.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(0, GROUPS, rows)
    columns = {}
    for name, size in zip(DOMAINS, (1, 3, 2, 4), strict=True):
        member = rng.integers(0, size, rows)
        groups = (group + 1) % GROUPS if shifted and name in ("Carrier", "Buyer") else group
        columns[name] = [f"{name}-{g}{'abcd'[i]}" for g, i in zip(groups, member, strict=True)]
    return pa.table(columns)


def with_holes(table: pa.Table) -> pa.Table:
    """The same with half of the Ports and a third of the Goods missing."""
    for name, every, rest in (("Port", 2, 1), ("Good", 3, 0)):
        cells = [None if row % every == rest else cell for row, cell in enumerate(table[name].to_pylist())]
        table = table.set_column(table.column_names.index(name), name, pa.array(cells, pa.string()))
    return table


def record(*, Port: int, Good: int, Carrier: int, Buyer: int) -> dict[str, str]:  # noqa: N803 - the domains' names
    """A record by the groups of its entities."""
    groups = {"Port": Port, "Good": Good, "Carrier": Carrier, "Buyer": Buyer}
    return {name: f"{name}-{group}a" for name, group in groups.items()}


def normal_records() -> list[dict[str, str]]:
    """One record of each group."""
    return [record(Port=g, Good=g, Carrier=g, Buyer=g) for g in range(GROUPS)]


def strange_records() -> list[dict[str, str]]:
    """The same with Good and Carrier of two other groups."""
    return [record(Port=g, Good=(g + 1) % GROUPS, Carrier=(g + 2) % GROUPS, Buyer=g) for g in range(GROUPS)]


def mixed_rows() -> list[dict[str, str | None]]:
    """A good record; one with a carrier of another group; one with a hole; one with a stranger and a wrong port."""
    good = record(Port=1, Good=1, Carrier=1, Buyer=1)
    return [
        {**good},
        {**good, "Carrier": "Carrier-4a"},
        {**good, "Good": None},
        {**good, "Buyer": "Nobody", "Port": "Port-5a"},
    ]


def corrupted() -> tuple[list[dict[str, str]], list[str]]:
    """Every group with every domain's entity taken from another group, and which domain that is."""
    records, where = [], []
    for group in range(GROUPS):
        for domain in DOMAINS:
            good = record(Port=group, Good=group, Carrier=group, Buyer=group)
            records.append({**good, domain: f"{domain}-{(group + 2) % GROUPS}a"})
            where.append(domain)
    return records, where


def twice_corrupted() -> list[dict[str, str]]:
    """Two domains from two other groups; the other two still agree."""
    return [record(Port=g, Good=(g + 1) % GROUPS, Carrier=g, Buyer=(g + 3) % GROUPS) for g in range(GROUPS)] + [
        record(Port=(g + 1) % GROUPS, Good=g, Carrier=(g + 2) % GROUPS, Buyer=g) for g in range(GROUPS)
    ]


def group_agreement(frame: pa.Table) -> np.ndarray:
    """A detector of the user's own: how many entities of a record bear the group of most."""
    columns = [
        [None if text is None else text.split("-")[1][0] for text in frame[name].to_pylist()] for name in DOMAINS
    ]
    best = []
    for groups in zip(*columns, strict=True):
        present = [group for group in groups if group is not None]
        best.append(max((present.count(group) / len(present) for group in present), default=1.0))
    return np.array(best)
