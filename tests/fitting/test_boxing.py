"""`fit` within a time box: what it says, what it stores, and the same steps to the same bits."""

from __future__ import annotations

import importlib
import itertools
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import torch

import carat
from carat.errors import InputError
from carat.fitting import Model, Recipe, fit_prepared, prepare
from carat.observing import Remark, Silent
from carat.training import Run
from tests.support.interrupts import Bomb, Interrupted
from tests.support.small import small

# `carat.fitting.fit` is the function; the module has the same name.
FIT = importlib.import_module("carat.fitting.fit")
STAGES = ["ape", "pretrain", "decoder-p", "fine-tune", "graph"]


class Heard(Silent):
    """Remembers remarks."""

    def __init__(self) -> None:
        self.remarks: list[Remark] = []

    def remark(self, remark: Remark) -> None:
        self.remarks.append(remark)


def ticking(seconds: float) -> Callable[[], float]:
    """A clock that goes on by so much whenever it is read."""
    ticks = itertools.count()
    return lambda: next(ticks) * seconds


def recipe(**box: Any) -> Recipe:
    return Recipe.of(
        detector=carat.detectors.Ape(epochs=2, dim=4),
        explainer=small(epochs=(4, 2, 2)),
        graph=carat.graph.KnowledgeGraph(epochs=2, dim=4),
        **box,
    )


def fitted(table: pa.Table, run: Run | None = None, **box: Any) -> Model:
    return fit_prepared(prepare(table.slice(0, 300)), recipe(**box), run or Run())


def test_the_steps_that_a_clock_chose_give_the_same_model_again(planted: pa.Table) -> None:
    whole = fitted(planted)
    chosen = fitted(planted, Run(clock=ticking(0.5)), minutes=0.4)
    steps = chosen.training["steps"]
    assert list(steps["stages"]) == STAGES
    assert steps["total"] == sum(steps["stages"].values()) < steps["whole"] == whole.training["steps"]["total"]
    again = fitted(planted, steps=steps["total"])
    assert again.training["steps"]["stages"] == steps["stages"]
    assert again.identity == chosen.identity != whole.identity


def test_a_box_that_does_not_bite_and_timing_change_no_bit(planted: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = fitted(planted, minutes=60)
    assert timed.training["steps"]["total"] == timed.training["steps"]["whole"]
    monkeypatch.setattr(FIT, "boxed", lambda parts, data, run: (run, None))
    assert fitted(planted).identity == timed.identity, "as if nothing had been timed"


def test_the_steps_are_said_before_training(planted: pa.Table) -> None:
    heard = Heard()
    fitted(planted, Run(clock=ticking(0.5), observer=heard), minutes=0.4)
    (said,) = [remark for remark in heard.remarks if remark.code == "training-time"]
    assert "on this machine" in said.text
    assert " of " in said.text
    assert said.remedies == ("minutes",)


@pytest.mark.parametrize(("tick", "level"), [(1e-6, logging.INFO), (10.0, logging.WARNING)])
def test_a_long_fit_is_not_silent_in_python(
    planted: pa.Table, tick: float, level: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A warning is shown where nobody has set up logging."""
    monkeypatch.setattr(FIT, "Run", lambda **given: Run(**given, clock=ticking(tick)))
    with caplog.at_level(logging.INFO, logger="carat"):
        carat.fit(planted.slice(0, 200), detector=carat.detectors.Ape(epochs=1, dim=4), explainer=False, device="cpu")
    (said,) = [record for record in caplog.records if "on this machine" in record.message]
    assert said.levelno == level


def test_profiles_have_their_boxes() -> None:
    assert Recipe.of().box.minutes == 4.0
    assert Recipe.of(profile="paper").box.minutes is None
    assert Recipe.of(profile="paper", minutes=3).box.minutes == 3.0
    assert Recipe.of(profile="instant").box.minutes is None


def test_a_model_without_networks_has_no_steps(planted: pa.Table, tmp_path: Path) -> None:
    options: dict[str, Any] = {"profile": "instant", "explainer": False}
    assert "steps" not in carat.fit(planted, **options).training
    for name, value in (("steps", 100), ("minutes", 0.4)):
        options[name] = value
        with pytest.raises(InputError, match=f"`{name}` is for networks, and this fit trains none"):
            carat.fit(planted, checkpoints=tmp_path / "c", **options)
        del options[name]
        assert not (tmp_path / "c").exists()


def test_too_few_steps_leave_nothing_behind(planted: pa.Table, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"`steps` must be at least 5, one for each of ape, pretrain"):
        fitted(planted, Run(checkpoints=tmp_path / "c"), steps=4)
    assert not (tmp_path / "c").exists()


def test_a_resumed_fit_keeps_its_steps_whatever_the_clock_says(planted: pa.Table, tmp_path: Path) -> None:
    folder = tmp_path / "c"
    with pytest.raises(Interrupted):
        fitted(planted, Run(checkpoints=folder, observer=Bomb(40), clock=ticking(0.5)), minutes=0.4)
    stored = json.loads((folder / "steps.json").read_text())
    resumed = fitted(planted, Run(checkpoints=folder, clock=ticking(0.1)), minutes=0.4)
    assert resumed.training["steps"] == stored
    assert resumed.identity == fitted(planted, steps=stored["total"]).identity
    with pytest.raises(InputError, match="other data or settings"):
        fitted(planted, Run(checkpoints=folder), minutes=2)
    (folder / "steps.json").write_text("{")
    with pytest.raises(InputError, match="is damaged"):
        fitted(planted, Run(checkpoints=folder), minutes=0.4)


def test_the_callers_random_numbers_stay(planted: pa.Table) -> None:
    torch.manual_seed(5)
    expected = torch.rand(2)
    torch.manual_seed(5)
    fitted(planted, steps=10)
    assert torch.equal(torch.rand(2), expected)
