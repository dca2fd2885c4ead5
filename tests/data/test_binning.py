"""Quantile bins: balanced, readable, and the same however the numbers arrive."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from carat.data.binning import Bins, Sample
from carat.errors import InputError


def sample_of(*values: float, size: int = 1000) -> Sample:
    sample = Sample(size)
    sample.add(np.array(values))
    return sample


def test_bins_are_balanced() -> None:
    sample = sample_of(*range(100))
    bins = sample.bins(4, "Weight")
    assert bins.cuts == (24.75, 49.5, 74.25)
    assert sample.counts(bins).tolist() == [25, 25, 25, 25]


def test_repeated_values_give_fewer_bins() -> None:
    bins = sample_of(0, 0, 0, 0, 0, 0, 0, 5, 6, 7).bins(10, "Weight")
    assert 1 <= len(bins.cuts) < 9
    assert len(set(bins.texts())) == len(bins.cuts) + 1


def test_where_one_value_is_nearly_everywhere_the_others_are_apart_from_it() -> None:
    for others in ((1,), (0.5, 20, np.inf), (7, 7.000001)):
        sample = sample_of(*[0] * 97, *others)
        bins = sample.bins(2, "Discount")
        assert bins.cuts == (others[0],)
        assert sample.counts(bins).tolist() == [97, len(others)]


def test_nan_is_missing_and_does_not_count() -> None:
    sample = sample_of(1, np.nan, 2, np.nan)
    assert sample.counts(sample.bins(2, "Weight")).tolist() == [1, 1]


@pytest.mark.parametrize("values", [(), (np.nan,), (3, 3, 3)])
def test_what_can_not_be_cut_is_named(values: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="'Weight'"):
        sample_of(*values).bins(3, "Weight")


def test_infinite_values_lie_in_the_outer_bins() -> None:
    bins = sample_of(-np.inf, 1, 2, 3, 4, np.inf).bins(3, "Weight")
    assert bins.index(np.array([-np.inf, np.inf])).tolist() == [0, len(bins.cuts)]


def test_numbers_that_differ_late_can_still_be_cut() -> None:
    sample = sample_of(*range(20240101, 20240129))
    assert sample.counts(sample.bins(4, "Day")).tolist() == [7, 7, 7, 7]


def test_beyond_its_size_a_sample_stands_for_the_whole_stream() -> None:
    sample = Sample(1000)
    for part in np.split(np.random.default_rng(0).permutation(10_000).astype(float), 20):
        sample.add(part)
    bins = sample.bins(2, "Weight")
    assert bins.cuts[0] == pytest.approx(5000, abs=500)
    assert sample.counts(bins).sum() == 10_000


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=5, unique=True),
    st.lists(st.floats(-2e6, 2e6), max_size=20),
)
def test_a_value_lies_within_the_range_its_bin_prints(cuts: list[float], values: list[float]) -> None:
    bins = Bins(tuple(sorted(cuts)))
    texts = bins.texts()
    for value, index in zip(values, bins.index(np.array(values)), strict=True):
        low, high = edges(texts[index])
        assert low <= value < high


def edges(text: str) -> tuple[float, float]:
    """Where a range begins and ends, as it reads."""
    if text.endswith(" or more"):
        return float(text.removesuffix(" or more")), np.inf
    low, high = text.split("below ")
    return (float(low.removesuffix(" to ")) if low else -np.inf), float(high)


@given(st.lists(st.floats(-1e9, 1e9, width=32), min_size=2, max_size=50))
def test_the_order_of_the_rows_does_not_matter(values: list[float]) -> None:
    def bins(values: list[float]) -> Bins | None:
        try:
            return sample_of(*values).bins(4, "Weight")
        except InputError:
            return None

    assert bins(values) == bins(sorted(values))


def test_few_values_have_a_bin_each() -> None:
    """However rare they are: of five quantiles of 0, 8, 20, 25 most would be 20."""
    sample = Sample()
    sample.add(np.array([0, 8, *[20] * 8, 25, 25], dtype=np.float64))
    for count in (4, 5, 50):
        assert sample.bins(count, "vat").texts() == ["below 8", "8 to below 20", "20 to below 25", "25 or more"]
