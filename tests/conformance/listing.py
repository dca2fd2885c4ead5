"""From lists of checks to tests: one test for each, named by the part and the check."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest

from carat.testing import Check


def listed(part: str, checks: Iterable[Check], *, without: Collection[str] = ()) -> list[Any]:
    """The parameters of a test that calls its `check`, for the checks of one part.

    Args:
        part: what the tests are called by.
        checks: of it.
        without: names of checks that the part is not made to pass; one that does not exist is refused.
    """
    known = list(checks)
    unknown = set(without) - {check.name for check in known}
    assert not unknown, f"{part}: there is no check {', '.join(sorted(unknown))}"
    return [pytest.param(check, id=f"{part}-{check.name}") for check in known if check.name not in without]
