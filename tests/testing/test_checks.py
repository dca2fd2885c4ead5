"""Every check can fail: for each there is a broken part that it finds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from carat.errors import InputError
from carat.registry import SOURCES
from carat.testing import (
    Check,
    check_detector,
    check_explainer,
    check_method,
    check_source,
    detector_checks,
    explainer_checks,
    method_checks,
    source_checks,
)
from tests.testing.broken import detectors, explainers, methods, sources
from tests.testing.broken.case import Case

CASES = {
    "detector": (detectors.CASES, [*detector_checks("counts"), *detector_checks("counts", context=False)]),
    "explainer": (explainers.CASES, explainer_checks("counts")),
    "source": (sources.CASES, source_checks("counts")),
    "method": (methods.CASES, method_checks("instant")),
}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=f"{kind}-{case}") for kind, (cases, _) in CASES.items() for case in cases]
)
def test_broken_part_is_found(case: Case) -> None:
    checks = {check.name: check for check in case.checks()}
    with pytest.raises(AssertionError, match=f"the check '{case.check}' failed: .*{case.complaint}"):
        checks[case.check]()


@pytest.mark.parametrize("kind", CASES)
def test_every_check_has_a_broken_part(kind: str) -> None:
    cases, checks = CASES[kind]
    assert {case.check for case in cases} == {check.name for check in checks}


def test_the_parts_they_were_made_from_pass() -> None:
    check_detector(detectors.Base())
    check_explainer(explainers.Base())
    check_source(sources.right)
    check_method(methods.right, needs=("counts",))


def test_all_checks_of_a_part_are_run() -> None:
    """The last one, too; and what fails first is what is raised."""
    with pytest.raises(AssertionError, match="threads_do_not_disturb_each_other"):
        check_detector(detectors.Shouting())
    with pytest.raises(AssertionError, match="threads_do_not_disturb_each_other"):
        check_explainer(explainers.Shouting())
    with pytest.raises(AssertionError, match="threads_do_not_disturb_each_other"):
        check_source(sources.shouting)
    with pytest.raises(AssertionError, match="the_best_repairs"):
        check_method(methods.backwards, needs=("counts",))


def test_fitted_once_and_not_before_it_must() -> None:
    fits = []

    class Watched(detectors.Base):
        def _fit(self, data: object, run: object) -> None:
            fits.append(len(data.train))  # type: ignore[attr-defined]
            super()._fit(data, run)  # type: ignore[arg-type]

    checks = detector_checks(Watched())
    assert fits == []
    for check in checks[:7]:
        check()
    assert len(fits) == 1


def test_what_can_not_be_checked_is_refused() -> None:
    fitted = detectors.Estimator().fit(None)
    with pytest.raises(InputError, match="fitted already; give it unfitted"):
        check_detector(fitted)
    with pytest.raises(InputError, match="unknown detector 'aep'; did you mean 'ape'"):
        check_detector("aep")
    with pytest.raises(InputError, match="a name or a FittedExplainer, got object"):
        check_explainer(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown source 'grpah'"):
        check_source("grpah")
    with pytest.raises(InputError, match="unknown method 'crat'"):
        check_method("crat")


def test_a_need_that_was_not_named_is_found_out() -> None:
    with pytest.raises(AssertionError, match="parts with no explainer, .*CountsExplainer.*name all that it needs"):
        check_method(methods.right)
    with pytest.raises(AssertionError, match="parts with counts .*name all that it needs"):
        check_source(SOURCES["graph"].load(), needs=("counts",))
    with pytest.raises(AssertionError, match="there is no need 'graphs'"):
        check_method(methods.right, needs=("graphs",))
    with pytest.raises(AssertionError, match="name one of the two"):
        check_method(methods.right, needs=("counts", "transformer"))


def test_a_check_names_itself() -> None:
    def fails() -> None:
        raise ValueError("it is broken")

    check = Check("is_whole", fails)
    assert str(check) == "is_whole"
    with pytest.raises(AssertionError, match="the check 'is_whole' failed: ValueError: it is broken"):
        check()


def test_nothing_but_the_core_is_imported() -> None:
    """An author's own tests may run where carat's are not."""
    wanted = ("pytest", "sklearn", "pandas", "polars", "pyod", "hypothesis")
    code = f"import sys, carat.testing; print([name for name in {wanted} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout.strip() == "[]"
