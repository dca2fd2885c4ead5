"""What an audit gives back: the suspicious cells as a frame, a line about every column, each cell in words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from carat.arguments import known_arguments
from carat.auditing.findings import KINDS, ColumnReport, Findings, LearnedPattern
from carat.auditing.options import AuditOptions
from carat.auditing.reading import Reading
from carat.auditing.telling import blank_or, cell_in_words, counted, many, share
from carat.data.sources import frame_like
from carat.data.sources.rows import check_same, name_of, of_output, row_of
from carat.errors import COLUMNS, InputError, nearest
from carat.observing import Remark

BLANK = "<blank>"
"""How files write a proposal to leave a cell empty; an empty cell of a file means that nothing is proposed."""
SCHEMA, VERSION = "carat.audit", 1
"""As docs/schema.md has it."""
SHOWN = 5
"""Cells that `print` shows."""
LONGEST = 60
"""Signs of a value that `print` shows."""


@dataclass(frozen=True)
class AuditOrigin:
    """What it takes to know a result again.

    Args:
        carat: the version that made it.
        options: of the audit.
        data: how the data was called.
        fingerprint: of the table.
        rows: how many it has.
        made: when, in UTC, as ISO 8601.
        checksum: SHA-256 of the file, of a .gz file that of its content; None where the table is no file.
    """

    carat: str
    options: dict[str, Any]
    data: str
    fingerprint: str
    rows: int
    made: str
    checksum: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary."""
        return asdict(self)


@dataclass(frozen=True)
class Cell:
    """One suspicious cell.

    Args:
        record: the row's number, index label or ID.
        column: its column.
        value: what the cell contains; None where it is blank.
        kind: what is wrong: `typo`, `variant`, `format`, `misplaced`, `mismatch` or `missing`.
        error: the probability that it is wrong.
        proposal: what should be there; None where nothing is proposed, "" for an empty cell.
        confidence: the probability that the proposal is right.
        alternatives: other values that might be right, best first.
        reason: in words.
        group: cells that are fixed together, such as a swap, share a number; None for a cell by itself.
    """

    record: Any
    column: str
    value: str | None
    kind: str
    error: float
    proposal: str | None
    confidence: float
    alternatives: tuple[str, ...]
    reason: str
    group: int | None


