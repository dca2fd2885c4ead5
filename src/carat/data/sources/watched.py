"""A source that is watched while it is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa

from carat.data.sources.base import Source
from carat.observing import Observer


class Watched:
    """A source whose every pass is a stage of its own.

    Args:
        source: what is read.
        observer: where it shows.
        passes: what the passes are called, one after the other; the last name serves all that follow.
    """

    def __init__(self, source: Source, observer: Observer, *passes: str) -> None:
        self.label, self.names = source.label, source.names
        self._source, self._observer, self._passes = source, observer, list(passes)

    def about_rows(self) -> int | None:
        """As the source says."""
        return self._source.about_rows()

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; a batch counts as done when the next one is asked for."""
        name = self._passes.pop(0) if len(self._passes) > 1 else self._passes[0]
        stage = self._observer.stage(name, self.about_rows())
        for batch in self._source.batches(columns):
            yield batch
            stage.advance(batch.num_rows)
        stage.finish()
