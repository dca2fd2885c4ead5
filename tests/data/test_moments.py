"""Dates and times in another form than most of their column."""

from __future__ import annotations

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from carat.data.spelling import moments

WAYS = {
    "iso": lambda day: f"{day:%Y-%m-%d}",
    "slashes": lambda day: f"{day.month}/{day.day}/{day:%y}",
    "padded": lambda day: f"{day:%d.%m.%Y}",
    "named": lambda day: f"{day.day} {day:%B} {day:%Y}",
    "short": lambda day: f"{day:%d}-{day:%b}-{day:%Y}".upper(),
    "American": lambda day: f"{day:%b} {day.day}, {day:%Y}",
    "midnight": lambda day: f"{day:%Y/%m/%d} 00:00:00",
}
DAYS = [date(2007, 1, 28) + timedelta(days=37 * n) for n in range(60)]


@pytest.mark.parametrize("usual", WAYS)
@pytest.mark.parametrize("other", WAYS)
def test_every_form_into_every_other(usual: str, other: str) -> None:
    values = [*map(WAYS[usual], DAYS), *map(WAYS[other], DAYS[:5])]
    made = moments(values, np.ones(len(values), dtype=np.int64))
    assert made.text[: len(DAYS)] == [None] * len(DAYS)
    expected = [None] * 5 if usual == other else [WAYS[usual](day) for day in DAYS[:5]]
    assert made.text[len(DAYS) :] == expected


def test_times() -> None:
    usual = [f"{hour}:{minute:02d} {half}.m." for hour in (1, 7, 12) for minute in range(0, 60, 7) for half in "ap"]
    others = {"14:05": "2:05 p.m.", "2:07 PM": "2:07 p.m.", "12:10am": "12:10 a.m.", "00:30": "12:30 a.m."}
    values = [*usual, *others]
    made = moments(values, np.ones(len(values), dtype=np.int64))
    assert made.text[len(usual) :] == list(others.values())
    assert made.pattern[-1] is not None
    assert made.pattern[-1].startswith("write times like ")


def test_a_time_with_a_date_is_a_time_in_a_column_of_times() -> None:
    usual = [f"{hour}:{minute:02d} {half}.m." for hour in (1, 7, 12) for minute in range(0, 60, 7) for half in "ap"]
    others = {"12/02/2011 4:31 p.m.": "4:31 p.m.", "2011-12-02T16:31:00": "4:31 p.m.", "2 Dec 2011 06:31": "6:31 a.m."}
    doubtful = ["Gate 4:31 p.m.", "2011-12-02", "2011-12-02 16:31:05"]
    values = [*usual, *others, *doubtful]
    made = moments(values, np.ones(len(values), dtype=np.int64))
    assert made.text[len(usual) :] == [*others.values(), *[None] * len(doubtful)]


@pytest.mark.parametrize(
    ("usual", "doubtful"),
    [
        (["2008-03-05", "2009-12-31"], "3/4/08"),  # nothing says whether March or April
        (["2008-03-05", "2009-12-31"], "12/31/18"),  # no other date is of that decade
        (["5/3/2008", "1/12/2009"], "2008-01-02"),  # the column itself leaves it open
        (["12/31/07", "4/17/08"], "2008-03-05 10:00:00"),  # the hour would be lost
        (["12/31/07", "4/17/08"], "2008-02-30"),  # there is no such day
        (["12/31/07", "4/17/08"], "2008"),
        (["7:56", "14:20"], "7:56:01"),  # the second would be lost
        (["SKU 1/2", "SKU 4/7"], "2008-03-05"),
    ],
)
def test_what_is_in_doubt_stays(usual: list[str], doubtful: str) -> None:
    assert moments([*usual, doubtful], np.array([60, 40, 2])).text == [None] * 3


def test_a_column_of_two_forms_has_none() -> None:
    values = [*map(WAYS["iso"], DAYS[:30]), *map(WAYS["named"], DAYS[30:])]
    assert moments(values, np.ones(60, dtype=np.int64)).text == [None] * 60


@settings(deadline=None)
@given(st.lists(st.text("0123456789-/.: apmJan", max_size=12), unique=True, max_size=40))
def test_anything_may_stand_there(values: list[str]) -> None:
    made = moments(values, np.full(len(values), 9))
    assert len(made.text) == len(made.pattern) == len(values)
    assert all((text is None) == (pattern is None) for text, pattern in zip(made.text, made.pattern, strict=True))
    assert all(text != value for text, value in zip(made.text, values, strict=True))
