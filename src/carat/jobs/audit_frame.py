"""`carat.audit`: an audit whose whole outcome is kept in memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from carat.arguments import known_arguments
from carat.auditing.options import AuditOptions
from carat.auditing.result import AuditResult
from carat.jobs.audit_job import AuditJob
from carat.observing import Observer, watching


@known_arguments
def audit(
    data: Any,
    *,
    columns: Sequence[str] | None = None,
    also: Sequence[str] = (),
    without: Sequence[str] = (),
    id: str | None = None,
    profile: str = "instant",
    minutes: float | None = None,
    steps: int | None = None,
    cut: float = 0.5,
    top: int | None = None,
    seed: int = 0,
    encoding: str | None = None,
    progress: bool | Observer = False,
    checkpoints: str | Path | None = None,
    decisions: Any = None,
    patterns: bool = True,
    without_patterns: Sequence[str | int] = (),
) -> AuditResult:
    """Find the cells of a table that are probably wrong, and what should be there.

    An audit needs no clean history, no labels and no model: it learns from the table itself. Every column takes part
    unless it is constant, has a different value in every row, or is left out by name.

    Args:
        data: a frame (pandas, polars, pyarrow), a dictionary of columns, a path, or the name of a dataset.
        columns: look at exactly these columns.
        also: look at these columns besides, whatever their values look like.
        without: leave these columns out.
        id: column that identifies a row. By default, that is the row number or the index label of a pandas frame.
        profile: `instant`, or `fast`, which also trains small networks over the rows and takes a few minutes.
        minutes: with `fast`, train for at most this many minutes, all networks together; 4 by default.
        steps: with `fast`, train exactly this many steps in all. To repeat an audit, pass the number it reported.
        cut: cells whose probability of being wrong is at least this are listed.
        top: only so many of the most suspicious cells. Cells that are fixed together stay together, so there may be a
            few more.
        seed: every random choice follows from it. The same seed gives the same result.
        encoding: of a CSV file, such as `latin-1`; UTF-8 by default.
        progress: True shows progress bars. An observer is told of stages and remarks. By default, remarks go to the
            logger `carat`.
        checkpoints: a folder for progress. If the audit is interrupted, the same call continues from there.
        decisions: cells that somebody decided about, to learn from: a file of `carat audit` or a frame like that of
            `to_frame()`, with the column `decision` filled in. It may be of an earlier table.
        patterns: whether a change that was decided for several cells of a column is proposed for all cells like them.
        without_patterns: patterns that are not proposed, by the name or the number that `result.patterns` and the
            remarks give them.
    """
    options = AuditOptions(
        columns=columns,
        also=also,
        without=without,
        id=id,
        profile=profile,
        minutes=minutes,
        steps=steps,
        cut=cut,
        top=top,
        seed=seed,
    )
    with watching(progress) as observer:
        job = AuditJob(
            data,
            options,
            encoding=encoding,
            observer=observer,
            checkpoints=checkpoints,
            decisions=decisions,
            patterns=patterns,
            without_patterns=without_patterns,
        )
        (result,) = job
    return result