@dataclass(frozen=True, eq=False)
class AuditResult:
    """The suspicious cells of a table, as `carat.audit` returns them, the most suspicious first.

    `print(result)` shows a few of them, `to_frame()` has all of them, `columns` says how each column was treated, and
    `explain(row)` puts the cells of one row into words. `kinds()`, `headline()`, `cells()` and `to_frame()` are
    called; `columns`, `rows`, `rate` and `patterns` are not.

    Args:
        findings: the cells, by row and column number.
        reading: the table.
        options: of the audit.
        origin: the data and the options that the result comes from.
        remarks: what is worth knowing about it.
    """

    findings: Findings = field(repr=False)
    reading: Reading = field(repr=False)
    options: AuditOptions
    origin: AuditOrigin | None = None
    remarks: tuple[Remark, ...] = ()

    def __len__(self) -> int:
        """Number of suspicious cells."""
        return len(self.findings)

    def __iter__(self) -> Iterator[Cell]:
        """The suspicious cells, the most suspicious first."""
        return iter(self.cells())

    @property
    def rows(self) -> int:
        """How many rows the table has."""
        return self.reading.table.rows

    @property
    def columns(self) -> tuple[ColumnReport, ...]:
        """How each column was treated: role, number of values, blank and suspicious cells, how well it is predicted."""
        unread = [ColumnReport(name, "left out", why) for name, why in self.reading.unread]
        return (*self.findings.columns, *unread)

    @property
    def rate(self) -> float:
        """The estimated share of wrong cells among those looked at; NaN where there is no estimate."""
        return self.findings.rate

    @property
    def patterns(self) -> tuple[LearnedPattern, ...]:
        """Changes that your decisions ask for in other cells too, each with its number, its name and its cells."""
        return self.findings.patterns

    def kinds(self) -> dict[str, int]:
        """How many cells of each kind there are; kinds without any are left out."""
        counts = Counter(self.findings.kind)
        return {kind: counts[kind] for kind in KINDS if counts[kind]}

    def cells(self, limit: int | None = None) -> list[Cell]:
        """The first cells, all of them by default."""
        if limit is not None and (not hasattr(limit, "__index__") or limit < 0):
            raise InputError(f"`limit` must be a whole number, at least 0, got {limit!r}")
        table = self.to_arrow().drop_columns(["decision"])
        rows = table.slice(0, limit).to_pylist()
        return [Cell(**{**row, "alternatives": tuple(row["alternatives"])}) for row in rows]

    def to_frame(self) -> Any:
        """All suspicious cells, one per row, as a frame of the library you passed in.

        Columns: `record` (the row number, index label or ID), `column`, `value` (as it stands, null where blank),
        `kind`, `error` (the probability that it is wrong), `proposal` (null where there is none, "" to leave the cell
        empty), `confidence` (the probability that the proposal is right), `alternatives` (a list), `reason`, `group`
        (cells that are fixed together share a number) and `decision` (for you to fill in; what you had decided before).
        Names of columns and values are text, even where your frame has numbers or booleans; `fixed()` gives the table
        in its own types.
        """
        frame = frame_like(self.to_arrow(), self.reading.like)
        # pandas would turn whole numbers with gaps into floats.
        return frame.astype({"group": "Int64"}) if type(frame).__module__.startswith("pandas") else frame

    def to_arrow(self) -> pa.Table:
        """What `to_frame` has, as an Arrow table."""
        return self._table(blank="", decision="")

    def to_file(self) -> pa.Table:
        """What `to_frame` has, as `carat audit` writes it: `<blank>` where a cell should be empty, nothing decided."""
        return self._table(blank=BLANK, decision=None)

    def _table(self, *, blank: str, decision: str | None) -> pa.Table:
        found, table = self.findings, self.reading.table
        names = self.reading.names
        record = pa.array(found.row.astype(np.int64)) if names is None else names.take(pa.array(found.row))
        column = [table.columns[place].name for place in found.column.tolist()]
        proposal = [blank if text == "" else text for text in found.proposal]
        others = [[blank if text == "" else text for text in texts] for texts in found.alternatives]
        return pa.table(
            {
                "record": record,
                "column": pa.array(column, pa.string()),
                "value": pa.array(self._values(), pa.string()),
                "kind": pa.array(found.kind, pa.string()),
                "error": pa.array(found.error.astype(np.float64)),
                "proposal": pa.array(proposal, pa.string()),
                "confidence": pa.array(found.confidence.astype(np.float64)),
                "alternatives": pa.array(others, pa.list_(pa.string())),
                "reason": pa.array(found.reason, pa.string()),
                "group": pa.array(found.group.astype(np.int64), mask=found.group < 0),
                "decision": pa.array([said or decision for said in self._said()], pa.string()),
            }
        )

    def _said(self) -> list[str]:
        """What was decided about the cells before; empty where nothing was."""
        return self.findings.decision or [""] * len(self.findings)

    def _values(self) -> list[str | None]:
        """What the cells contain."""
        columns = self.reading.table.columns
        found = []
        for row, place in zip(self.findings.row.tolist(), self.findings.column.tolist(), strict=True):
            code = int(columns[place].codes[row])
            found.append(None if code < 0 else columns[place].values[code])
        return found

    def to_json(self) -> dict[str, Any]:
        """The whole result as one dictionary, in the documented schema `carat.audit`."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "origin": None if self.origin is None else self.origin.to_json(),
            "rows": self.rows,
            "rate": finite(self.rate),
            "kinds": self.kinds(),
            "columns": [column_json(report) for report in self.columns],
            "cells": self.to_file().to_pylist(),
            "patterns": [{**asdict(pattern), "name": pattern.name} for pattern in self.patterns],
            "remarks": [remark.text for remark in self.remarks],
        }

    @known_arguments
    def fixed(self, *, certain: float | None = None) -> Any:
        """The table that was audited, with every suggested fix applied that is certain enough.

        A frame comes back in its library, with its index and types. The table of a file comes back in Arrow; to write
        it as a file instead, see `carat.apply`.

        Args:
            certain: fixes are applied where their confidence is at least this; 0.9 unless the audit had another.
        """
        if isinstance(self.reading.like, str) and self.reading.like == "-":
            raise InputError("standard input can't be read again; save it to a file, and audit that")
        return self.apply(self.reading.like, certain=certain)

    @known_arguments
    def apply(self, frame: Any, *, certain: float | None = None) -> Any:
        """A frame with every suggested fix applied that is certain enough; `carat.apply` takes your decisions too.

        Args:
            frame: the table that was audited, or a copy with other columns or rows besides. The rows are found by the
                id column or the index label where the audit went by them, else by number. If other values stand there
                than in the audit, the frame is refused.
            certain: fixes are applied where their confidence is at least this; 0.9 unless the audit had another.
        """
        from carat.auditing.applying.choosing import Rules  # noqa: PLC0415 - applying reads results
        from carat.auditing.applying.frames import apply_to_frame  # noqa: PLC0415
        from carat.auditing.applying.given import cell_list  # noqa: PLC0415

        rules = Rules(self.options.certain if certain is None else certain)
        return apply_to_frame(cell_list(self), frame, rules, encoding=self.reading.encoding)[0]

    def explain(self, record: Any, column: Any = None) -> str:
        """What is wrong with one row, in words.

        Args:
            record: the row's number, index label or ID, as in the column `record`; or a cell of this result, or a row
                of `to_frame()` or of a pandas frame.
            column: one of its columns; None explains all suspicious cells of the row.
        """
        if isinstance(record, Cell):
            record, column = record.record, record.column
        elif (row := row_of(record)) is not None:
            column = row["column"] if of_output(row) and column is None else column
            record = name_of(row, self.reading.like, self.options.id)
            if not of_output(row):
                check_same(row, self._texts_of(self._row_of(record)), record)
        column = None if column is None else str(column)  # a frame may name its columns by numbers
        row = self._row_of(record)
        at = self.findings.row == row
        if column is not None:
            at &= self.findings.column == self._column_of(column)
        cells = AuditResult(self.findings.take(np.flatnonzero(at)), self.reading, self.options).cells()
        if cells:
            return "\n".join(cell_in_words(cell) for cell in cells)
        where = f"Row {record}" if column is None else f"Row {record}, {column}"
        report = None if column is None else self.findings.columns[self._column_of(column)]
        if report is not None and report.role == "left out":
            return f"{where}: not looked at, the column was left out ({report.why})."
        here = "no cell of it is" if column is None else "not"
        return f"{where}: {here} among the {many(len(self), 'suspicious cell')} of this result."

    def _texts_of(self, row: int) -> dict[str, str | None]:
        """What stands in a row, by column."""
        columns = self.reading.table.columns
        return {each.name: None if each.codes[row] < 0 else each.values[each.codes[row]] for each in columns}

    def _row_of(self, record: Any) -> int:
        names = self.reading.names
        if names is None:
            if isinstance(record, int | np.integer) and 0 <= record < self.rows:
                return int(record)
        else:
            place = next((place for place, name in enumerate(names.to_pylist()) if name == record), None)
            if place is not None:
                return place
        raise InputError(f"there is no row {record!r} in this table; {self._named_like()}")

    def _named_like(self) -> str:
        names = self.reading.names
        if names is None:
            return f"it has {many(self.rows, 'row')}, counted from 0"
        return f"its rows are named as in the column `record`, such as {names[0].as_py()!r}"

    def _column_of(self, column: str) -> int:
        names = [one.name for one in self.reading.table.columns]
        if column not in names:
            raise InputError(f"there is no column '{column}' in this table; {nearest(column, names, listed=COLUMNS)}")
        return names.index(column)

    def headline(self) -> str:
        """How many cells of how many rows, by kind."""
        rows = len(np.unique(self.findings.row))
        head = f"{many(len(self), 'suspicious cell')} in {rows:,} of {many(self.rows, 'row')}"
        kinds = ", ".join(counted(kind, count) for kind, count in self.kinds().items())
        return f"{head}: {kinds}" if kinds else head

    def __str__(self) -> str:
        lines = [self.headline()]
        for cell in self.cells(SHOWN):
            fix = "" if cell.proposal is None else f" → {shown(blank_or(cell.proposal))}"
            lines.append(
                f"  row {shown(cell.record)}, {shown(cell.column)}: {shown(blank_or(cell.value))}{fix} "
                f"({cell.kind}, {share(cell.error)})"
            )
        if len(self) > SHOWN:
            lines.append(f"  … and {len(self) - SHOWN:,} more; to_frame() has all of them")
        return "\n".join(lines)

    def __repr__(self) -> str:
        # One line: Python shows it for a method that somebody forgot to call, such as `result.kinds`, too.
        return f"<AuditResult: {self.headline()}>"

    def report(self, path: str | Path, *, title: str | None = None) -> None:
        """Write one self-contained HTML page in which the cells are looked at and decided.

        Its decisions are downloaded as a file for `carat apply`. Needs the extra `report`. An existing page is
        replaced.

        Args:
            path: the page; its name ends in .html.
            title: the heading; None names the table.
        """
        from carat.report import write_audit  # noqa: PLC0415 - the page is made of results, not results of the page

        write_audit(self, path, title=title)

    def _repr_html_(self) -> str:
        from carat.report import audit_html  # noqa: PLC0415 - the view is made of results, not results of the view

        return audit_html(self)


def shown(text: Any) -> str:
    """A value as it fits a line: no signs that command a terminal, and not longer than `LONGEST`.

    >>> shown("a\\x1b[31mb")
    'a�[31mb'
    """
    plain = re.sub(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", "\N{REPLACEMENT CHARACTER}", str(text))
    return plain if len(plain) <= LONGEST else f"{plain[: LONGEST - 1]}…"


def column_json(report: ColumnReport) -> dict[str, Any]:
    """A line about a column, as a plain dictionary."""
    return {**asdict(report), "foretold": finite(report.foretold)}


def finite(number: float) -> float | None:
    """A number that JSON can write, or None."""
    return float(number) if math.isfinite(number) else None
