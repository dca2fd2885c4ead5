"""Every source of candidates in the registry, and all of them together, against the public checks."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from carat.data import FIRST
from carat.protocols import CandidateSource
from carat.recourse import ModelParts
from carat.recourse.candidates import UnionSource
from carat.registry import SOURCES
from carat.testing import Check, source_checks
from carat.testing.sources import SourceChecks
from tests.conformance.listing import listed


def union(parts: ModelParts) -> CandidateSource:
    """All that there are."""
    return UnionSource({name: entry.load()(parts) for name, entry in SOURCES.items()})


NEEDS = tuple(dict.fromkeys(need for entry in SOURCES.values() for need in entry.needs))


@pytest.mark.parametrize(
    "check",
    [each for name in SOURCES for each in listed(name, source_checks(name))]
    + listed("union", source_checks(union, needs=NEEDS)),
)
def test_source(check: Check) -> None:
    check()


@pytest.mark.parametrize("source", [*SOURCES, pytest.param(union, id="union")])
def test_a_limit_wider_than_the_domain_gives_all_of_it(
    source: str | Callable[[ModelParts], CandidateSource],
) -> None:
    asked = SourceChecks(source, needs=() if isinstance(source, str) else NEEDS)
    mask = asked.propose(10_000).mask.sum(dim=2)
    assert mask[asked.targets].tolist() == (asked.parts.vocabulary.sizes - FIRST).expand(24, -1)[asked.targets].tolist()
