"""Audit a table: read it, find its suspicious cells, and hand them on."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from carat._version import __version__
from carat.arguments import check_flag, check_path
from carat.auditing import audit as finding
from carat.auditing.applying.content import checksum
from carat.auditing.applying.given import cell_list
from carat.auditing.blanks import guess, is_foretold
from carat.auditing.findings import ColumnReport, Findings
from carat.auditing.options import AuditOptions
from carat.auditing.programs import check_without, chosen
from carat.auditing.reading import Reading, read_table
from carat.auditing.result import AuditOrigin, AuditResult, column_json, finite
from carat.auditing.roles import BY_NAME, CHOSEN, MOSTLY, UNIQUE, roles
from carat.auditing.table import AuditTable
from carat.auditing.teaching import Taught, taught
from carat.errors import InputError
from carat.files import write_text
from carat.jobs.job import Cancel, Sink, Summary, pour
from carat.observing import Observer, Remark, Silent, Stage
from carat.training import Run

LISTED = 12
"""Columns that a remark names; a table may have hundreds."""
FEW = 200
"""Rows below which other rows can hardly vouch for anything."""
CLAIM = "audit.json"
"""The file that says which audit a folder of checkpoints belongs to."""


@dataclass
class AuditSummary(Summary):
    """What an audit did.

    Args:
        cells: suspicious cells that came out.
        kinds: by kind, how many they are.
        rate: the estimated share of wrong cells among those looked at; None where there is no estimate.
        columns: what became of every column.
    """

    origin: AuditOrigin | None = None  # type: ignore[assignment] # there is no model to name
    cells: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    rate: float | None = None
    columns: list[dict[str, Any]] = field(default_factory=list)


class AuditJob:
    """One audit of a table; its one batch is the `AuditResult`. It can be iterated once.

    Args:
        data: a frame, a path, `-` for standard input, or the name of a dataset.
        options: which columns take part, how sure it must be, and how thorough.
        encoding: of a CSV file; None is UTF-8.
        observer: is told of progress and remarks.
        cancel: stops the audit between two steps of a stage.
        checkpoints: a folder for progress; an audit of the same table with the same options continues there.
        decisions: a list of cells with decisions, of this table or of an earlier one: a file, a frame or a result.
        patterns: whether rewrites that the decisions ask for are made in other cells, too.
        without_patterns: names or numbers of those that are not.
        spread: judges cells elsewhere; None judges them here.
    """

    name = "audit"
    """As the command line calls it."""

    def __init__(
        self,
        data: Any,
        options: AuditOptions | None = None,
        *,
        encoding: str | None = None,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
        checkpoints: str | Path | None = None,
        decisions: Any = None,
        patterns: bool = True,
        without_patterns: Sequence[str | int] = (),
        spread: finding.Spread | None = None,
    ) -> None:
        self.decisions = None if decisions is None else cell_list(decisions)
        self.patterns, self.without_patterns = check_flag("patterns", patterns), check_without(without_patterns)
        if self.without_patterns and (decisions is None or not patterns):
            missing = "`decisions`" if decisions is None else "`patterns`"
            raise InputError(f"`without_patterns` leaves out what {missing} would teach; give that, too, or remove it")
        self.spread = spread
        self.data, self.options, self.encoding = data, options or AuditOptions(), encoding
        self.observer, self.cancel = observer or Silent(), cancel or Cancel()
        self.checkpoints = None if checkpoints is None else check_path("checkpoints", checkpoints)
        self.summary = AuditSummary()
        self.on_reading: list[Callable[[Reading], object]] = []
        """Called with the table when it is read, before the audit: who can't use it says so by an error."""
        self._begun = False

    def __iter__(self) -> Iterator[AuditResult]:
        """The result, when it is complete."""
        if self._begun:
            raise InputError("a job runs once; make another one for another run")
        self._begun = True
        heeding = _Heeding(self)
        self.cancel.check()
        reading = read_table(self.data, self.options, encoding=self.encoding, observer=heeding)
        self.summary.read = reading.table.rows
        if reading.table.rows < 2:
            raise InputError(f"{reading.label}: one row; an audit needs at least two")
        for told in self.on_reading:
            told(reading)
        self._remark_about(reading)
        self._remark_columns(reading)
        lesson = None if self.decisions is None else taught(self.decisions, reading)
        if self.checkpoints is not None:
            claim(self.checkpoints, reading, self.options, lesson)
        self.cancel.check()
        run = Run(seed=self.options.seed, observer=heeding, checkpoints=self.checkpoints)
        rewrites = lesson.patterns(reading) if lesson is not None and self.patterns else []
        rewrites = chosen(rewrites, [column.name for column in reading.table.columns], self.without_patterns)
        found = finding.audit_table(reading.table, self.options, run, lesson, rewrites, self.spread)
        self._remark_taught(found, lesson, reading.label)
        self.cancel.check()
        self._remark_unforetold(found, reading)
        self._remark_contested(found)
        yield self._conclude(found, reading)
        self.cancel.check()

    def into(self, *sinks: Sink[AuditResult]) -> AuditSummary:
        """Run to the end, the result into every sink; where something goes wrong, no sink keeps half of it."""
        pour(self, sinks)
        return self.summary

    def empty(self) -> AuditResult:
        """A result without cells, for its columns."""
        none = np.empty(0, dtype=np.int64)
        found = Findings(none, none, [], np.empty(0), [], np.empty(0), [], [], none, ())
        return AuditResult(found, Reading(AuditTable((), 0), "the table", ""), self.options)

    def remark(self, code: str, text: str, *, warning: bool = False, remedies: tuple[str, ...] = ()) -> None:
        """For the observer, and for the summary."""
        self.pass_on(Remark(code, text, warning, remedies))

    def pass_on(self, remark: Remark) -> None:
        """For the observer, and for the summary."""
        self.summary.remarks.append(remark)
        self.observer.remark(remark)

    def _conclude(self, found: Findings, reading: Reading) -> AuditResult:
        if self.options.top is not None:
            found = found.top(self.options.top)
        origin = AuditOrigin(
            __version__,
            self.options.facts(),
            reading.label,
            reading.fingerprint,
            reading.table.rows,
            datetime.now(UTC).isoformat(timespec="seconds"),
            checksum(Path(self.data)) if isinstance(self.data, str | Path) and Path(self.data).is_file() else None,
        )
        result = AuditResult(found, reading, self.options, origin)
        done = self.summary
        done.records = len(np.unique(found.row))
        done.cells, done.kinds, done.rate = len(found), result.kinds(), finite(found.rate)
        done.columns, done.origin = [column_json(report) for report in result.columns], origin
        return replace(result, remarks=tuple(done.remarks))

    def _remark_about(self, reading: Reading) -> None:
        """What whoever reads the results should know of the table as a whole."""
        if reading.ambiguous is not None and self.options.id is None:
            self.remark(
                "index",
                f"the index of the frame {reading.ambiguous}, so `record` is the position of a row, counted from 0: "
                "call reset_index() first, or name a column that identifies the rows with `id`",
                warning=True,
            )
        if reading.table.rows < FEW:
            rows = f"{reading.table.rows:,} row{' is' if reading.table.rows == 1 else 's are'}"
            self.remark(
                "few-rows",
                f"{rows} too few to learn much; treat the list as a hint, and look at each cell before you change it",
                warning=True,
            )

    def _remark_columns(self, reading: Reading) -> None:
        """What is taken and what is left out, in one line each, before the work begins; something must be taken."""
        given = zip(reading.table.columns, roles(reading.table, self.options), strict=True)
        reports = [
            *(ColumnReport(column.name, role, why) for column, (role, why) in given),
            *(ColumnReport(name, "left out", why) for name, why in reading.unread),
        ]
        by_role = {role: [each for each in reports if each.role == role] for role in ("voted", "text", "left out")}
        if not by_role["voted"] and not by_role["text"]:
            by_hand = any(each.why == BY_NAME for each in by_role["left out"])
            way = "leave fewer columns out with `without`" if by_hand else "name a column with `also`"
            raise InputError(f"{reading.label}: there is nothing to check: {_with_reasons(by_role['left out'])}; {way}")
        if by_role["voted"]:
            self.remark("audited", f"columns: {_listed([each.name for each in by_role['voted']])}")
        else:
            text = "no column has values that repeat, so similar rows can't vote on any"
            self.remark("nothing-voted", text, warning=True)
        if by_role["text"]:
            self.remark("text-alone", f"only the text is checked in: {_with_reasons(by_role['text'])}")
        if by_role["left out"]:
            remedies = self._remedies(by_role["left out"])
            self.remark("left-out", f"left out: {_with_reasons(by_role['left out'])}", remedies=remedies)

    def _remark_unforetold(self, found: Findings, reading: Reading) -> None:
        """Which columns nothing predicts."""
        unforetold = [each.name for each in _unforetold(found, reading.table)]
        if unforetold:
            text = f"nothing predicts {_listed(unforetold)}: a wrong value there is found only if its text is unusual"
            self.remark("unforetold", text)

    def _remark_contested(self, found: Findings) -> None:
        """Which columns hold what may be a choice."""
        for name, cells in found.contested:
            filled = self.summary.read - next(each.blank for each in found.columns if each.name == name)
            text = (
                f"{name}: {cells:,} cells ({cells / max(filled, 1):.0%}) hold a common value that differs from the one "
                "in similar rows. That may be a choice rather than an error, so carat is certain about none of them"
            )
            self.remark("contested", text, remedies=("without",))

    def _remark_taught(self, found: Findings, lesson: Taught | None, label: str) -> None:
        """What the decisions did."""
        if lesson is None:
            return
        if all(cell.decision is None for cell in self.decisions or ()):
            self.remark("decisions", "the list holds no decisions, so nothing was learned from it", warning=True)
        elif len(lesson):
            self.remark("decisions", f"learned from {len(lesson):,} decided cell{'' if len(lesson) == 1 else 's'}")
        else:
            text = (
                f"no decided cell is in {label} with the value that it had: what carries over is which values you said "
                "are right, and changes that you made at least twice"
            )
            self.remark("decisions", text, remedies=("id",) if self.options.id is None else ())
        for each in found.patterns:
            text = f"{each.name} ({each.decided:,} decided, {each.cells:,} cells in all)"
            self.remark(
                "pattern", f"pattern {each.number} from your decisions: {text}", remedies=("pattern", "patterns")
            )

    def _remedies(self, left_out: Sequence[ColumnReport]) -> tuple[str, ...]:
        """The options that take in what was left out unasked, or let it name the rows."""
        unasked = [each.why for each in left_out if each.why not in CHOSEN]
        return (
            *(("also",) if unasked else ()),
            *(("id",) if UNIQUE in unasked and self.options.id is None else ()),
        )


