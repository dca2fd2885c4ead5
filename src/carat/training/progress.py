"""Progress of long work: a bar on a terminal, nothing elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa
    from rich.console import Console

    from carat.data.readers import Source


class Stage(Protocol):
    """One long step under way."""

    def advance(self, steps: int = 1, note: str = "") -> None:
        """So many steps are done; `note` is a short remark such as the present loss."""
        ...

    def more(self, steps: int) -> None:
        """There are so many steps more than was said."""
        ...

    def finish(self) -> None:
        """All is done, however many steps it took."""
        ...


class Progress(Protocol):
    """Shows stages one after the other."""

    def stage(self, name: str, total: int | None) -> Stage:
        """Begin a step of `total` parts; None where nobody knows how many."""
        ...


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int | None) -> Stage:
        """A stage that nobody sees."""
        return self

    def advance(self, steps: int = 1, note: str = "") -> None:
        """Nothing to show."""

    def more(self, steps: int) -> None:
        """Nothing to show."""

    def finish(self) -> None:
        """Nothing to show."""


class RichProgress:
    """Bars on a terminal, with an estimate of the time left."""

    def __init__(self, console: Console | None = None) -> None:
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
def terminal_progress(*, quiet: bool = False, console: Console | None = None) -> Iterator[Progress]:
    """Bars on standard error while the block runs, if that is a terminal and nobody asked for silence.

    What else is printed meanwhile should go to the same `console`, so that it stands above the bars.
    """
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield Silent()
        return
    progress = RichProgress(console)
    with progress.bars:
        yield progress


class Watched:
    """A source whose every pass is a stage of its own.

    Args:
        source: what is read.
        progress: where it shows.
        passes: what the passes are called, one after the other; the last name serves all that follow.
    """

    def __init__(self, source: Source, progress: Progress, *passes: str) -> None:
        self.label, self.names = source.label, source.names
        self._source, self._progress, self._passes = source, progress, list(passes)

    def about_rows(self) -> int | None:
        """As the source says."""
        return self._source.about_rows()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; a batch counts as done when the next one is asked for."""
        name = self._passes.pop(0) if len(self._passes) > 1 else self._passes[0]
        stage = self._progress.stage(name, self.about_rows())
        for batch in self._source.batches(columns):
            yield batch
            stage.advance(batch.num_rows)
        stage.finish()
