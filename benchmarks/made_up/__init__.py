"""Made-up tables with a dirty and a clean copy: one file per table, the copies in `twin`, slips in `common`."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from made_up import bibliography, clinical, products, rents, sources, tax
from made_up.twin import Planted, Twin

TABLES: dict[str, Callable[[Random, int], Twin]] = {
    "sources": sources.make,
    "bibliography": bibliography.make,
    "rents": rents.make,
    "tax": tax.make,
    "products": products.make,
    "clinical": clinical.make,
}
"""How each table is made, from a generator and a number of rows."""

ROWS = {"sources": 2_400, "bibliography": 1_000, "rents": 8_000, "tax": 6_000, "products": 3_000, "clinical": 4_000}
"""How many rows each has, if nobody says otherwise; `sources` and `products` come within a few."""


def make(name: str, *, seed: int = 0, rows: int | None = None) -> Twin:
    """A table by name, dirty and clean; the same one for the same seed and number of rows."""
    return TABLES[name](Random(f"{name} {seed}"), ROWS[name] if rows is None else rows)


__all__ = ["ROWS", "TABLES", "Planted", "Twin", "make"]
