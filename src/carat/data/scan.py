"""The first pass over a table: which columns are domains, and which entities they hold."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from carat.data.binning import Sample
from carat.data.columns import Columns
from carat.data.schema import OUTPUT_COLUMNS, Schema
from carat.data.sources import Source, check_columns
from carat.data.text import all_dates, all_numbers, to_number, to_text
from carat.data.vocabulary import Domain, Vocabulary
from carat.errors import InputError

UNIQUE = "a different value in every row"
NEARLY = "a different value in nearly every row"
NUMBERS = "numbers"
FREE_TEXT = "free text"
TAKEN = "outputs have a column of this name, so rename it to use it"
INDEX = re.compile(r"__index_level_\d+__$")
"""How Parquet calls the index of a pandas frame; a frame that is scored later has no such column."""
CROWDED = 0.5
"""Where more than this share of a column's cells hold an entity that comes only once, it is a name or a remark."""
ENOUGH = 100
"""Cells below which the share says little."""
FREE = 0.6
"""Above this share of cells with an entity that comes only once, a column of long texts is free text."""
ALMOST = 0.9
"""From this share of cells with an entity that comes only once, a column tells the rows apart, and nothing else."""
SOME = 20
"""Cells below which that share says little: in ten rows, nine names may differ by chance."""
LONG = 5
"""Words from which a text is long; in free text, half of the cells or more are."""


@dataclass(frozen=True)
class Scan:
    """What the first pass found.

    `left_out` gives the reason for every column that could have been a domain, `crowded` names the domains that nobody
    asked for and in which entities hardly repeat, `spread` those that were asked for and in which they don't.
    """

    schema: Schema
    vocabulary: Vocabulary
    rows: int
    left_out: Mapping[str, str]
    crowded: Sequence[str] = ()
    spread: Sequence[str] = ()

    def left_out_line(self) -> str | None:
        """One line for the user, or None when nothing was left out."""
        if not self.left_out:
            return None
        why = {name: f"{why}; {TAKEN}" if name in OUTPUT_COLUMNS else why for name, why in self.left_out.items()}
        return "left out: " + ", ".join(f"{name} ({reason})" for name, reason in why.items())

    @property
    def remedies(self) -> tuple[str, ...]:
        """The options that take in what was left out."""
        reasons = [why for name, why in self.left_out.items() if name not in OUTPUT_COLUMNS]
        return (
            *(("also",) if reasons else ()),
            *(("numeric",) if NUMBERS in reasons else ()),
            *(("id",) if self.nameless else ()),
        )

    @property
    def nameless(self) -> bool:
        """Whether a column was left out that could name the records, and none does."""
        unique = {UNIQUE, NEARLY} & set(self.left_out.values())
        return bool(unique) and self.schema.id is None

    def domains_line(self) -> str:
        """One line for the user: what became a domain, and how many entities it holds."""
        first, *rest = ((domain.name, f"{len(domain.entities):,}") for domain in self.vocabulary.domains)
        names = [f"{first[0]} ({first[1]} values)", *(f"{name} ({count})" for name, count in rest)]
        return f"columns: {', '.join(names)}"

    def crowded_line(self) -> str | None:
        """One line for the user where entities hardly repeat, or None."""
        if not self.crowded:
            return None
        names = ", ".join(self.crowded)
        return f"most values occur only once in {names}: there is little to learn, so consider leaving it out"

    def spread_line(self) -> str | None:
        """One line for the user where nothing can be learned from columns that were asked for, or None."""
        if not self.spread:
            return None
        names = ", ".join(self.spread)
        return f"nothing can be learned from {names}: {NEARLY}" + ("" if self.spread_numbers else "; leave it out")

    @property
    def spread_numbers(self) -> bool:
        """Whether one of them holds numbers, which ranges would help."""
        return any(all_numbers(each.entities) for each in self.vocabulary.domains if each.name in self.spread)


