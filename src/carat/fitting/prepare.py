"""From a table to ids that can be fitted: columns chosen, entities counted, records read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from carat.data import Columns, Fingerprint, Fold, Schema, Table, Vocabulary, open_source, scan
from carat.data.row_ids import RowIds
from carat.data.scan import Scan
from carat.data.sources.frames import check_row
from carat.data.sources.watched import Watched
from carat.datasets import Dataset
from carat.observing import Observer, Remark, Silent
from carat.registry import named_data

FEW = 100
"""Rows below which a model can hardly mean anything: a tenth of them sets the threshold."""


@dataclass(frozen=True)
class Prepared:
    """A table as `fit_prepared` takes it.

    Args:
        label: how the table was called.
        schema: domains and other roles of the columns.
        table: the records as ids, [n, m]; the vocabulary covers all of them.
        left_out: columns that take no part, and why.
        min_count: entities seen fewer times count as unseen.
        like: what the records came from, for its frame library.
    """

    label: str
    schema: Schema
    table: Table
    left_out: Mapping[str, str] = field(default_factory=dict)
    min_count: int = 1
    like: Any = field(default=None, repr=False, compare=False)

    @property
    def vocabulary(self) -> Vocabulary:
        """What the ids mean."""
        return self.table.vocabulary

    def fold(self, seed: int) -> Fold:
        """What is held out where nobody says: the newest records where there is a time column, else random ones."""
        if self.table.time is None:
            return Fold.random(len(self.table), seed=seed)
        return Fold.newest(self.table.time, name=f"{self.label}: column '{self.schema.time}', given as `time`,")

    def fingerprint(self) -> str:
        """Of the records in their order."""
        return Fingerprint().add(self.table.ids).text()


def prepare(
    data: Any, columns: Columns | None = None, *, encoding: str | None = None, observer: Observer | None = None
) -> Prepared:
    """Read a table in two passes.

    Args:
        data: a frame (pandas, polars, pyarrow), a path, or the name of a dataset.
        columns: which columns take part; None takes every column of text in which values repeat.
        encoding: of a CSV file; None is UTF-8.
        observer: is told of both passes, and of what became of the columns.
    """
    observer, chosen = observer or Silent(), columns or Columns()
    data = named_data(data)
    check_row(data, ())
    if isinstance(data, Dataset):
        chosen, data = chosen.on(data.schema), data.table
    source = Watched(open_source(data, encoding=encoding), observer, "reading values", "reading rows")
    found = scan(source, chosen)
    for remark in _remarks(found):
        observer.remark(remark)
    table = Table.read(source, found.schema, found.vocabulary, found.rows)
    if found.schema.id is not None and table.record is not None:
        shared = RowIds(found.schema.id).add(table.record).in_words()
        if shared is not None:
            observer.remark(Remark("row-ids", shared, warning=True))
    return Prepared(source.label, found.schema, table, dict(found.left_out), chosen.min_count, data)


def _remarks(found: Scan) -> list[Remark]:
    remarks = [Remark("domains", found.domains_line())]
    if found.rows < FEW:
        few = f"{found.rows} rows are too few to learn much; treat the results as a first impression"
        remarks.append(Remark("few-rows", few, warning=True))
    left_out, crowded, spread = found.left_out_line(), found.crowded_line(), found.spread_line()
    if left_out is not None:
        remarks.append(Remark("left-out", left_out, warning=True, remedies=found.remedies))
    if crowded is not None:
        remarks.append(Remark("crowded", crowded, warning=True))
    if spread is not None:
        remedies = ("ranges",) if found.spread_numbers else ()
        remarks.append(Remark("spread", spread, warning=True, remedies=remedies))
    return remarks
