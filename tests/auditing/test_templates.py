"""Values that differ in their numbers alone."""

from __future__ import annotations

import numpy as np
import pytest

from carat.auditing.templates import off_template

PATIENTS = [f"{number} patients" for number in range(100)]


@pytest.mark.parametrize("odd", ["7 patixnts", "7x patients", "7patients", "7 patients."])
def test_a_slip_in_what_stands_around_the_numbers_stands_out(odd: str) -> None:
    told = off_template([*PATIENTS, odd], np.ones(101, dtype=np.int64))
    assert told[-1] == pytest.approx(np.log(100))
    assert not told[:-1].any()


@pytest.mark.parametrize("other", ["123456 patients", "none", "7 doctors on call"])
def test_another_number_or_another_text_does_not(other: str) -> None:
    assert not off_template([*PATIENTS, other], np.ones(101, dtype=np.int64)).any()


def test_codes_of_many_kinds_are_no_slips_of_each_other() -> None:
    tails = [f"N{number}{letters}" for number in range(100) for letters in ("UA", "JB", "AA")]
    assert not off_template([*tails, "N7UW"], np.ones(301, dtype=np.int64)).any()


def test_values_without_numbers_have_none() -> None:
    names = ["Leith", "Leeth", "Bergen", "Callao"]
    assert not off_template(names, np.array([90, 1, 5, 5])).any()
    assert off_template([], np.zeros(0, dtype=np.int64)).shape == (0,)
