"""The examples run, from an empty folder, and say what they promise."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


def run(name: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name)], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_flights(tmp_path: Path) -> None:
    assert "anomalous" in run("flights.py", tmp_path)
    assert (tmp_path / "example-flights/report.html").stat().st_size > 10_000
    assert (tmp_path / "example-flights/model/manifest.json").exists()


@pytest.mark.slow
def test_your_csv(tmp_path: Path) -> None:
    """The three invoices with a wrong account are the three strangest, and their account is what is changed."""
    said = run("your_csv.py", tmp_path)
    for number in (1_200, 2_400, 3_600):
        assert f"Row INV-{number:05d}: anomalous" in said
    assert said.count("1. Account ") == 3


@pytest.mark.slow
def test_black_box(tmp_path: Path) -> None:
    assert run("black_box.py", tmp_path).count("Row ") == 3