def scan(source: Source, columns: Columns | None = None) -> Scan:
    """Read a source once and settle its schema and vocabulary.

    Args:
        source: what to read.
        columns: which columns take part; None takes every column that holds text worth modelling.
    """
    chosen = columns or Columns()
    domains, numeric, min_count = chosen.domains, dict(chosen.numeric), chosen.min_count
    also, without, id, time = chosen.also, chosen.without, chosen.id, chosen.time
    roles = [name for name in (id, time) if name is not None]
    given = domains or ()
    named = [*given, *dict.fromkeys(name for name in (*also, *numeric) if name not in given)]
    lists = {"columns": given, "also": also, "numeric": numeric, "without": without}
    single = {name: [column] for name, column in (("id", id), ("time", time)) if column is not None}
    for argument, mentioned in (lists | single).items():
        check_columns(source, list(mentioned), argument=argument)
    both = [name for name in (*also, *numeric) if name in without]
    if both:
        raise InputError(f"column '{both[0]}' is in both `also` or `numeric` and `without`; remove one")
    named = [name for name in named if name not in without]
    if domains is not None:
        # Refuse an impossible choice before the pass, not after it.
        Schema(domains=tuple(named), numeric=numeric, id=id, time=time)
        wanted = named
    else:
        passed_over = {*roles, *without, *(name for name in source.names if INDEX.match(name))}
        wanted = [name for name in source.names if name in named or name not in passed_over]
    gathered = {name: _Column(name, numeric.get(name)) for name in wanted}
    rows = 0
    for batch in source.batches(wanted):
        rows += batch.num_rows
        for column, array in zip(gathered.values(), batch.columns, strict=True):
            column.add(array, forced=column.name in named)
    if rows < 2:
        raise InputError(f"{source.label}: {'one row' if rows else 'no rows'}; a model needs at least two")
    left_out = {name: "the index of a pandas frame" for name in source.names if INDEX.match(name) and name not in named}
    found = []
    for name, column in gathered.items():
        reason = None if name in numeric else column.unfit(min_count, named=name in named)
        if reason is None:
            found.append(column.domain(min_count))
        elif name in named:
            raise InputError(f"{source.label}: column '{name}' can't be used: {reason}; leave it out")
        else:
            left_out[name] = reason
    return Scan(
        _schema(source, found, chosen, left_out),
        Vocabulary(tuple(found)),
        rows,
        left_out,
        [domain.name for domain in found if domain.name not in named and _crowded(domain)],
        [domain.name for domain in found if domain.name in named and _spread(domain)],
    )


def _crowded(domain: Domain) -> bool:
    return _share_once(domain.counts, ENOUGH) > CROWDED


def _spread(domain: Domain) -> bool:
    return domain.bins is None and _share_once(domain.counts, SOME) >= ALMOST


def _free_text(entities: pa.Array, counts: np.ndarray) -> bool:
    """Whether a column holds sentences that somebody wrote, not names of something that comes again."""
    if _share_once(counts, ENOUGH) <= FREE:
        return False
    words = pc.count_substring_regex(entities, r"\S+").to_numpy()
    return bool(counts[words >= LONG].sum() >= counts.sum() / 2)


def tells_rows_apart(counts: np.ndarray) -> bool:
    """Whether a column has a different entity in nearly every row, given how often each occurs."""
    return _share_once(counts, SOME) >= ALMOST


def _share_once(counts: np.ndarray, enough: int) -> float:
    """Share of cells whose entity comes only once; 0 where there are too few cells to say."""
    cells = int(counts.sum())
    return int((counts == 1).sum()) / cells if cells >= enough else 0.0


