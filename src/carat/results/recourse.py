"""What recourse gives back: counterfactuals as a frame, a line about every record, an explanation of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.arguments import check_count, known_arguments
from carat.data.sources import frame_like, open_source
from carat.data.sources.rows import check_same, name_of, of_output, row_of
from carat.errors import InputError, warn_renamed
from carat.observing import Remark
from carat.results.batches import ResultBatch, strangest_of
from carat.results.evidence import Evidence
from carat.results.explaining import explain_batch
from carat.results.explanation import Explanation, worse
from carat.results.origin import Origin
from carat.results.scale import Scale

EXPLAINED = 64
"""Records explained at once."""
SHOWN = 5
"""Records that `print` shows."""


class _Strangest:
    """Stands for the record that `explain` takes where none is named."""

    def __repr__(self) -> str:
        return "the strangest row"


STRANGEST = _Strangest()


@dataclass(frozen=True, eq=False)
class RecourseResult:
    """The suggested fixes for some rows of a table, as `Model.recourse` returns them.

    `print(result)` shows the strangest rows, `to_frame()` has all fixes, `explain(row)` puts one row into words, and
    `report("page.html")` writes a page. The rows are in the order of the table; after `top`, the highest alarm comes
    first. A suggested fix is what the research literature calls a counterfactual.

    Args:
        batches: the rows and what was found for them, in order.
        scale: how scores are read.
        evidence: the counts behind explanations.
        method: name of the method.
        like: your data; frames come back in its library.
        empty: a batch without rows, for the columns of an empty result.
        scored: scores of all rows that were looked at, [n], including those that got no fixes.
        origin: the model and the data that the result comes from.
        remarks: what is worth knowing about it.
        anomalous: how many of all rows that were looked at are anomalous; None if that is not known.
        id: the column that identifies a row; None if that is the index label or the row number.
        numbered: whether rows are known by their number, counted from 0.
        encoding: of your data, if it is a CSV file; None is UTF-8.
    """

    batches: tuple[ResultBatch, ...]
    scale: Scale
    evidence: Evidence = field(repr=False)
    method: str
    like: Any = field(repr=False)
    empty: ResultBatch = field(repr=False)
    scored: Tensor | None = field(default=None, repr=False)
    origin: Origin | None = None
    remarks: tuple[Remark, ...] = ()
    anomalous: int | None = None
    id: str | None = None
    numbered: bool = False
    encoding: str | None = None

    @property
    def parts(self) -> tuple[ResultBatch, ...]:
        """The former name of `batches`."""
        warn_renamed("RecourseResult.parts", "RecourseResult.batches")
        return self.batches

    @known_arguments
    def to_frame(self) -> Any:
        """All suggested fixes, one per row, as a frame of the library you passed in.

        Columns: `record` (the row number, index label or ID), `rank` (1 = best), `score`, `percentile`, `valid` (its
        score is not below the threshold), `changed` (the list of changed columns), then the fixed row, and `cost` if
        you gave costs. At the end, `before` and `after` list the old and the new values, in the order of `changed`.
        Values are text, even where your column holds numbers or booleans; `fixed()` has the rows in its own types.
        """
        batches = self.batches or (self.empty,)
        return frame_like(pa.concat_tables([batch.compared() for batch in batches]), self.like)

    def to_arrow(self) -> pa.Table:
        """What `to_frame` has, as an Arrow table, with only the columns that `carat recourse` writes."""
        return pa.concat_tables([batch.rows() for batch in self.batches or (self.empty,)])

    @known_arguments
    def to_json(self, *, show: int | None = None) -> list[dict[str, Any]]:
        """One dictionary per row, with its explanation and its suggested fixes; see `Explanation.to_json`.

        Args:
            show: suggested fixes per row, at most; None gives all of them.
        """
        return [one.to_json() for one in self.explanations(show=show)]

    @property
    def records(self) -> list[dict[str, Any]]:
        """One dictionary per row.

        Keys: `record`, `score`, `percentile`, `flagged`, `count`, `exhausted`, `reason`, `alarm`.
        """
        return [row for batch in self.batches for row in batch.records().to_pylist()]

    @known_arguments
    def fixed(self) -> Any:
        """Your data, with the best valid fix applied to every row in which a value looks wrong; see `apply`."""
        if isinstance(self.like, str) and self.like == "-":
            raise InputError("standard input can't be read again; save it to a file first")
        return self.apply(self.like, encoding=self.encoding)

    @known_arguments
    def apply(self, frame: Any, *, encoding: str | None = None) -> Any:
        """A frame with the best valid fix applied to every row in which a value looks wrong.

        Looks wrong means a likelihood below 0.5 (where no explainer was asked: the row is anomalous), and valid that
        the row is no longer anomalous by its score. All other rows stay as they are, and so do rows whose fix would
        change a column of numbers that was cut into ranges: a range is no number. A frame comes back in its library,
        with its index and types; the table of a file comes back in Arrow.

        Args:
            frame: the rows that you asked about, or a copy with other columns or rows besides. Rows are found by the id
                column of the model, by the index label of a pandas frame, or by their number. If other values stand
                there than those that were looked at, the frame is refused.
            encoding: of a CSV file, such as `latin-1`; UTF-8 by default.
        """
        from carat.auditing.applying.choosing import Rules  # noqa: PLC0415 - applying is made of results
        from carat.auditing.applying.fixes import best_fixes  # noqa: PLC0415
        from carat.auditing.applying.frames import apply_to_frame  # noqa: PLC0415

        return apply_to_frame(best_fixes(self.batches), frame, Rules(), id=self.id, encoding=encoding)[0]

    @known_arguments
    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write one self-contained HTML page: what was flagged, why, and what would have made it normal.

        Needs the extra `report`. An existing page is replaced.
        """
        from carat.report import write_report  # noqa: PLC0415 - the page is made of results, not results of the page

        write_report(self, path, title=title)

    def _repr_html_(self) -> str:
        from carat.report import result_html  # noqa: PLC0415

        return result_html(self)

    def __str__(self) -> str:
        anomalous = sum(int(batch.anomalous.sum()) for batch in self.batches)
        found = sum(int(batch.outcome.mask.sum()) for batch in self.batches)
        rows = f"{len(self):,} row{'' if len(self) == 1 else 's'}"
        fixes = f"{found:,} suggested fix{'' if found == 1 else 'es'}"
        lines = [f"{fixes} for {rows} ({anomalous:,} anomalous), by {self.method}"]
        for one in self._strangest(SHOWN, show=1):
            best = one.counterfactuals[0] if one.counterfactuals else None
            fix = "no fix" if best is None else best.in_words() + ("" if best.valid else f" ({worse(one.anomalous)})")
            alarm = "" if one.alarm is None else f"alarm {one.alarm:.2f}, "
            lines.append(f"  row {one.record}, {alarm}percentile {one.percentile:.2f}: {fix}")
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more; to_frame() has all of them")
        return "\n".join(lines)

    __repr__ = __str__

    def __len__(self) -> int:
        """Number of rows that were looked at for fixes."""
        return sum(len(batch) for batch in self.batches)

    def __iter__(self) -> Iterator[Explanation]:
        """The rows, each explained, with its best fixes."""
        return self.explanations()

    def _strangest(self, rows: int, *, show: int | None) -> list[Explanation]:
        """The strangest rows, explained: the highest alarm first, then the lowest score."""
        some = strangest_of(list(self.batches), rows)
        found = [one for batch in some for one in explain_batch(batch, self.evidence, show=show)]
        return sorted(found, key=Explanation.place)

    @known_arguments
    def explanations(self, *, show: int | None = 5) -> Iterator[Explanation]:
        """Why each row was flagged and what would have made it normal, in the order of the result.

        Args:
            show: suggested fixes per row, at most; None gives all of them.
        """
        return self._explained(check_count("show", show))

    def _explained(self, show: int | None) -> Iterator[Explanation]:
        for batch in self.batches:
            for start in range(0, len(batch), EXPLAINED):
                some = batch.take(torch.arange(start, min(start + EXPLAINED, len(batch))))
                yield from explain_batch(some, self.evidence, show=show)

    @known_arguments
    def explain(self, record: Any = STRANGEST, *, show: int | None = 5) -> Explanation:
        """Why one row was flagged and what would have made it normal.

        Args:
            record: the row's number, index label or ID, as in the column `record`. By default, the strangest row. A
                normal row is an error, unless `all` or `top` had it looked at. A row of `to_frame()` or of
                your pandas frame will do, too.
            show: suggested fixes to show, at most; None gives all of them.
        """
        show = check_count("show", show)
        if record is STRANGEST:
            first = self._strangest(1, show=show)
            if not first:
                raise InputError(self._why_none())
            return first[0]
        row = row_of(record)
        if row is not None:
            record = name_of(row, self.like, self.id)
        found = [
            (batch, place)
            for batch in self.batches
            for place, name in enumerate(batch.table.names_of_records().to_pylist())
            if name == record
        ]
        if not found:
            raise InputError(self._why_not(record))
        if len(found) > 1:
            raise InputError(
                f"{len(found):,} rows of this result have the ID {record!r}; result.explanations() has them one by one"
            )
        ((batch, place),) = found
        if row is not None and not of_output(row):
            check_same(row, {name: batch.texts[name][place].as_py() for name in self._plain_columns(batch)}, record)
        return explain_batch(batch.take(torch.tensor([place])), self.evidence, show=show)[0]

    @staticmethod
    def _plain_columns(batch: ResultBatch) -> list[str]:
        """Columns that read as they came: not those that were cut into ranges."""
        return [domain.name for domain in batch.table.vocabulary.domains if domain.bins is None]

    def _why_not(self, record: Any) -> str:
        """Why there is nothing to say of a row."""
        unknown = f"row {record!r} is not in this result; result.records lists the rows that are"
        if self.scored is None:
            return unknown
        if self.numbered:
            if isinstance(record, bool) or not hasattr(record, "__index__"):
                return unknown
            if not 0 <= record < len(self.scored):
                return f"there is no row {record!r}; the table has {len(self.scored):,}, counted from 0"
            place = int(record)
        else:
            names = self._names()
            if names is None:
                return unknown
            if record not in names:
                by = "index label" if self.id is None else f"column '{self.id}'"
                return f"there is no row {record!r} in the table; rows go by their {by}"
            place = names.index(record)
        percentile = f"percentile {float(self.scale.percentile(self.scored[place : place + 1])):.1f}"
        if self._whole:
            return f"row {record} is normal ({percentile}), so it was not looked at; all=True looks at normal rows, too"
        return f"row {record} was not looked at ({percentile}); use all=True, or a larger `top`"

    def _why_none(self) -> str:
        """Why there is no strangest row."""
        if self.scored is None:
            return "no row was looked at; `top` or `all` looks at rows that are not anomalous"
        if not len(self.scored):
            return "no row was looked at: the table has none"
        if len(self.scored) == 1:
            percentile = float(self.scale.percentile(self.scored))
            return (
                f"the row is normal (percentile {percentile:.1f}), so it was not looked at; all=True looks at normal "
                "rows, too"
            )
        return (
            f"none of the {len(self.scored):,} rows is anomalous, so none was looked at; all=True looks at normal "
            "rows, too, and top=5 at the strangest"
        )

    @property
    def _whole(self) -> bool:
        """Whether all anomalous rows are in this result, so that the others are normal."""
        return self.anomalous is not None and self.anomalous == sum(
            int(batch.anomalous.sum()) for batch in self.batches
        )

    def _names(self) -> list[Any] | None:
        """What names the rows of the data, read once more; None where it can't be, or is not the same any more."""
        if isinstance(self.like, str) and self.like == "-":
            return None
        try:
            source = open_source(self.like, encoding=self.encoding)
            index = getattr(source, "index", None)
            if self.id is not None:
                index = pa.chunked_array([batch.column(0) for batch in source.batches([self.id])])
        except InputError:
            return None
        found: list[Any] | None = None if index is None else index.to_pylist()
        return found if found is not None and self.scored is not None and len(found) == len(self.scored) else None
