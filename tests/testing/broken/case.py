"""A broken part, and who must find what is wrong with it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from carat.testing import Check


@dataclass(frozen=True)
class Case:
    """One broken part.

    Args:
        check: the name of the check that must fail.
        complaint: words of what it must say.
        checks: makes the list of checks for the part.
        what: how the test is called, beside the check.
    """

    check: str
    complaint: str
    checks: Callable[[], list[Check]]
    what: str

    def __str__(self) -> str:
        return f"{self.check}-{self.what}"


def pause() -> None:
    """Long enough for other threads to come between; the main thread has none to wait for."""
    if threading.current_thread() is not threading.main_thread():
        time.sleep(0.1)