def _schema(
    source: Source,
    found: Sequence[Domain],
    columns: Columns,
    left_out: Mapping[str, str],
) -> Schema:
    if len(found) < 2:
        reasons = ", ".join(f"{name}: {reason}" for name, reason in left_out.items()) or "no other column"
        way = "name the columns with `columns`"
        if NUMBERS in left_out.values():
            way = "cut columns of numbers into ranges with `numeric`, or name columns of categories with `columns`"
        raise InputError(
            f"{source.label}: {'only one column' if found else 'no column'} can be used, but a model needs two "
            f"({reasons}); {way}"
        )
    return Schema(
        domains=tuple(domain.name for domain in found),
        numeric=columns.numeric,
        id=columns.id,
        time=columns.time,
        metapaths=None if columns.metapaths is None else tuple(tuple(path) for path in columns.metapaths),
    )


class _Column:
    """What the first pass gathers about one column."""

    def __init__(self, name: str, bins: int | None) -> None:
        self.name = name
        self._bins = bins
        self._sample = Sample()
        self._counter = _Counter()
        self._reason: str | None = None

    def add(self, array: pa.Array, *, forced: bool) -> None:
        if self._bins is not None:
            self._sample.add(to_number(array, self.name))
        elif self._reason is None:
            if not forced:
                self._reason = _typed_reason(array.type)
            if self._reason is None:
                self._counter.add(to_text(array, self.name))

    def unfit(self, min_count: int, *, named: bool) -> str | None:
        """Why this column is no domain, or None; a column that was named is refused only where it must be."""
        if self._reason is not None:
            return self._reason
        entities, counts = self._counter.result()
        if len(entities) == 0:
            return "no values"
        if len(entities) == 1:
            return "only one value"
        if (counts >= min_count).sum() < 2:
            return f"fewer than two values reach min_count = {min_count}"
        if named:
            return None
        if all_numbers(entities):
            return NUMBERS
        if all_dates(entities):
            return "dates"
        if _free_text(entities, counts):
            return FREE_TEXT
        if len(entities) == counts.sum():  # every entity once, nulls apart
            return UNIQUE
        # An ID of rows some of which were entered twice. A model of it would suggest another row's ID as a fix.
        if tells_rows_apart(counts):
            return NEARLY
        return None

    def domain(self, min_count: int) -> Domain:
        if self._bins is not None:
            bins = self._sample.bins(self._bins, self.name)
            counts = self._sample.counts(bins)
            return Domain(self.name, pa.array(bins.texts(), pa.string()), counts, bins)
        entities, counts = self._counter.result()
        if min_count > 1:
            keep = counts >= min_count
            entities, counts = entities.filter(pa.array(keep)), counts[keep]
        return Domain(self.name, entities, counts)


def _typed_reason(kind: pa.DataType) -> str | None:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return NUMBERS
    if pa.types.is_temporal(kind):
        return "dates"
    if pa.types.is_nested(kind):
        return "lists or structs"
    return None


class _Counter:
    """Counts entities over batches; memory follows the number of entities, not of rows."""

    def __init__(self) -> None:
        self._pending: list[pa.Table] = []
        self._size = 0
        self._merged = 0

    def add(self, text: pa.Array) -> None:
        counted = text.drop_null().value_counts()
        self._pending.append(pa.table({"text": counted.field(0), "count": counted.field(1)}))
        self._size += len(counted)
        if self._size > max(2 * self._merged, 1 << 20):
            self._merge()

    def _merge(self) -> pa.Table:
        if not self._pending:
            return pa.table({"text": pa.array([], pa.string()), "count": pa.array([], pa.int64())})
        table = pa.concat_tables(self._pending).group_by("text").aggregate([("count", "sum")])
        table = table.rename_columns({"count_sum": "count"}).select(["text", "count"])
        self._pending, self._size, self._merged = [table], table.num_rows, table.num_rows
        return table

    def result(self) -> tuple[pa.Array, np.ndarray]:
        """Entities, the most frequent first and ties by text, with their counts."""
        table = self._merge()
        order = pc.sort_indices(table, sort_keys=[("count", "descending"), ("text", "ascending")])
        table = table.take(order)
        return table["text"].combine_chunks(), table["count"].to_numpy()
