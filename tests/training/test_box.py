"""The time box: arithmetic by a clock that the test winds, and steps that end in the middle of a pass."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from carat.errors import InputError
from carat.training import Plan, Run, train
from carat.training.box import Box, Schedule, Training, affordable, split
from tests.support.interrupts import Bomb, Interrupted
from tests.training.test_loop import IDS, Line

PLAN = Plan(epochs=5, batch_size=6, learning_rate=0.1)  # 4 steps an epoch over the 20 records


class Clock:
    """Goes on only when told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Timed(Line):
    """A network whose loss takes a known time."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        super().__init__()
        self.clock, self.seconds = clock, seconds

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        self.clock.now += self.seconds
        return super().loss(ids, generator)


def schedule(box: Box, clock: Clock, *, validation: Tensor | None = None) -> Schedule:
    trainings = [
        Training("slow", Timed(clock, 0.5), IDS, Plan(epochs=100, batch_size=2), validation),
        Training("quick", Timed(clock, 0.1), IDS, Plan(epochs=50, batch_size=1), validation),
    ]
    return Schedule.of(box, trainings, Run(clock=clock))


@pytest.mark.parametrize("minutes", [0.5, 1, 3, 8])
def test_the_steps_fill_the_box(minutes: float) -> None:
    clock = Clock()
    found = schedule(Box(minutes=minutes), clock)
    assert found.ordinary == {"slow": 1000, "quick": 1000}
    assert found.stages["slow"] == found.stages["quick"] < 1000, "every training gets the same share of its steps"
    taken = clock.now + 0.6 * found.stages["slow"]  # the timing, then the training
    assert 60 * minutes - 1.2 <= taken <= 60 * minutes
    assert found.seconds == pytest.approx(0.6 * found.stages["slow"])


def test_what_takes_less_than_the_box_is_left_alone() -> None:
    for box in (Box(minutes=60), Box()):
        found = schedule(box, Clock())
        assert found.stages == found.ordinary
        assert found.seconds == pytest.approx(600)


def test_validation_counts() -> None:
    without, beside = (schedule(Box(minutes=2), Clock(), validation=held_out) for held_out in (None, IDS))
    assert beside.total < without.total


def test_a_box_that_is_too_small_for_timing_trains_a_step_of_each() -> None:
    assert schedule(Box(minutes=0.001), Clock()).stages == {"slow": 1, "quick": 1}


@pytest.mark.parametrize("minutes", [0.5, 1, 3, 8, 60])
def test_the_total_gives_the_same_schedule_again(minutes: float) -> None:
    chosen = schedule(Box(minutes=minutes), Clock())
    assert schedule(Box(steps=chosen.total), Clock()).stages == chosen.stages


def test_a_schedule_survives_json() -> None:
    found = schedule(Box(minutes=1), Clock())
    assert Schedule.from_json(found.to_json()) == Schedule(found.stages, found.ordinary, round(found.seconds, 1), 1)


@pytest.mark.parametrize("total", [3, 4, 10, 99, 117, 118, 500])
def test_split_gives_exactly_the_total_and_everyone_something(total: int) -> None:
    ordinary = {"a": 100, "b": 17, "c": 1}
    found = split(total, ordinary)
    assert sum(found.values()) == total
    assert min(found.values()) >= 1
    assert found["a"] >= found["b"] >= found["c"]
    if total == 118:
        assert found == ordinary


def test_split_of_single_steps_and_of_nothing() -> None:
    assert split(7, {"a": 1, "b": 1}) == {"a": 4, "b": 3}
    assert split(0, {}) == {}
    assert affordable({}, {}, 10) == 0


def test_too_few_steps_are_refused() -> None:
    with pytest.raises(InputError, match=r"`steps` must be at least 3, one for each of a, b, c; got 2"):
        split(2, {"a": 5, "b": 5, "c": 5})


@pytest.mark.parametrize(
    ("minutes", "steps", "said"),
    [
        (0, None, "`minutes` must be a number above 0, got 0"),
        (-1, None, "`minutes` must be a number above 0, got -1"),
        (math.nan, None, "`minutes` must be a number above 0, got nan"),
        ("4", None, "`minutes` must be a number above 0, got '4'"),
        (True, None, "`minutes` must be a number above 0, got True"),
        (None, 0, "`steps` must be a whole number of at least 1, got 0"),
        (None, 2.5, "`steps` must be a whole number of at least 1, got 2.5"),
        (None, True, "`steps` must be a whole number of at least 1, got True"),
        (1, 5, "use `minutes` or `steps`, not both"),
    ],
)
def test_bad_values_get_one_line(minutes: Any, steps: Any, said: str) -> None:
    with pytest.raises(InputError) as caught:
        Box.of(minutes, steps, 4.0)
    assert str(caught.value) == said


def test_arguments_win_over_the_profile() -> None:
    assert Box.of(None, None, 4.0) == Box(minutes=4.0)
    assert Box.of(2, None, 4.0) == Box(minutes=2.0)
    assert Box.of(math.inf, None, 4.0) == Box()
    assert Box.of(None, 9, 4.0) == Box(steps=9)


def trained(run: Run, *, validation: Tensor | None = None) -> Line:
    with run.seeded("line"):
        network = Line()
    train(network, IDS, PLAN, run, stage="line", validation=validation)
    return network


def test_less_than_a_pass_sees_no_record_twice() -> None:
    network = trained(Run(steps={"line": 3}))
    seen = sum(network.batches, [])
    assert [len(batch) for batch in network.batches] == [6, 6, 6]
    assert len(set(seen)) == 18


@pytest.mark.parametrize("steps", [1, 4, 7, 20, 23])
def test_exactly_so_many_steps_with_the_whole_cycle(steps: int, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    rate = Plan.rate

    def noted(self: Plan, step: int, of: int) -> float:
        asked.append((step, of))
        return rate(self, step, of)

    monkeypatch.setattr(Plan, "rate", noted)
    network = trained(Run(steps={"line": steps}), validation=IDS)
    assert len(network.batches) == steps
    assert asked == [(step, steps) for step in range(steps)], "the schedule runs over the chosen steps"


def test_the_ordinary_number_of_steps_changes_no_bit() -> None:
    assert torch.equal(trained(Run(steps={"line": 20})).slope, trained(Run()).slope)
    assert not torch.equal(trained(Run(steps={"line": 19})).slope, trained(Run()).slope)


def test_the_mean_loss_is_of_the_records_seen() -> None:
    run = Run(steps={"line": 1})
    with run.seeded("line"):
        network = Line()
    before = network.slope.item()
    loss = train(network, IDS, PLAN, run, stage="line").train[0]
    x = torch.randn(6, generator=torch.Generator().manual_seed(run.seed_of("batches", "line")))
    assert loss == pytest.approx(float(((before - 3) * x).square().mean()), rel=1e-5)


@pytest.mark.parametrize("at", [2, 5, 6])
def test_resumes_in_the_last_pass_to_the_same_bits(tmp_path: Path, at: int) -> None:
    steps = {"line": 7}
    with pytest.raises(Interrupted):
        trained(Run(checkpoints=tmp_path, checkpoint_seconds=0, observer=Bomb(at), steps=steps))
    resumed = trained(Run(checkpoints=tmp_path, steps=steps))
    assert torch.equal(resumed.slope, trained(Run(steps=steps)).slope)


def test_timing_leaves_random_numbers_alone_and_writes_nothing(tmp_path: Path) -> None:
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    network = Line()
    torch.manual_seed(1)
    Schedule.of(Box(), [Training("line", network, IDS, PLAN, IDS)], Run(checkpoints=tmp_path))
    assert torch.equal(torch.rand(3), expected)
    assert not list(tmp_path.iterdir())
