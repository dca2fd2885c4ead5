"""An audit whose cells are judged on many machines: nearly all of its time goes there."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor

from carat import jobs
from carat.arguments import known_arguments
from carat.auditing.audit import Judge, Spread
from carat.auditing.options import AuditOptions
from carat.auditing.result import AuditResult
from carat.distributed.cluster import check_reachable, connected, load_ray
from carat.distributed.pool import Pool
from carat.observing import Observer, watching


@known_arguments
def audit(
    data: Any,
    options: AuditOptions | None = None,
    *,
    ray: str | None = None,
    workers: int | None = None,
    encoding: str | None = None,
    decisions: Any = None,
    patterns: bool = True,
    without_patterns: Sequence[str | int] = (),
    progress: bool | Observer = False,
) -> AuditResult:
    """Audit a table; this machine reads it and learns from it, and workers judge its cells.

    Args:
        data: as `carat.audit` takes it: the workers get what they need from this machine.
        options: which columns take part, and how sure it must be.
        ray: address of the cluster; see `score`.
        workers: how many, each with its own copy of the table.
        encoding: of a CSV file, such as `latin-1`.
        decisions: as `carat.audit` takes them; so are `patterns`, `without_patterns` and `progress`.
    """
    with watching(progress) as observer, judging(ray, workers=workers) as spread:
        [result] = jobs.audit(
            data,
            options,
            encoding=encoding,
            decisions=decisions,
            patterns=patterns,
            without_patterns=without_patterns,
            observer=observer,
            spread=spread,
        )
    return result


@contextmanager
def judging(ray: str | None = None, *, workers: int | None = None) -> Iterator[Spread]:
    """Judges the cells of an audit on a cluster, which is connected to when there are any; for `carat.jobs.audit`."""
    check_reachable(ray)
    with ExitStack() as stack:

        def spread(judge: Judge, parts: Sequence[Tensor]) -> Iterator[tuple[int, Tensor]]:
            return _judged(stack.enter_context(connected(ray)), workers, judge, parts)

        yield spread


def _judged(ray: Any, workers: int | None, judge: Judge, parts: Sequence[Tensor]) -> Iterator[tuple[int, Tensor]]:
    """Numbers of parts of a table, and what the judge says of each."""
    # As bytes: what Ray hands out of its store otherwise can't be written to, and torch warns of that.
    stored = ray.put(pickle.dumps(judge, protocol=pickle.HIGHEST_PROTOCOL))
    with Pool(ray, partial(_taken, stored), workers=workers) as pool:
        yield from enumerate(pool.run([Judging(rows) for rows in parts]))


def _taken(stored: Any) -> Judge:
    judge: Judge = pickle.loads(load_ray().get(stored))
    return judge


@dataclass(frozen=True)
class Judging:
    """The cells of some rows.

    Args:
        rows: their numbers.
    """

    rows: Tensor

    def run(self, held: Judge) -> Tensor:
        """Log-odds that each is wrong, [r, c]."""
        return held.odds(self.rows)

    def __str__(self) -> str:
        return f"rows {int(self.rows[0]):,} to {int(self.rows[-1]):,}"
