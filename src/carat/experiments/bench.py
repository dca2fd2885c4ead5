"""The whole comparison: datasets × seeds × methods, one file a cell, so that a killed run goes on where it was."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from carat._version import __version__
from carat.data import open_source, scan
from carat.data.sources import check_ending
from carat.datasets import Dataset, find_dataset
from carat.errors import CaratError, InputError
from carat.experiments.contest import (
    ALL_METHODS,
    BY_NAME_ONLY,
    DIAL,
    RCEAA_SHARE,
    Contest,
    fitted_model,
)
from carat.experiments.dice import dice_outcome
from carat.experiments.stability import stability
from carat.recourse import Settings
from carat.training import Progress, Run, Silent, pick_device

Notify = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class BenchPlan:
    """What to run.

    Args:
        data: names of datasets, or files.
        methods: by name.
        anomalies: for each dataset; half of them with two corruptions.
        k: counterfactuals an anomaly.
        profile: that models are fitted with.
        detectors: of the models; each dataset is run with each.
        seeds: of split, corruption and training; a dataset is run once with each.
        device: where to compute.
        dial: also run `carat-plus` along its dial.
        stability: also compare MEAD and APE on the lowest 1 % of the test set.
    """

    data: Sequence[str] = ("flights",)
    methods: Sequence[str] = ALL_METHODS
    anomalies: int = 400
    k: int = 50
    profile: str = "fast"
    detectors: Sequence[str] = ("mead",)
    seeds: Sequence[int] = (0,)
    device: str = "auto"
    dial: bool = True
    stability: bool = False

    def __post_init__(self) -> None:
        known = (*ALL_METHODS, *BY_NAME_ONLY)
        for method in self.methods:
            if method not in known:
                raise InputError(f"unknown method '{method}'; there is: all, {', '.join(known)}")
        if self.anomalies < 1 or self.k < 1:
            raise InputError("anomalies and k must be at least 1")


def read_dataset(name: str) -> Dataset:
    """A dataset by name, or a file: every text column a domain, split at random."""
    dataset = find_dataset(name) if not Path(name).exists() else None
    if dataset is not None:
        return dataset
    path = Path(name)
    if not path.exists():
        raise InputError(f"{name}: no such file, and no dataset of this name")
    check_ending(path)
    source = open_source(name)
    if path.suffix == ".parquet":
        table = pq.read_table(path)
    else:
        table = pa.Table.from_batches(list(source.batches(source.names)))
    return Dataset(name=path.stem, table=table, schema=scan(source).schema, synthetic=False, about=path.name)


@dataclass
class Bench:
    """A run of a plan into a folder.

    Args:
        plan: what to run.
        out: the folder: `cells/` with one file a result, `models/` with the fitted models.
        progress: where training is shown.
        notify: called with a line for each step.
    """

    plan: BenchPlan
    out: Path
    progress: Progress = field(default_factory=Silent)
    notify: Notify = lambda line: None

    def run(self) -> list[dict[str, Any]]:
        """All cells, those that were there already among them."""
        (self.out / "cells").mkdir(parents=True, exist_ok=True)
        for name in self.plan.data:
            dataset = read_dataset(name)
            for seed in self.plan.seeds:
                for detector in self.plan.detectors:
                    self._dataset(dataset, seed, detector)
        return read_cells(self.out, self.plan)

    def _dataset(self, dataset: Dataset, seed: int, detector: str) -> None:
        """Every cell of one dataset, seed and detector; the model is fitted only where one of them is missing."""
        label = f"{dataset.name.replace(':', '-')}-seed{seed}-{self.plan.profile}-{detector}"
        wanted = list(self._wanted(dataset, seed))
        missing = [cell for cell in wanted if not self._path(label, cell).exists()]
        if not missing:
            self.notify(f"{label}: all {len(wanted)} cells are there")
            return
        plan, device = self.plan, pick_device(self.plan.device)
        self.notify(f"{label}: model and {len(missing)} of {len(wanted)} cells to do")
        trial, model = fitted_model(
            dataset,
            self.out / "models" / label,
            anomalies=plan.anomalies,
            profile=plan.profile,
            detector=detector,
            seed=seed,
            device=device,
            progress=self.progress,
        )
        contest = Contest.of(trial, model, seed=seed, device=device)
        facts = {
            "data": dataset.name,
            "synthetic": dataset.synthetic,
            "domains": len(model.vocabulary),
            "entities": model.vocabulary.entities,
            "train": len(trial.data.train) + len(trial.data.held_out),
            "seed": seed,
            "profile": plan.profile,
            "detector": detector,
            "k": plan.k,
            "device": device.type,
        }
        bar = self.progress.stage(f"{label}, cells", len(missing))
        for cell in missing:
            result = {**facts, "cell": cell, **self._cell(contest, dataset, cell)}
            self._save(self._path(label, cell), result)
            bar.advance(note=cell)
            self.notify(f"{label} {cell}: {_line(result)}")

    def _wanted(self, dataset: Dataset, seed: int) -> Iterator[str]:
        yield from self.plan.methods
        if self.plan.dial and "carat-plus" in self.plan.methods:
            yield from (f"dial-{prefer:g}" for prefer in DIAL if prefer != 0.5)
        if self.plan.stability:
            yield "stability"
        yield "case"

    def _path(self, label: str, cell: str) -> Path:
        return self.out / "cells" / f"{label}-{cell}-{self.plan.anomalies}x{self.plan.k}.json"

    def _cell(self, contest: Contest, dataset: Dataset, cell: str) -> dict[str, Any]:
        settings = Settings(k=self.plan.k)
        if cell == "stability":
            return stability(contest, settings, progress=self.progress)
        if cell == "case":
            return self._case(contest)
        run = Run(seed=contest.seed, device=contest.device, progress=self.progress)
        if cell.startswith("dice-"):
            return dice_outcome(contest, cell.removeprefix("dice-"), settings)
        dial = cell.startswith("dial-")
        prefer = float(cell.removeprefix("dial-")) if dial else 0.5
        method = contest.method("carat-plus" if dial else cell, prefer=prefer, run=run)
        count = max(self.plan.anomalies // RCEAA_SHARE, 1) if cell == "rceaa" else None
        outcome, seconds = contest.run(method, settings, anomalies=count)
        return {
            **contest.measure(outcome),
            "seconds": seconds / len(outcome.mask),
            "exhausted": float(outcome.exhausted.double().mean()),
        }

    def _case(self, contest: Contest) -> dict[str, Any]:
        """One anomaly with two corruptions, and the best three of the methods that explain themselves quickly."""
        anomalies = contest.trial.anomalies
        two = torch.nonzero(anomalies.corrupted.sum(dim=1) == 2).flatten()
        row = int(two[0]) if len(two) else 0
        vocabulary = contest.model.vocabulary
        ids = anomalies.ids[row : row + 1]
        shown: dict[str, Any] = {}
        for name in self.plan.methods:
            if name in ("fimap", "rceaa") or name in BY_NAME_ONLY:
                continue
            found = contest.method(name).find(ids.to(contest.device), Settings(k=3)).to("cpu")
            shown[name] = _texts(vocabulary, found.counterfactuals[0][found.mask[0]])
        return {
            "domains_shown": vocabulary.names,
            "anomaly": _texts(vocabulary, ids)[0],
            "original": _texts(vocabulary, anomalies.original[row : row + 1])[0],
            "shown": shown,
        }

    def _save(self, path: Path, result: dict[str, Any]) -> None:
        """Whole or not at all."""
        temporary = path.with_suffix(".tmp")
        temporary.write_text(json.dumps(result), encoding="utf-8")
        os.replace(temporary, path)

    def facts(self) -> dict[str, Any]:
        """What it takes to run this again."""
        plan = asdict(self.plan)
        return {
            "plan": {name: list(value) if isinstance(value, tuple) else value for name, value in plan.items()},
            "carat": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        }


def _texts(vocabulary: Any, ids: torch.Tensor) -> list[list[str]]:
    columns = [column.to_pylist() for column in vocabulary.decode(ids).values()]
    return [list(row) for row in zip(*columns, strict=True)]


def _line(result: dict[str, Any]) -> str:
    if "error" in result:
        return str(result["error"])
    if "rank" not in result:
        return "done"
    rank = torch.tensor(result["rank"])
    return (
        f"{result['seconds']:.4f} s an anomaly, Recovery@1 {float((rank == 1).double().mean()):.3f}, "
        f"@{result['k']} {float((rank > 0).double().mean()):.3f}"
    )


def read_cells(out: Path, plan: BenchPlan) -> list[dict[str, Any]]:
    """The results in a folder that a plan is about, in the order of their names.

    Those of other datasets and seeds belong to it too, so that a comparison can grow run by run; those with another
    profile, detector or size do not. With several detectors, the data's name says which.
    """
    cells = []
    for detector in plan.detectors:
        for path in sorted((out / "cells").glob(f"*-{plan.profile}-{detector}-*-{plan.anomalies}x{plan.k}.json")):
            try:
                cell = json.loads(path.read_text(encoding="utf-8"))
            except ValueError as error:
                raise CaratError(f"{path}: is damaged; remove it and run again") from error
            if len(plan.detectors) > 1:
                cell["data"] = f"{cell['data']} ({detector})"
            cells.append(cell)
    return cells
