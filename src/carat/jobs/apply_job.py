"""Apply a list of cells to a table, or take changes back: a new file, and a log of what was changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from carat._version import __version__
from carat.auditing.applying.changes import Changes, bytes_of, changes_of, read_changes, write_changes
from carat.auditing.applying.choosing import Rules
from carat.auditing.applying.content import Splice, packed
from carat.auditing.applying.given import cell_list, check_same_table
from carat.auditing.applying.patching import Patched, check_pair, format_of, patch
from carat.auditing.applying.planning import Plan, naming_the_cell, plan
from carat.auditing.applying.reverting import revert as take_back
from carat.errors import InputError
from carat.files import check_place, replacing
from carat.jobs.audit_job import HeedingStage
from carat.jobs.job import Cancel
from carat.observing import Observer, Remark, Silent, Stage


@dataclass
class ApplySummary:
    """What was changed.

    Args:
        out: the new table.
        changes: how many cells were changed.
        kinds: by kind, how many they are; `other` for cells that no audit listed.
        columns: by column, how many they are.
        by: how many you decided (`you`), and how many were certain enough (`carat`).
        left: how many cells of the list were left as they are, by reason.
        log: the file that lists the changes; None where changes were taken back.
    """

    out: str = ""
    changes: int = 0
    kinds: dict[str, int] = field(default_factory=dict)
    columns: dict[str, int] = field(default_factory=dict)
    by: dict[str, int] = field(default_factory=dict)
    left: dict[str, int] = field(default_factory=dict)
    log: str | None = None

    def facts(self) -> dict[str, Any]:
        """The numbers, for programs."""
        return dict(vars(self))


class ApplyJob:
    """One list of cells applied to one file.

    The new file and the log of its changes are each there whole or not at all, and the log first: a new file
    always has its log beside it.

    Args:
        cells: the path of a list, a frame with its columns, or the result of an audit.
        table: the file that the list is about; it is never changed.
        out: the new file, in the same format.
        rules: how sure a proposal must be.
        id: column that names the rows; None is the one that the audit had, or the row number.
        encoding: of a CSV file; None is the one that the audit had, or UTF-8.
        force: whether existing files are replaced.
        observer: is told of progress.
        cancel: stops the job between two pieces of the file.
    """

    name = "apply"
    """As the command line calls it."""

    def __init__(
        self,
        cells: Any,
        table: str | Path,
        out: str | Path,
        *,
        rules: Rules | None = None,
        id: str | None = None,
        encoding: str | None = None,
        force: bool = False,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.table, self.out, self.force = _file(table), Path(out), force
        self.rules, self.id, self.encoding = rules or Rules(), id, encoding
        self.observer = _Heeding(observer or Silent(), cancel or Cancel())
        check_new(self.table, self.out, force=force)
        check_place(changes_of(self.out), force=force)
        if isinstance(cells, str | Path) and self.out.exists() and Path(cells).exists():
            _check_other(self.out, Path(cells))
        self.cells = cell_list(cells)
        self.summary = ApplySummary()

    def run(self) -> ApplySummary:
        """Write the new file and the log of its changes."""
        encoding = self.encoding or (self.cells.about.get("options") or {}).get("encoding")
        check_same_table(self.cells, self.table, encoding)
        made = plan(self.cells, self.table, self.rules, id=self.id, encoding=encoding, observer=self.observer)
        self._summarise(made)
        log = changes_of(self.out)
        with naming_the_cell(made, self.cells), replacing(self.out) as target:
            done = patch(
                self.table,
                target,
                made.edits,
                made.names,
                pack=packed(self.out),
                encoding=encoding,
                observer=self.observer,
            )
            with replacing(log) as beside:
                write_changes(beside, self._about(done, encoding), _lines(made, done))
        return self.summary

    def _summarise(self, made: Plan) -> None:
        done, choices = self.summary, made.choices
        done.out, done.log, done.changes = str(self.out), str(changes_of(self.out)), len(choices)
        done.kinds = dict(Counter(choice.cell.kind or "other" for choice in choices).most_common())
        done.columns = dict(Counter(choice.cell.column for choice in choices).most_common())
        done.by = {who: sum(choice.by == who for choice in choices) for who in ("you", "carat")}
        done.left = {reason: count for reason, count in made.left.most_common() if count}

    def _about(self, done: Patched, encoding: str | None) -> dict[str, Any]:
        """The first line of the log."""
        return {
            "carat": __version__,
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "table": self.table.name,
            "file": self.out.name,
            "list": Path(self.cells.label).name,
            "format": format_of(self.table),
            "text": done.splices is not None,
            "encoding": encoding,
            "before": done.checksums[0],
            "after": done.checksums[1],
            "certain": None if self.rules.decided_only else self.rules.certain,
            "changes": self.summary.changes,
            "kinds": self.summary.kinds,
            "by": self.summary.by,
            "left": self.summary.left,
        }


class RevertJob:
    """Changes of one file taken back.

    Args:
        changes: the log, FILE.changes.jsonl.
        table: the changed file; it is not changed.
        out: the new file, as the table was before.
        force: whether an existing file is replaced.
        observer: is told of progress.
        cancel: stops the job between two pieces of the file.
    """

    name = "revert"

    def __init__(
        self,
        changes: str | Path,
        table: str | Path,
        out: str | Path,
        *,
        force: bool = False,
        observer: Observer | None = None,
        cancel: Cancel | None = None,
    ) -> None:
        self.table, self.out = _file(table), Path(out)
        self.observer = _Heeding(observer or Silent(), cancel or Cancel())
        check_new(self.table, self.out, force=force)
        if self.out.exists() and Path(changes).exists():
            _check_other(self.out, Path(changes))
        self.changes: Changes = read_changes(Path(changes))

    def run(self) -> ApplySummary:
        """Write the table as it was."""
        with replacing(self.out) as target:
            take_back(self.table, target, self.changes, pack=packed(self.out), observer=self.observer)
        return ApplySummary(out=str(self.out), changes=len(self.changes.edits))


def _lines(made: Plan, done: Patched) -> Iterator[dict[str, Any]]:
    """One line of the log per change."""
    splices: Sequence[Splice | None] = [None] * len(made.edits) if done.splices is None else done.splices
    pairs = zip(done.before, done.after, strict=True)
    for edit, choice, (before, after), splice in zip(made.edits, made.choices, pairs, splices, strict=True):
        cell = choice.cell
        yield {
            "record": cell.record,
            "row": edit.row,
            "column": cell.column,
            "place": edit.column,
            "before": before,
            "after": after,
            "kind": cell.kind or None,
            "error": cell.error,
            "confidence": cell.confidence,
            "reason": cell.reason or None,
            "by": choice.by,
            **({} if splice is None else bytes_of(splice)),
        }


def _file(table: str | Path) -> Path:
    path = Path(table)
    if str(table) == "-":
        raise InputError("changes are made in a copy of a file; name the file instead of -")
    if format_of(path) != "xlsx" and not path.is_file():
        raise InputError(f"{path}: no such file")
    return path


def check_new(table: Path, out: Path, *, force: bool) -> None:
    """Refuse, before any work, a new file that could not take the corrected table.

    What only another name can mend is said first: neither `force` nor a package would help there.
    """
    kind = format_of(table)
    if kind != format_of(out):
        raise InputError(
            f"{out}: the corrected table keeps the format of the original; choose a name that ends in .{kind}"
        )
    check_pair(table, out, force=True)
    check_place(out, force=force)


def _check_other(out: Path, given: Path) -> None:
    if out.samefile(given):
        raise InputError(f"{out}: is the list itself; choose another name for the new table")


class _Heeding:
    """Passes all on to an observer, and stops where somebody asked to."""

    def __init__(self, observer: Observer, cancel: Cancel) -> None:
        self._observer, self._cancel = observer, cancel

    def stage(self, name: str, total: int | None) -> Stage:
        self._cancel.check()
        return HeedingStage(self._observer.stage(name, total), self._cancel)

    def remark(self, remark: Remark) -> None:
        self._observer.remark(remark)
