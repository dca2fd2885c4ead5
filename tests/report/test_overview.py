"""The scores at a glance: counted once each, parted at the threshold, drawn with labels that make sense."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch

from carat.report import Overview
from carat.report.charts import histogram_svg, ticks
from tests.report import results
from tests.report.reading import written


def count_labels(drawn: str) -> list[int]:
    """What stands at the axis of counts, which is the second one; an error where it is no whole number."""
    labels = re.findall(r">([^<>]+)</text>", drawn)
    begin, end = labels.index("score") + 1, labels.index("rows (square root scale)")
    return [int(label.replace(",", "")) for label in labels[begin:end]]


def test_overview(tmp_path: Path) -> None:
    scores = torch.cat([torch.linspace(-5, 5, 900), torch.full((100,), -20.0)])
    overview = Overview.of(scores, -6.0)
    assert (overview.records, overview.anomalous) == (1000, 100)
    assert sum(overview.counts) == 1000
    assert -6.0 in overview.edges
    below = sum(count for count, end in zip(overview.counts, overview.edges[1:], strict=True) if end <= -6)
    assert below == 100
    text = written(results.result(), tmp_path, overview=overview)
    assert "<strong>1,000</strong> rows scored" in text
    assert re.search(r"<strong>100</strong> anomalous\s+\(10%\)", text)
    with pytest.raises(ValueError, match="2 counts need 3 edges"):
        Overview(1, 0, (1, 0), (0.0, 1.0), 0.0)


def test_histogram_shows_the_few_and_the_many() -> None:
    """What is anomalous lies left of the threshold, also where it is rare; what lies far out squeezes nothing."""
    body = torch.linspace(-10, 10, 100_000)
    overview = Overview.of(torch.cat([body, torch.tensor([-31.0, -40.0, -500.0])]), -30.0)
    parted = zip(overview.counts, overview.edges[1:], strict=True)
    assert sum(count for count, end in parted if end <= -30.0) == 3
    assert overview.edges[0] > -100
    result = Overview.of_result(torch.tensor([-1000.0, -2000.0]), torch.linspace(-10, 10, 400), -9.0)
    assert sum(count > 0 for count in result.counts) > 15
    drawn = histogram_svg(Overview.of(torch.cat([body, torch.tensor([-35.0])]), -30.0), 560, 170)
    assert "var(--flag)" in drawn


@pytest.mark.parametrize("scores", [[], [1.0], [2.0, 2.0], [float("nan"), 1.0], [0.0, 1e30], [-1e9, *[1.0] * 500, 3.0]])
def test_overview_of_odd_scores(scores: list[float]) -> None:
    """One bar or many, every finite score is in one, and the threshold parts them."""
    overview = Overview.of(torch.tensor(scores), 1.0)
    assert sum(overview.counts) == sum(map(math.isfinite, scores))
    assert 1.0 in overview.edges
    assert len(overview.counts) <= 50


def test_few_strange_records_leave_room_for_the_normal_ones() -> None:
    """Where their counterfactuals will lie; what is counted are the records alone."""
    strange, normal = torch.tensor([-19.0, -18.5, -18.0]), torch.linspace(0.5, 3.0, 500)
    overview = Overview.of(strange, 1.0, normal)
    assert sum(overview.counts) == overview.records == 3
    assert overview.edges[-1] >= 3.0
    assert Overview.of(strange, 1.0).edges[-1] < 2.0


def test_one_record_is_one_record(tmp_path: Path) -> None:
    text = written(results.result(), tmp_path, overview=Overview.of(torch.tensor([0.0]), 1.0))
    assert "<strong>1</strong> row scored" in text
    assert "Scores of 1 row." in text


@pytest.mark.parametrize(
    ("scores", "labels"),
    [
        ([-3.0, 1.0, 2.0, 2.0], [0, 1, 2]),
        ([-3.0, 1.0, 2.0, 2.5], [0, 1]),
        ([2.0, 2.0, 2.0, 2.0], [0, 1, 2, 3, 4]),
        ([], [0, 1]),
        ([1.0] * 1_200, [0, 500, 1_000]),
    ],
)
@pytest.mark.parametrize("size", [(560, 170), (236, 130)])
def test_counts_are_labelled_with_whole_numbers(scores: list[float], labels: list[int], size: tuple[int, int]) -> None:
    assert count_labels(histogram_svg(Overview.of(torch.tensor(scores), -1.0), *size)) == labels


def test_ticks_are_few_and_even() -> None:
    for tallest in (*range(1, 300), 9_999, 10_000, 123_456_789):
        found = ticks(tallest)
        steps = {after - before for before, after in pairwise(found)}
        assert found[0] == 0
        assert 2 <= len(found) <= 6
        assert len(steps) == 1
        assert found[-1] <= tallest < found[-1] + steps.pop()
