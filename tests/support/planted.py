"""The planted table, which carat's public checks use as well."""

from carat.testing.planted import (
    DOMAINS,
    GROUPS,
    corrupted,
    group_agreement,
    mixed_rows,
    planted_table,
    record,
    twice_corrupted,
)

__all__ = [
    "DOMAINS",
    "GROUPS",
    "corrupted",
    "group_agreement",
    "mixed_rows",
    "planted_table",
    "record",
    "twice_corrupted",
]
