"""Who watches long work: a bar for every stage, and a line for every remark; on a terminal, in a log, or nowhere."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from carat.errors import InputError

if TYPE_CHECKING:
    from rich.console import Console

PATIENCE = 30
"""Seconds after which Python users are told how to see progress."""
_logger = logging.getLogger("carat")

ARGUMENTS = {
    "also": 'also=["NAME"]',
    "numeric": 'numeric={"NAME": 10}',
    "ranges": 'numeric={"NAME": 10}',
    "id": 'id="NAME"',
    "without": 'without=["NAME"]',
    "pattern": 'without_patterns=["NAME"]',
    "patterns": "patterns=False",
    "minutes": "minutes=10",
}
"""How the options that a remark names are written in Python."""


@dataclass(frozen=True)
class Remark:
    """Something a person should know that stops nothing.

    Args:
        code: what kind of remark it is, for programs; `warning` is for those that need attention.
        text: one line, in words that hold in Python and on the command line alike.
        warning: whether it may change what the results mean.
        remedies: options that would change what it says; how they are written, whoever passes the remark on knows.
    """

    code: str
    text: str
    warning: bool = False
    remedies: tuple[str, ...] = ()

    def in_full(self, written: Mapping[str, str]) -> str:
        """The text, and what can be done about it.

        Args:
            written: by option, how it is written where this is read.

        >>> Remark("left-out", "left out: Weight", remedies=("also", "numeric")).in_full(ARGUMENTS)
        'left out: Weight; use one anyway with also=["NAME"], or as ranges of numbers with numeric={"NAME": 10}'
        """
        said = [f"{REMEDIES[name]} with {written[name]}" for name in self.remedies]
        if len(said) > 1:
            said[-1] = f"or {said[-1]}"
        return "; ".join([self.text, *([", ".join(said)] if said else [])])


REMEDIES = {
    "also": "use one anyway",
    "numeric": "as ranges of numbers",
    "ranges": "cut numbers into ranges",
    "id": "name the row ID",
    "without": "leave the column out",
    "pattern": "leave it out",
    "patterns": "switch off all patterns",
    "minutes": "train longer",
}
"""What the options do."""


class Stage(Protocol):
    """One long step under way."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """So many steps are done; `note` is a short remark on the present one."""
        ...

    def more(self, steps: int) -> None:
        """There are so many steps more than was said."""
        ...

    def finish(self) -> None:
        """All is done, however many steps it took."""
        ...


class Observer(Protocol):
    """Is told of every stage of a job, and of everything worth a remark."""

    def stage(self, name: str, total: int | None) -> Stage:
        """Begin a step of `total` parts; None where nobody knows how many."""
        ...

    def remark(self, remark: Remark) -> None:
        """Pass a remark on."""
        ...


class Silent:
    """Shows nothing and says nothing."""

    def stage(self, name: str, total: int | None) -> Stage:
        """A stage that nobody sees."""
        return self

    def remark(self, remark: Remark) -> None:
        """Nothing to say."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Nothing to show."""

    def more(self, steps: int) -> None:
        """Nothing to show."""

    def finish(self) -> None:
        """Nothing to show."""


class Logged(Silent):
    """What Python users get by default: no bars; remarks go to the logger `carat`, and so does a word on long work."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._began, self._told = clock, clock(), False

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Nothing to show; but nobody should have to wonder for long whether it hangs."""
        if not self._told and self._clock() - self._began > PATIENCE:
            self._told = True
            _logger.warning("this takes longer than %d seconds; progress=True shows how far it is", PATIENCE)

    def remark(self, remark: Remark) -> None:
        """Warnings as warnings, the rest as information."""
        _logger.log(logging.WARNING if remark.warning else logging.INFO, remark.in_full(ARGUMENTS))


class Bars(Logged):
    """Bars on a terminal or in a notebook, with an estimate of the time left; to be used in a `with` block."""

    def __init__(self, console: Console | None = None) -> None:
        super().__init__()
        from rich.console import Console  # noqa: PLC0415 - keeps `import carat` quick
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

        self.bars = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}", markup=False),
            console=console or Console(stderr=True),
            # Else rich would send standard output to its own console, which is standard error, and our data with it.
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def stage(self, name: str, total: int | None) -> Stage:
        """A new bar below the others."""
        task = self.bars.add_task(name, total=total, note="")
        bars = self.bars

        class Bar:
            def advance(self, steps: int = 1, note: str = "") -> None:
                bars.update(task, advance=steps, note=note)

            def more(self, steps: int) -> None:
                bars.update(task, total=(bars.tasks[task].total or 0) + steps)

            def finish(self) -> None:
                # A bar without steps must end full as well, so it counts at least one.
                done = max(bars.tasks[task].completed, 1)
                bars.update(task, total=done, completed=done)

        return Bar()


@contextmanager
def watching(progress: bool | Observer | None) -> Iterator[Observer]:
    """What the argument `progress` of the Python calls means: bars, none, or an observer of the user's own."""
    if not isinstance(progress, bool | None) and not (hasattr(progress, "stage") and hasattr(progress, "remark")):
        raise InputError(f"`progress` must be True, False or an observer, got {progress!r}")
    if progress is True:
        observer = Bars()
        with observer.bars:
            yield observer
    else:
        yield Logged() if progress is None or progress is False else progress


def is_terminal() -> bool:
    """Whether anybody sees what is written to standard error."""
    return sys.stderr is not None and sys.stderr.isatty()
