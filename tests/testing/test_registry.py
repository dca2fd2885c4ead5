"""What is added to a registry is found everywhere: command line, Tab, bench, figures, conformance suite."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

import carat
from carat import cli
from carat.cli import run
from carat.errors import InputError
from carat.experiments.bench import Bench, BenchPlan, all_methods
from carat.experiments.figures import figures
from carat.registry import BASELINES, DETECTORS, KINDS, Entry
from carat.testing import check_detector, check_explainer, check_method, check_source
from tests.support.commands import write_csv
from tests.support.planted import planted_table
from tests.testing import toys

ROOT = Path(__file__).parents[2]


@pytest.fixture
def registered() -> Iterator[None]:
    """The toys, while a test runs."""
    before = [list(registry) for registry in KINDS]
    with toys.added():
        yield
    assert [list(registry) for registry in KINDS] == before


@pytest.fixture
def table(tmp_path: Path) -> Path:
    return write_csv(tmp_path / "planted.csv", planted_table(300))


@pytest.mark.usefixtures("registered")
def test_command_line(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, rows = tmp_path / "model", tmp_path / "rows.jsonl"
    fit = ["fit", str(table), "--out", str(model), "--detector", "toy", "--profile", "toy", "--device", "cpu"]
    assert run([*fit, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["detector"], facts["explainer"]) == ("toy", "toy")
    for name in ("toy-method", "toy-baseline"):
        recourse = ["recourse", str(model), str(table), "--method", name, "--top", "3", "--k", "2", "--device", "cpu"]
        assert run([*recourse, "--out", str(rows), "--force", "--json"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert (told["method"], told["records"]) == (name, 3)
        assert len(rows.read_text(encoding="utf-8").splitlines()) == told["counterfactuals"] >= 3


@pytest.mark.usefixtures("registered")
def test_dataset_and_profile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["fit", "toydata", "--out", "model", "--profile", "toy", "--device", "cpu", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["records"], facts["detector"], facts["explainer"]) == (600, "toy", "toy")
    assert carat.load("model").training["profile"] == "toy"


def test_what_was_taken_out_again_is_unknown(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = tmp_path / "model"
    with toys.added():
        carat.fit(planted_table(300), profile="toy", device="cpu").save(model)
        assert carat.load(model).detector.name == "toy"
    with pytest.raises(InputError, match="unknown explainer 'toy'"):
        carat.load(model)
    assert run(["fit", str(table), "--out", str(tmp_path / "other"), "--detector", "toy"]) == 2
    assert "unknown --detector 'toy'" in capsys.readouterr().err
    assert run(["recourse", str(model), str(table), "--method", "toy-method"]) == 2


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(InputError, match="there is a detector 'mead' already"):
        DETECTORS.add(Entry("mead", "Mine", "#000000", toys.ToyDetector))
    with toys.added(), pytest.raises(InputError, match="there is a detector 'toy' already"):
        DETECTORS.add(Entry("toy", "Mine", "#000000", toys.ToyDetector))


def offered(command: str, parameter: str, incomplete: str) -> list[str]:
    """What Tab offers for an argument or option of a command."""
    group: Any = typer.main.get_command(cli.app)
    chosen = group.commands[command]
    context = chosen.make_context(command, [], resilient_parsing=True)
    found = next(each for each in chosen.params if each.name == parameter)
    return [item.value for item in found.shell_complete(context, incomplete)]


@pytest.mark.parametrize(
    ("command", "parameter", "name"),
    [
        ("fit", "data", "toydata"),
        ("fit", "detector", "toy"),
        ("fit", "profile", "toy"),
        ("recourse", "method", "toy-method"),
        ("recourse", "method", "toy-baseline"),
        ("bench", "data", "toydata"),
    ],
)
def test_tab(command: str, parameter: str, name: str) -> None:
    assert name not in offered(command, parameter, "to")
    with toys.added():
        assert name in offered(command, parameter, "to")


@pytest.mark.usefixtures("registered")
def test_bench_and_figures(tmp_path: Path) -> None:
    names = ("toy-baseline", "toy-method")
    assert set(names) <= set(all_methods())
    plan = BenchPlan(
        data=("toydata",),
        methods=(*names, "replace-m"),
        anomalies=8,
        k=4,
        profile="toy",
        detectors=("toy",),
        device="cpu",
    )
    cells = Bench(plan, tmp_path / "bench").run()
    measured = {cell.key.method: cell.measured for cell in cells if cell.key.kind == "method"}
    toy, baseline, known = (measured[name] for name in ("toy-method", "toy-baseline", "replace-m"))
    assert toy is not None
    assert baseline is not None
    assert known is not None
    assert len(toy.rank) == 8
    assert len(baseline.rank) == BASELINES["toy-baseline"].anomalies(8) == 4
    assert list(baseline.values["validity"]) == list(known.values["validity"])[:4], "the same method by another name"
    drawn = figures(cells, tmp_path / "figures")
    pictures = [path.read_text(encoding="utf-8") for path in drawn if path.name in ("time.svg", "recovery.svg")]
    assert len(pictures) == 2
    for picture in pictures:
        assert toys.METHOD_COLOUR in picture
        assert toys.BASELINE_COLOUR in picture


@pytest.mark.usefixtures("registered")
def test_they_pass_the_public_checks_by_name() -> None:
    check_detector("toy")
    check_explainer("toy")
    check_source("toy")
    check_method("toy-method")
    check_method("toy-baseline", context=False)


PLUGIN = """
from tests.testing import toys

KEPT = toys.added()
KEPT.__enter__()
"""


def test_conformance_suite_collects_them(tmp_path: Path) -> None:
    (tmp_path / "plugin_with_toys.py").write_text(PLUGIN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "tests/conformance", "-p", "plugin_with_toys"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-2_000:] + done.stderr
    for file, test in (
        ("detectors", "test_detector[toy-higher_is_more_normal]"),
        ("explainers", "test_explainer[toy-likelihoods_are_calibrated]"),
        ("sources", "test_source[toy-the_best_fits_the_context]"),
        ("methods", "test_method[toy-method/mead-min_support_is_kept_to]"),
        ("methods", "test_method[carat-plus/toy-scores_are_the_detectors]"),
        ("baselines", "test_baseline[toy-baseline-costs_are_told]"),
    ):
        assert f"tests/conformance/test_{file}.py::{test}\n" in done.stdout