def audit(
    data: Any,
    options: AuditOptions | None = None,
    *,
    encoding: str | None = None,
    observer: Observer | None = None,
    cancel: Cancel | None = None,
    checkpoints: str | Path | None = None,
    decisions: Any = None,
    patterns: bool = True,
    without_patterns: Sequence[str | int] = (),
    spread: finding.Spread | None = None,
) -> AuditJob:
    """A job that audits a table; see `AuditJob` for the arguments."""
    return AuditJob(
        data,
        options,
        encoding=encoding,
        observer=observer,
        cancel=cancel,
        checkpoints=checkpoints,
        decisions=decisions,
        patterns=patterns,
        without_patterns=without_patterns,
        spread=spread,
    )


def claim(checkpoints: Path, reading: Reading, options: AuditOptions, lesson: Taught | None = None) -> None:
    """Mark a folder of checkpoints as this audit's, or refuse the folder of another one."""
    decides = {name: value for name, value in options.facts().items() if name != "top"}
    mine = {"carat": __version__, "data": reading.fingerprint, "options": decides}
    if typed := [column.name for column in reading.table.columns if column.typed]:
        mine["typed"] = typed  # the same text in a csv file is judged by its form, too
    if lesson is not None:
        mine["decisions"] = lesson.fingerprint()
    file = checkpoints / CLAIM
    if file.exists():
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
        except ValueError as error:
            raise InputError(f"{file}: is damaged; remove {checkpoints} and start over") from error
        if found != json.loads(json.dumps(mine)):
            raise InputError(
                f"{checkpoints}: belongs to an audit with other data or settings; use those, or remove it and start "
                "over"
            )
        return
    checkpoints.mkdir(parents=True, exist_ok=True)
    write_text(file, json.dumps(mine))


