"""What a Python user reads in `help` speaks of columns, values, rows and fixes, as everything printed does."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import carat
from carat.results import Counterfactual, EntityView, Witness
from carat.sklearn import CaratDetector
from tests.report.reading import strange_words

READ: list[Any] = [
    carat,
    carat.fit,
    carat.Model,
    *(
        getattr(carat.Model, name)
        for name in ("score", "explain", "recourse", "with_threshold", "percentile", "unseen")
    ),
    carat.RecourseResult,
    *(getattr(carat.RecourseResult, name) for name in ("to_frame", "to_arrow", "to_json", "report", "explanations")),
    carat.RecourseResult.explain,
    carat.RecourseResult.records,
    carat.Explanation,
    carat.Explanation.in_words,
    carat.Explanation.blamed,
    Counterfactual,
    EntityView,
    Witness,
    CaratDetector,
    carat.audit,
    carat.AuditResult,
    *(getattr(carat.AuditResult, name) for name in ("columns", "rate", "kinds", "cells", "to_frame", "to_arrow")),
    *(getattr(carat.AuditResult, name) for name in ("to_file", "to_json", "explain", "report")),
]
INTRODUCED = {
    carat.fit: "its domains (the columns that take part)",
    carat.Model: "the domains (the columns that take part)",
    carat.Model.recourse: "The research literature calls it a counterfactual",
    carat.RecourseResult: "what the research literature calls a counterfactual",
    Counterfactual: "The research literature calls it a counterfactual",
}
"""Where a word of the code is said once, beside what it means."""


def prose(thing: Any) -> str:
    """A docstring without the names of arguments, columns and methods, which are what they are."""
    text = re.sub(r"^ *\w+: ", "", inspect.getdoc(thing) or "", flags=re.MULTILINE)
    return " ".join(re.sub(r"`[^`]*`", "", text).split())


@pytest.mark.parametrize("thing", READ, ids=lambda thing: getattr(thing, "__qualname__", type(thing).__name__))
def test_docstrings_speak_the_readers_words(thing: Any) -> None:
    text = prose(thing)
    assert len(text) > 20
    if not isinstance(thing, property) and thing in INTRODUCED:
        assert text.count(INTRODUCED[thing]) == 1
        text = text.replace(INTRODUCED[thing], "")
    assert strange_words(text) == set()
