"""A folder to work in, with the planted table and a model of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from carat.cli import run
from tests.support.commands import INSTANT, write_csv


@pytest.fixture(scope="session")
def fitted(planted: pa.Table, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder of the planted table; not to be changed."""
    folder = tmp_path_factory.mktemp("fitted")
    write_csv(folder / "planted.csv", planted)
    assert run(["fit", str(folder / "planted.csv"), "--out", str(folder / "model"), "--quiet", *INSTANT]) == 0
    return folder / "model"


@pytest.fixture
def work(fitted: Path, planted: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The present folder of a test: holds `planted.csv` and a `model` of it."""
    monkeypatch.chdir(tmp_path)
    write_csv(tmp_path / "planted.csv", planted)
    shutil.copytree(fitted, tmp_path / "model")
    return tmp_path
