"""Figures from made-up cells: what is drawn is what the cells say, in the colours of the registry."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from carat.experiments.figures import figures
from carat.registry import METHODS
from tests.experiments.test_tables import US, cell


def drawn(folder: Path, name: str) -> str:
    return (folder / f"{name}.svg").read_text(encoding="utf-8")


def test_the_dial(tmp_path: Path) -> None:
    """The line goes from plausible over the middle to valid, in the colour of carat-plus; others are points."""
    middle, *ends = (
        cell(US, "carat-plus", value, ranks) for value, ranks in ((0.9, [1, 0]), (0.8, [1, 1]), (1.0, [0, 0]))
    )
    dial = [
        replace(end, key=replace(end.key, kind="dial", prefer=at)) for end, at in zip(ends, (0.0, 1.0), strict=True)
    ]
    written = figures([middle, *dial, cell(US, "carat", 0.7, [1, 0])], tmp_path)
    assert tmp_path / "dial.png" in written
    picture = drawn(tmp_path, "dial")
    for label in ("plausible", "carat-plus", "valid", "carat"):
        assert f">{label}</text>" in picture
    assert METHODS["carat-plus"].colour in picture
    assert METHODS["carat"].colour in picture
    # The three places along the line: further right is more valid, further down is less often the truth.
    path = next(found for found in re.findall(r'd="(M[^"]+)"', picture) if found.count("L") == 2)
    places = [tuple(map(float, point.split(","))) for point in re.findall(r"[-\d.]+,[-\d.]+", path)]
    assert [x for x, _ in places] == sorted(x for x, _ in places)
    assert [y for _, y in places] == sorted(y for _, y in places)


def test_no_dial_no_figure(tmp_path: Path) -> None:
    written = {path.name for path in figures([cell(US, "carat-plus", 0.9, [1, 0])], tmp_path)}
    assert "dial.svg" not in written
    assert {"time.svg", "metrics.svg", "recovery.svg"} <= written


def test_an_anomaly_without_a_case_is_left_out(tmp_path: Path) -> None:
    assert not [path for path in figures([cell(US, "carat", 0.9, [1])], tmp_path) if path.name.startswith("case")]


@pytest.mark.parametrize("name", ["time", "metrics", "recovery"])
def test_methods_have_their_own_colour(name: str, tmp_path: Path) -> None:
    figures([cell(US, "carat", 0.9, [1, 0]), cell(US, "instant", 0.5, [0, 0])], tmp_path)
    for method in ("carat", "instant"):
        assert METHODS[method].colour in drawn(tmp_path, name)
