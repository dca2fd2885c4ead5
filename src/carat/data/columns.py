"""Which columns of a table take part, and in which role: the options of `fit`, `carat.toml` and the command line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypedDict

from carat.arguments import check_name_of, check_names_of, known_fields
from carat.data.schema import Schema, check_bins
from carat.errors import InputError, nearest


class ColumnOptions(TypedDict, total=False):
    """The fields of `Columns` as keyword arguments."""

    domains: Sequence[str] | None
    columns: Sequence[str] | None
    also: Sequence[str]
    without: Sequence[str]
    numeric: Mapping[str, int]
    id: str | None
    time: str | None
    metapaths: Sequence[Sequence[str]] | None
    min_count: int


FIT_ARGUMENTS = (
    "profile",
    "detector",
    "encoding",
    "takes",
    "explainer",
    "memory",
    "graph",
    "threshold",
    "start",
    "minutes",
    "steps",
    "seed",
    "device",
    "checkpoints",
    "distributed",
    "progress",
)
"""The other arguments of `fit`, for whoever misspells one."""


@known_fields
@dataclass(frozen=True, kw_only=True)
class Columns:
    """What a user says about the columns of a table.

    Args:
        domains: the columns to take; None takes every column of text in which values repeat.
        also: columns to take besides those or the default, such as codes made of digits.
        without: columns to leave out, such as an outcome that is known only later.
        numeric: columns to cut into quantile bins, with the number of bins; they become domains too.
        id: column that names a record in the outputs.
        time: column that orders the records; `fit` then holds out the newest ones.
        metapaths: paths of domains that belong together; None discovers them.
        min_count: entities seen fewer times count as unseen.
    """

    domains: Sequence[str] | None = None
    also: Sequence[str] = ()
    without: Sequence[str] = ()
    numeric: Mapping[str, int] = field(default_factory=dict)
    id: str | None = None
    time: str | None = None
    metapaths: Sequence[Sequence[str]] | None = None
    min_count: int = 1

    def __post_init__(self) -> None:
        for name in ("domains", "also", "without"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else check_names_of(name, given))
        numeric = self.numeric or {}
        for name, given in (("id", self.id), ("time", self.time)):
            object.__setattr__(self, name, None if given is None else check_name_of(name, given))
        if not isinstance(numeric, Mapping) or not all(isinstance(bins, int) for bins in numeric.values()):
            raise InputError(
                f"`numeric` must name columns and their number of bins, as {{'Weight': 10}}; got {numeric!r}"
            )
        check_bins(
            {str(name): bins for name, bins in numeric.items()}
        )  # here too: cutting into bins comes before there is a schema
        object.__setattr__(self, "numeric", {str(name): bins for name, bins in numeric.items()})
        if self.metapaths is not None:
            if isinstance(self.metapaths, str) or not isinstance(self.metapaths, Iterable):
                raise InputError(f"`metapaths` must be a list of lists of columns, got {self.metapaths!r}")
            paths = tuple(self.metapaths)
            if any(isinstance(path, str) or not isinstance(path, Iterable) for path in paths):
                raise InputError("`metapaths` must be a list of lists of columns; put the path in brackets")
            object.__setattr__(self, "metapaths", tuple(check_names_of("metapaths", path) for path in paths))
        if isinstance(self.min_count, bool) or not hasattr(self.min_count, "__index__"):
            raise InputError(f"`min_count` must be a whole number, got {self.min_count!r}")
        if self.min_count < 1:
            raise InputError(f"`min_count` must be at least 1, got {self.min_count}")

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Columns:
        """From keyword arguments, with `columns` for `domains`; one that does not exist is refused by name."""
        given = options.get("columns")
        if isinstance(given, Columns):
            others = [name for name in options if name != "columns"]
            if others:
                raise InputError(f"`{others[0]}` and a `Columns` were both given; put `{others[0]}` into the `Columns`")
            return given
        if given is not None:
            check_names_of("columns", given)
        if "columns" in options:
            if options.get("domains") is not None:
                raise InputError("`columns` and `domains` mean the same; use one of them")
            options = {"domains" if name == "columns" else name: value for name, value in options.items()}
        known = [each.name for each in fields(cls)]
        for name in options:
            if name not in known:
                raise InputError(f"unknown argument '{name}'; {nearest(name, ['columns', *known, *FIT_ARGUMENTS])}")
        return cls(**options)

    def replace(self, **options: Any) -> Columns:
        """The same with other options."""
        return replace(self, **options)

    def on(self, schema: Schema) -> Columns:
        """The same with what a dataset brings along where nothing was said.

        Its metapaths count only while all of their domains take part.
        """
        domains = schema.domains if self.domains is None else self.domains
        metapaths = self.metapaths
        if metapaths is None and schema.metapaths is not None:
            kept = set(domains) - set(self.without)
            metapaths = [path for path in schema.metapaths if set(path) <= kept] or None
        return replace(
            self,
            domains=domains,
            numeric=self.numeric or schema.numeric,
            id=self.id or schema.id,
            time=self.time or schema.time,
            metapaths=metapaths,
        )
