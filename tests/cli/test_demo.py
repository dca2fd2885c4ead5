"""`carat demo`, small: everything that it promises is written and said."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import carat
from carat.cli import demo_job, run
from tests.support.commands import read_csv


@pytest.mark.slow
def test_everything_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in (("TRAIN_ROWS", 3_000), ("LATER_ROWS", 300), ("SPOILED", 30)):
        monkeypatch.setattr(demo_job, name, value)
    tiny = {"dim": 8, "layers": 1, "heads": 2, "bilinear": 4, "epochs": (2, 1, 1)}
    monkeypatch.setattr(demo_job, "TRANSFORMER", tiny)
    out = tmp_path / "demo"
    assert run(["demo", "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert {path.name for path in out.iterdir()} == {
        "model",
        "spoiled.csv",
        "scores.csv",
        "likelihoods.csv",
        "fixes.csv",
        "report.html",
    }
    model = carat.load(out / "model")
    assert model.threshold.quantile == demo_job.THRESHOLD
    scores, spoiled = read_csv(out / "scores.csv"), read_csv(out / "spoiled.csv")
    assert scores.num_rows == spoiled.num_rows == 300
    assert model.score(str(out / "spoiled.csv"))["score"].to_pylist() == pytest.approx(scores["score"].to_pylist())
    repaired = read_csv(out / "fixes.csv")
    count = int(re.search(r"In (\d+) of the next 300", said.err)[1])  # type: ignore[index]
    assert 20 <= count <= 30
    assert len(repaired["record"].unique()) == count
    page = (out / "report.html").read_text(encoding="utf-8")
    assert "Strangest rows in spoiled.csv" in page
    assert model.identity in page
    assert "Written to" in said.err
    assert said.out.count("Row ") == demo_job.CASES
    # Again over what is there: a demo replaces an earlier one.
    assert run(["demo", "--out", str(out)]) == 0


def test_a_file_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "demo").write_text("")
    assert run(["demo", "--out", str(tmp_path / "demo")]) == 2
    assert "demo: this is a file; name a folder" in capsys.readouterr().err
