"""Every explainer of the registry against the public checks."""

from __future__ import annotations

import pytest

from carat.registry import EXPLAINERS
from carat.testing import Check
from carat.testing.explainers import ExplainerChecks
from carat.testing.parts import small_explainer
from tests.conformance.listing import listed


def asked(name: str) -> ExplainerChecks:
    """The transformer at its usual size would take a minute."""
    quick = {"epochs": (12, 8, 4), "learning_rate": 6e-3, "tuning_rate": 2e-3}
    return ExplainerChecks(small_explainer(**quick) if name == "transformer" else name)


SUITES = {name: asked(name) for name in EXPLAINERS}


@pytest.mark.parametrize("check", [each for name, suite in SUITES.items() for each in listed(name, suite.checks())])
def test_explainer(check: Check) -> None:
    check()


@pytest.mark.parametrize("name", ["transformer", "counts"])
def test_calibration_does_no_harm(name: str) -> None:
    """What `carat inspect` shows of it: the error before and after."""
    facts = SUITES[name].explainer.facts()["calibration"]
    facts = facts.get("tuned", facts)
    assert facts["error_after"] <= facts["error_before"]
    assert facts["error_after"] < 0.1
