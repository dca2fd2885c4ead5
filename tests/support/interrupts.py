"""Training that is cut short at a chosen step."""

from __future__ import annotations

from carat.observing import Remark


class Interrupted(Exception):
    """Raised by `Bomb`."""


class Bomb:
    """A progress display that stops the run after so many steps of all stages together."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.steps = 0

    def stage(self, name: str, total: int | None) -> Bomb:
        return self

    def remark(self, remark: Remark) -> None:
        pass

    def more(self, steps: int) -> None:
        pass

    def finish(self) -> None:
        pass

    def advance(self, steps: int = 1, note: str = "") -> None:
        self.steps += steps
        if self.steps > self.at:
            raise Interrupted
