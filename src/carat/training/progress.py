"""Progress of long work: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Stage(Protocol):
    """One long step under way."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """So many steps are done; `note` is a short remark such as the present loss."""
        ...


class Progress(Protocol):
    """Shows stages one after the other."""

    def stage(self, name: str, total: int) -> Stage:
        """Begin a step of `total` parts."""
        ...


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int) -> Stage:
        """A stage that nobody sees."""
        return self

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Nothing to show."""


class RichProgress:
    """Bars on a terminal, with an estimate of the time left."""

    def __init__(self) -> None:
        from rich.console import Console  # noqa: PLC0415 - keeps `import carat` quick
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn  # noqa: PLC0415

        self.bars = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
            console=Console(stderr=True),
        )

    def stage(self, name: str, total: int) -> Stage:
        """A new bar below the others."""
        task = self.bars.add_task(name, total=total, note="")
        bars = self.bars

        class Bar:
            def advance(self, steps: int = 1, note: str = "") -> None:
                bars.update(task, advance=steps, note=note)

        return Bar()


@contextmanager
def terminal_progress(*, quiet: bool = False) -> Iterator[Progress]:
    """Bars on standard error while the block runs, if that is a terminal and nobody asked for silence."""
    if quiet or not sys.stderr.isatty():
        yield Silent()
        return
    progress = RichProgress()
    with progress.bars:
        yield progress
