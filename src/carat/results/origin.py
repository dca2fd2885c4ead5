"""Where a result comes from: which model, which data, when."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Origin:
    """What it takes to know a result again.

    Args:
        carat: the version that made it.
        model: identity of the model.
        data: how the data was called.
        fingerprint: of the records that were read, in their order.
        records: how many these were.
        made: when, in UTC, as ISO 8601.
        holds_records: whether the model holds its training records.
    """

    carat: str
    model: str
    data: str
    fingerprint: str
    records: int
    made: str
    holds_records: bool = False

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)
