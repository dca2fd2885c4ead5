"""The terminal as an observer of jobs, and what the options about output mean on it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from carat.auditing.audit import Spread
from carat.cli.app import CONSOLE, say
from carat.data.writers import check_output
from carat.devices import pick_device
from carat.errors import InputError
from carat.files import check_place, sidecar_of
from carat.fitting import Model, load
from carat.jobs import Job, Sidecar, Sink, TableSink
from carat.observing import Bars, Observer, Remark, Silent, is_terminal
from carat.results import Threshold
from carat.results.gate import check_gate

HINTS = {
    "domains": "; leave one out with --without NAME",
    "learned-from": " (carat recourse --top N)",
    "crowded": ", with --without NAME",
    "aged": " (carat update, or carat fit)",
    "skipped": "; add them too with --all",
    "audited": "; leave one out with --without NAME",
}
"""What the command line can do about a remark."""
WORKERS = "--workers is for --ray; add that, or leave out --workers"
OPTIONS = {
    "also": "--also NAME",
    "numeric": "--numeric NAME=10",
    "ranges": "--numeric NAME=10",
    "id": "--id NAME",
    "without": "--without NAME",
    "pattern": "--without-pattern NAME",
    "patterns": "--no-patterns",
    "minutes": "--minutes 10",
}
"""How the options that a remark names are written here."""


class _Speaking:
    """Remarks as lines on standard error."""

    def remark(self, remark: Remark) -> None:
        say(remark.in_full(OPTIONS) + HINTS.get(remark.code, ""))


class _Plain(_Speaking, Silent):
    """Lines, but no bars: standard error is no terminal."""


class _Barred(_Speaking, Bars):
    """Lines above bars."""


@contextmanager
def terminal(*, quiet: bool = False) -> Iterator[Observer]:
    """An observer that draws bars where somebody sees them, and says its remarks unless it is to be quiet."""
    if quiet:
        yield Silent()
    elif not is_terminal():
        yield _Plain()
    else:
        observer = _Barred(CONSOLE)
        with observer.bars:
            yield observer


@dataclass(frozen=True)
class Output:
    """Where the rows go, and what a terminal shows.

    Args:
        file: a path, `-` for JSON lines on standard output, None for nowhere.
        shown: how many rows standard output shows, where it is a terminal.
        force: whether an existing file is replaced.
        quiet: whether nothing but errors is said.
    """

    file: str | None
    shown: int
    force: bool
    quiet: bool

    @classmethod
    def of(
        cls, out: str | None, *, as_json: bool, show: int, force: bool, quiet: bool, reported: bool = False
    ) -> Output:
        """What the options of a command mean, on this standard output; refuses what could not be written at its end."""
        seen = sys.stdout is not None and sys.stdout.isatty() and not as_json
        file = out if out is not None or seen else "-"
        if file is None and (quiet or not show) and not reported:
            raise InputError("there is nothing to show or write; add --out FILE")
        if file is not None and file != "-":
            check_output(Path(file), force=force)
            check_place(sidecar_of(file), force=force)
        return cls(file, show if seen and file != "-" and not quiet else 0, force, quiet)

    def sinks(self, make: Callable[[Any], pa.Table], options: Mapping[str, Any] | None = None) -> list[Sink[Any]]:
        """The table, and beside a file the word on what made it."""
        if self.file is None:
            return []
        table: Sink[Any] = TableSink(self.file, make, force=self.force)
        # Sinks are left in reverse order: the word on a file is written when the file is there.
        return [table] if self.speaks_json else [Sidecar(self.file, options, force=self.force), table]

    @property
    def named(self) -> str:
        """How the last line begins."""
        return f"{self.file}: " if self.file is not None and self.file != "-" else ""

    def hint(self, records: int) -> str:
        """How the last line ends where the rows went nowhere else: how to have all of them."""
        if self.file is not None or not self.shown:
            return ""
        few = f"{self.shown:,} shown, " if records > self.shown else ""
        more = "--show N shows more, " if few else ""
        return f"; {few}{more}--out FILE saves all"

    @property
    def speaks_json(self) -> bool:
        """Whether the rows themselves go to standard output, so that nothing else may."""
        return self.file == "-"


def run_job(job: Job[Any], data: str, *sinks: Sink[Any], ray: str | None, workers: int | None) -> None:
    """Run a job here, or on the machines of a cluster."""
    if ray is None:
        job.into(*sinks)
        return
    from carat import distributed

    distributed.spread(job, data, *sinks, ray=ray, workers=workers)


@contextmanager
def judges(ray: str | None, workers: int | None) -> Iterator[Spread | None]:
    """What judges the cells of an audit on the machines of a cluster; None to judge them here."""
    if ray is None:
        if workers is not None:
            raise InputError(WORKERS)
        yield None
        return
    from carat import distributed

    with distributed.judging(ray, workers=workers) as spread:
        yield spread


def check_ray(data: str, out: str | None, ray: str | None, workers: int | None) -> None:
    """Refuse, before any work, what many machines can't do."""
    if ray is not None:
        from carat import distributed

        distributed.check(data, out, ray)
    elif workers is not None:
        raise InputError(WORKERS)


def open_model(
    path: Path,
    device: str,
    *,
    threshold: float | None = None,
    threshold_score: float | None = None,
    gate: str = "both",
) -> Model:
    """The model, on its device, with its gate, and another threshold where one is given: a quantile or a score."""
    check_gate(gate)
    if threshold is not None and threshold_score is not None:
        raise InputError("use --threshold or --threshold-score, not both")
    if path.is_file():
        raise InputError(f"{path}: this is a file, not a model folder; name the model first, then the data")
    model = load(path).to(pick_device(device)).with_gate(gate)
    if threshold is None and threshold_score is None:
        return model
    return model.with_threshold(
        Threshold(quantile=threshold) if threshold_score is None else Threshold(value=threshold_score)
    )
