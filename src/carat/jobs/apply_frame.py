"""`carat.apply` and `carat.revert`: decisions become a clean table, in memory or in a file, and can be taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from carat.arguments import check_flag, known_arguments
from carat.auditing.applying.choosing import CERTAIN, Rules
from carat.auditing.applying.frames import apply_to_frame
from carat.auditing.applying.given import cell_list, check_order
from carat.errors import InputError
from carat.jobs.apply_job import ApplyJob, ApplySummary, RevertJob
from carat.observing import Observer, watching


@known_arguments
def apply(
    cells: Any,
    table: Any,
    *,
    out: str | Path | None = None,
    certain: float = CERTAIN,
    decided_only: bool = False,
    id: str | None = None,
    encoding: str | None = None,
    force: bool = False,
    progress: bool | Observer = False,
) -> Any:
    """Change the cells of a table as a list says, and nothing else.

    A list is what an audit gives: its result, the frame of `to_frame()`, or the file of `carat audit --out`, with your
    decisions in the column `decision`: `accept`, `reject`, `wrong`, or `=text` for another value. Cells of one group
    are changed together or not at all. A list that does not fit the table is refused.

    Args:
        cells: the list.
        table: a frame (pandas, polars, pyarrow), a dictionary of columns, or a path; it is never changed.
        out: write the changed table to this file, in the format of `table`, which must be a path then. Every other
            byte of a text file stays as it was; `OUT.changes.jsonl` lists the changes.
        certain: undecided cells are changed where the confidence is at least this.
        decided_only: leave all undecided cells as they are.
        id: column that identifies a row. By default, the one that the audit had, the index label of a pandas frame, or
            the row number.
        encoding: of a CSV file, such as `latin-1`. By default, the one that the audit had, or UTF-8.
        force: replace existing files.
        progress: True shows progress bars. An observer is told of stages.

    Returns:
        With `out` an `ApplySummary`. Without it the changed table, in the library of `table`, with its index and types;
        that of a path or a dictionary is an Arrow table.
    """
    check_order(cells, table)
    rules = Rules(certain, decided_only)
    check_flag("force", force)
    with watching(progress) as observer:
        if out is None:
            return apply_to_frame(cell_list(cells), table, rules, id=id, encoding=encoding, observer=observer)[0]
        _check_path(table, "table")
        job = ApplyJob(cells, table, out, rules=rules, id=id, encoding=encoding, force=force, observer=observer)
        return job.run()


@known_arguments
def revert(
    changes: str | Path, table: str | Path, out: str | Path, *, force: bool = False, progress: bool | Observer = False
) -> ApplySummary:
    """Take the changes of `apply` back: text files byte for byte, other formats value by value.

    Args:
        changes: the log of the changes, `OUT.changes.jsonl`.
        table: the changed file, as `apply` wrote it. If it has been edited since, it is refused.
        out: the new file, as the table was before the changes.
        force: replace an existing file.
        progress: True shows progress bars. An observer is told of stages.
    """
    _check_path(table, "table")
    with watching(progress) as observer:
        return RevertJob(changes, table, out, force=force, observer=observer).run()


def _check_path(table: Any, name: str) -> None:
    if not isinstance(table, str | Path):
        raise InputError(f"`out` is for tables in files; `{name}` is a {type(table).__name__}; leave out `out`")
