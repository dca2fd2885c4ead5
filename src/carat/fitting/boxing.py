"""Before a fit trains: how many steps each network gets, said, and kept for a fit that is resumed."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from carat.data import TrainingData
from carat.errors import InputError
from carat.files import write_text
from carat.fitting.recipe import Recipe
from carat.observing import Remark
from carat.registry import PROFILES
from carat.training import Run
from carat.training.box import Box, Schedule, Training, in_words
from carat.training.fitted import Fitted

LONG = 30.0
"""Seconds of training from which on the remark is a warning: Python shows no lesser one, and nobody should wait in
silence."""


def boxed(recipe: Recipe, data: TrainingData, run: Run) -> tuple[Run, Schedule | None]:
    """The run with a number of steps for every network, and the schedule that says why; None without networks.

    Args:
        recipe: the parts that will be fitted, and the box.
        data: what they are fitted on.
        run: seed, device, observer, checkpoints; a resumed fit keeps the steps it began with.
    """
    schedule = _settled_or_released(recipe, data, run)
    if not schedule.stages:
        return run, None
    return replace(run, steps=schedule.stages), schedule


def _settled_or_released(recipe: Recipe, data: TrainingData, run: Run) -> Schedule:
    def trainings() -> Iterator[Training]:
        for part in (recipe.detector, recipe.explainer, recipe.graph):
            if isinstance(part, Fitted):
                yield from part.trainings(data, run)

    try:
        schedule = settled(recipe.box, trainings(), run)
        if not schedule.stages and recipe.box.minutes not in (None, PROFILES.find(recipe.profile).load()().minutes):
            raise InputError(
                "`minutes` is for networks, and this fit trains none; leave it out or choose another profile"
            )
        return schedule
    except InputError:
        _release(run.checkpoints)
        raise


def settled(box: Box, trainings: Iterable[Training], run: Run, times: int = 1) -> Schedule:
    """How many steps every training gets; said, and kept for a run that is resumed.

    Args:
        box: for all trainings together.
        trainings: those to come; not looked at where a resumed run has its steps already.
        run: observer, and the folder where the steps are kept.
        times: how often all of them are done, on as many records each time; each time gets an equal part of the box.
    """
    file = None if run.checkpoints is None else run.checkpoints / "steps.json"
    stored = run.team.agreed(_stored(file))
    schedule = stored or _timed(box.shared(times), trainings, run)
    if box.steps is not None and not schedule.stages:
        raise InputError("`steps` is for networks, and this fit trains none; leave it out or choose another profile")
    if schedule.stages:
        if file is not None and stored is None:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_text(file, json.dumps(schedule.to_json()))
        run.observer.remark(_remark(schedule, times, resumed=stored is not None))
    return schedule


def _timed(box: Box, trainings: Iterable[Training], run: Run) -> Schedule:
    stage = run.observer.stage("timing a few steps", None)

    def watched() -> Iterator[Training]:
        for training in trainings:
            yield training
            stage.advance()

    schedule = Schedule.of(box, watched(), run)
    stage.finish()
    # Each process has timed the same steps; the leader's clock decides.
    return run.team.agreed(schedule)


def _stored(file: Path | None) -> Schedule | None:
    if file is None or not file.exists():
        return None
    try:
        return Schedule.from_json(json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{file}: is damaged; remove {file.parent} and start over") from error


def _release(checkpoints: Path | None) -> None:
    """Take away a checkpoint folder that holds nothing but the word on whose it is: other settings may have it."""
    if checkpoints is not None and [file.name for file in checkpoints.iterdir()] == ["fit.json"]:
        shutil.rmtree(checkpoints)


def _remark(schedule: Schedule, times: int, *, resumed: bool) -> Remark:
    short = schedule.total < schedule.whole
    total, seconds = times * schedule.total, times * schedule.seconds
    of = f"{total:,} of {times * schedule.whole:,}" if short else f"{total:,}"
    how_long = "as when this began" if resumed else f"about {in_words(seconds)} on this machine, then calibration"
    return Remark(
        "training-time",
        f"training takes {of} steps, {how_long}",
        warning=seconds >= LONG,
        remedies=("minutes",) if short and schedule.minutes is not None else (),
    )