class _Heeding:
    """Passes all on to the observer of a job, and stops where somebody asked to."""

    def __init__(self, job: AuditJob) -> None:
        self._job = job

    def stage(self, name: str, total: int | None) -> Stage:
        self._job.cancel.check()
        return HeedingStage(self._job.observer.stage(name, total), self._job.cancel)

    def remark(self, remark: Remark) -> None:
        self._job.pass_on(remark)


class HeedingStage:
    """Passes all on to a stage, and stops where somebody asked to."""

    def __init__(self, stage: Stage, cancel: Cancel) -> None:
        self._stage, self._cancel = stage, cancel

    def advance(self, steps: int = 1, note: str = "") -> None:
        self._cancel.check()
        self._stage.advance(steps, note)

    def more(self, steps: int) -> None:
        self._stage.more(steps)

    def finish(self) -> None:
        self._stage.finish()


def _unforetold(found: Findings, table: AuditTable) -> Iterator[ColumnReport]:
    """Columns whose values the votes name hardly more often than a guess, and in which no vote found anything."""
    differ = Counter(place for place, kind in zip(found.column.tolist(), found.kind, strict=True) if kind == "mismatch")
    for place, (report, column) in enumerate(zip(found.columns, table.columns, strict=True)):
        # Of a column that is nearly of one value, there is nothing to predict.
        if report.role != "voted" or differ[place] or guess(column) > MOSTLY:
            continue
        if np.isfinite(report.foretold) and not is_foretold(column, report.foretold):
            yield report


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _with_reasons(reports: Sequence[ColumnReport]) -> str:
    return _listed([f"{report.name} ({report.why})" for report in reports])
