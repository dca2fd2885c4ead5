"""Numbers in another form than most of their column."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carat.data.spelling import figures

USUAL = {
    "1200.50": [f"{n * 37}.{n % 90 + 10}" for n in range(1, 60)],
    "1,200.50": [f"{n * 137:,}.{n % 90 + 10}" for n in range(1, 60)],
    "1200,50": [f"{n * 37},{n % 90 + 10}" for n in range(1, 60)],
    "1.200,50": [f"{n * 137:,}".replace(",", ".") + f",{n % 90 + 10}" for n in range(1, 60)],
    "1 200,50": [f"{n * 137:,}".replace(",", " ") + f",{n % 90 + 10}" for n in range(1, 60)],
}


@pytest.mark.parametrize("usual", USUAL)
@pytest.mark.parametrize("other", USUAL)
def test_every_way_into_every_other(usual: str, other: str) -> None:
    values = [*USUAL[usual], f"-{other}"]
    made = figures(values, np.ones(len(values), dtype=np.int64))
    assert made.text[:-1] == [None] * (len(values) - 1)
    assert made.text[-1] == (None if usual == other else f"-{usual}")


@pytest.mark.parametrize("doubtful", ["1,200", "1.200", "12", "875,2", "875,215", "1,20,0.50", "875;21", "", "x,20"])
def test_what_is_in_doubt_stays(doubtful: str) -> None:
    values = [*USUAL["1200.50"], doubtful]
    assert figures(values, np.ones(len(values), dtype=np.int64)).text[-1] is None


def test_a_column_of_two_ways_has_none() -> None:
    values = [*USUAL["1200.50"], *USUAL["1200,50"]]
    assert not any(figures(values, np.ones(len(values), dtype=np.int64)).text)


@settings(deadline=None)
@given(st.lists(st.text("0123456789-.,' ", max_size=12), unique=True, max_size=40))
def test_the_digits_stay(values: list[str]) -> None:
    made = figures(values, np.full(len(values), 9))
    for value, text in zip(values, made.text, strict=True):
        if text is not None:
            assert text != value
            assert [c for c in text if c.isdigit()] == [c for c in value if c.isdigit()]
