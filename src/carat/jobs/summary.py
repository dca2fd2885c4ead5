"""What goes into a job besides the data, and what comes out besides the batches."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field, fields
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from torch import Tensor

from carat.errors import Cancelled
from carat.jobs.tally import Tally
from carat.observing import Remark
from carat.results.origin import Origin

TOGETHER = ("origin", "remarks", "shares")
"""What a summary says of all records together, and does not add up."""
B_contra = TypeVar("B_contra", contravariant=True)


class Cancel:
    """Asks a job to stop; it does so between two batches, and raises `Cancelled`. Safe to use from another thread."""

    def __init__(self) -> None:
        self._asked = threading.Event()

    def set(self) -> None:
        """Stop."""
        self._asked.set()

    def check(self) -> None:
        """Raise where somebody asked to stop."""
        if self._asked.is_set():
            raise Cancelled("the job was cancelled")


@dataclass
class Summary:
    """What a job did, complete when it has ended.

    Args:
        records: records that came out.
        read: records that went in.
        origin: which model and which data; None until the end.
        remarks: what is worth knowing.
        shares: of the records read, those with an unseen value, a missing one, and so on; see `carat.results.ageing`.
    """

    records: int = 0
    read: int = 0
    origin: Origin | None = None
    remarks: list[Remark] = field(default_factory=list)
    shares: dict[str, float] = field(default_factory=dict)

    def merge(self, other: Summary) -> None:
        """Add what another job did with other records."""
        for each in fields(self):
            if each.name not in TOGETHER:
                mine, more = getattr(self, each.name), getattr(other, each.name)
                if isinstance(mine, Counter):
                    mine.update(more)
                else:
                    setattr(self, each.name, mine + more)

    def facts(self) -> dict[str, Any]:
        """The numbers, for programs."""
        told = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in ("origin", "remarks")}
        return told if self.shares else {name: value for name, value in told.items() if name != "shares"}


class Sink(Protocol[B_contra]):
    """Takes the batches of a job: entered before the first one, left after the last or when something went wrong."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None: ...

    def take(self, batch: B_contra) -> None:
        """The next batch."""
        ...

    def finish(self, job: Any) -> None:
        """All batches have come; the job's summary is complete."""
        ...


@dataclass
class Part:
    """What a job did with a part of a table.

    Args:
        tally: of the records that were read.
        summary: of the part.
        scores: of all records that were looked at, where somebody listens.
    """

    tally: Tally
    summary: Summary
    scores: list[Tensor] = field(default_factory=list)
