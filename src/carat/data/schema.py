"""Which columns of a table are domains, and what else is known about them."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from carat.errors import COLUMNS, InputError, nearest

OUTPUT_COLUMNS = frozenset(
    {"record", "rank", "score", "percentile", "anomalous", "valid", "changed", "flagged", "cost"}
)
"""Names that the output tables use themselves; a domain can't have one of them."""


def check_bins(numeric: Mapping[str, int]) -> None:
    """Every numeric column needs a number of bins that makes sense."""
    for name, bins in numeric.items():
        if not 2 <= bins <= 1000:
            raise InputError(f"`numeric`: column '{name}' needs between 2 and 1000 bins, got {bins}")


@dataclass(frozen=True, kw_only=True)
class Schema:
    """The domains of a table, in order, and the columns with another role.

    Args:
        domains: the categorical columns, numeric ones included; at least two.
        numeric: for each numeric column among the domains, its number of quantile bins.
        id: a column whose value names a record in the outputs, else the row number does.
        time: a column to split by; any type that sorts.
        metapaths: paths of domains that belong together; None means that they are to be discovered.
    """

    domains: tuple[str, ...]
    numeric: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None
    time: str | None = None
    metapaths: tuple[tuple[str, ...], ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "domains", tuple(self.domains))
        object.__setattr__(self, "numeric", dict(self.numeric))
        if self.metapaths is not None:
            object.__setattr__(self, "metapaths", tuple(tuple(path) for path in self.metapaths))
        self._check_domains()
        for path in self.metapaths or ():
            self._check_metapath(path)

    def _check_domains(self) -> None:
        twice = [name for name, count in Counter(self.domains).items() if count > 1]
        if twice:
            raise InputError(f"column '{twice[0]}' is named twice; name each column once")
        if len(self.domains) < 2:
            named = f" (only '{self.domains[0]}')" if self.domains else ""
            raise InputError(
                f"a model needs at least two columns, got {len(self.domains)}{named}; name them with `columns`"
            )
        for name in self.domains:
            if name in OUTPUT_COLUMNS:
                raise InputError(
                    f"column '{name}' has the name of an output column; rename it, for example to '{name}_', "
                    "or leave it out with `without`"
                )
            if name in (self.id, self.time) and name not in self.numeric:
                role = "id" if name == self.id else "time"
                raise InputError(f"'{name}' can't be both a column to model and the {role} column; choose one")
        for name in self.numeric:
            if name not in self.domains:
                raise InputError(f"`numeric`: column '{name}' is not among the chosen columns; {self._hint(name)}")
        check_bins(self.numeric)

    def _check_metapath(self, path: Sequence[str]) -> None:
        shown = " – ".join(path)
        for name in path:
            if name not in self.domains:
                raise InputError(f"metapath {shown}: no column '{name}'; {self._hint(name)}")
        if len(path) < 2 or any(a == b for a, b in itertools.pairwise(path)):
            raise InputError(f"metapath {shown}: a metapath joins two or more different columns")

    def _hint(self, name: str) -> str:
        return nearest(name, self.domains, listed=COLUMNS)

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back."""
        return {
            "domains": list(self.domains),
            "numeric": dict(self.numeric),
            "id": self.id,
            "time": self.time,
            "metapaths": None if self.metapaths is None else [list(path) for path in self.metapaths],
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Schema:
        """The inverse of `to_json`."""
        return cls(**data)
