"""Former names still work, and say what they are now."""

from __future__ import annotations

from typing import Any

import pytest

import carat
from tests.support.fitted import frame, instant_of
from tests.support.planted import corrupted


@pytest.mark.parametrize(
    ("look", "now"),
    [
        (lambda: carat.recourse.RecourseResult, lambda: carat.RecourseResult),
        (lambda: carat.recourse.Explanation, lambda: carat.Explanation),
        (lambda: carat.detectors.Threshold, lambda: carat.Threshold),
    ],
    ids=["RecourseResult", "Explanation", "Threshold"],
)
def test_moved(look: Any, now: Any) -> None:
    with pytest.warns(DeprecationWarning, match=r"is now carat\."):
        assert look() is now()


def test_renamed() -> None:
    result = instant_of("counts").recourse(frame(corrupted()[0][:3]), k=1, all=True)
    with pytest.warns(DeprecationWarning, match=r"RecourseResult\.parts is now RecourseResult\.batches"):
        assert result.parts is result.batches
    model = instant_of("counts")
    made = carat.data.corrupt(model.vocabulary.encode(corrupted()[0]), model.vocabulary, model.pairs)
    with pytest.warns(DeprecationWarning, match=r"Anomalies\.source is now Anomalies\.row"):
        assert made.source is made.row


@pytest.mark.parametrize("package", ["recourse", "detectors"])
def test_what_never_was_is_an_attribute_error(package: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(carat, package).nothing  # noqa: B018
