"""A table whose answer is visible to the eye: `Port-3` goes with `Good-3x` and `Carrier-3y`, and with nothing else."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

GROUPS = 6
DOMAINS = ("Port", "Good", "Carrier", "Buyer")


def planted_table(rows: int = 1200, seed: int = 0) -> pa.Table:
    """Records of four domains; every record is of one group, and all its entities bear the group's number.

    Within a group the entities are drawn independently: Port has one entity a group, Good three, Carrier two,
    Buyer four.
    """
    rng = np.random.default_rng(seed)
    group = rng.integers(0, GROUPS, rows)
    columns = {}
    for name, size in zip(DOMAINS, (1, 3, 2, 4), strict=True):
        member = rng.integers(0, size, rows)
        columns[name] = [f"{name}-{g}{'abcd'[i]}" for g, i in zip(group, member, strict=True)]
    return pa.table(columns)


def record(*, Port: int, Good: int, Carrier: int, Buyer: int) -> dict[str, str]:  # noqa: N803 - the domains' names
    """A record by the groups of its entities."""
    groups = {"Port": Port, "Good": Good, "Carrier": Carrier, "Buyer": Buyer}
    return {name: f"{name}-{group}a" for name, group in groups.items()}
