"""The whole comparison: datasets × seeds × detectors × methods, one file per cell, so that a killed run goes on."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import torch

from carat._version import __version__
from carat.data import open_source, scan
from carat.data.sources import check_ending
from carat.data.text import to_text
from carat.datasets import Dataset
from carat.devices import pick_device
from carat.errors import InputError, MethodFailed, MissingExtraError
from carat.experiments.cells import Case, Cell, CellKey, Kind, Setting, newest, read_cells, told_apart, write_cell
from carat.experiments.contest import Contest, fitted_model
from carat.experiments.detection import detection
from carat.experiments.figures import figures
from carat.experiments.stability import stability
from carat.experiments.tables import digest, tables
from carat.files import write_text
from carat.fitting.store import stored_identity
from carat.observing import Observer, Remark, Silent
from carat.recourse import Settings
from carat.registry import method, methods, named_data
from carat.training import Run

DIAL = (0.0, 0.25, 0.5, 0.75, 1.0)
DIALLED = "carat-plus"


def all_methods() -> tuple[str, ...]:
    """What `--methods all` means."""
    return tuple(entry.name for entry in methods().values() if entry.in_all)


@dataclass(frozen=True, kw_only=True)
class BenchPlan:
    """What to run.

    Args:
        data: names of datasets, or files.
        methods: by name.
        anomalies: for each dataset; half of them with two corruptions.
        k: counterfactuals of an anomaly.
        profile: that models are fitted with.
        detectors: of the models; each dataset is run with each.
        seeds: of split, corruption and training; a dataset is run once with each.
        device: where to compute.
        dial: also run `carat-plus` along its dial.
        stability: also compare MEAD and APE on the lowest 1 % of the test set.
    """

    data: Sequence[str] = ("flights",)
    methods: Sequence[str] = field(default_factory=all_methods)
    anomalies: int = 400
    k: int = 50
    profile: str = "fast"
    detectors: Sequence[str] = ("mead",)
    seeds: Sequence[int] = (0,)
    device: str = "auto"
    dial: bool = True
    stability: bool = False

    def __post_init__(self) -> None:
        for name in self.methods:
            method(name)
        if self.anomalies < 1 or self.k < 1:
            raise InputError("anomalies and k must be at least 1")


def read_dataset(name: str) -> Dataset:
    """A dataset by name, or a file: its text columns become domains, and it is split at random."""
    dataset = named_data(name)
    if isinstance(dataset, Dataset):
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


def fingerprint(dataset: Dataset) -> str:
    """Of the domains of a dataset and all of their values, in order."""
    digested = hashlib.sha256(json.dumps(dataset.schema.to_json()).encode())
    for name in dataset.schema.domains:
        coded = to_text(dataset.table[name].combine_chunks(), name).dictionary_encode()
        digested.update(json.dumps(coded.dictionary.to_pylist()).encode())
        digested.update(coded.indices.fill_null(-1).to_numpy().tobytes())
    return digested.hexdigest()


@dataclass(frozen=True)
class Round:
    """One dataset, seed and detector of a plan, and the cells that are wanted of it."""

    plan: BenchPlan
    dataset: Dataset
    fingerprint: str
    seed: int
    detector: str
    out: Path

    @property
    def label(self) -> str:
        """How lines call it."""
        return f"{self.dataset.name.replace(':', '-')}-seed{self.seed}-{self.plan.profile}-{self.detector}"

    @property
    def folder(self) -> Path:
        """Where its model is."""
        return self.out / "models" / f"{self.label}-{self.fingerprint[:8]}"

    def keys(self, model: str) -> list[CellKey]:
        """The cells, for a model of this identity."""
        return [self._key(model, *cell) for cell in self._wanted()]

    def _wanted(self) -> Iterator[tuple[Kind, str, float]]:
        for name in self.plan.methods:
            yield "method", name, 0.5
        if self.plan.dial and DIALLED in self.plan.methods:
            for prefer in DIAL:
                if prefer != 0.5:
                    yield "dial", DIALLED, prefer
        if self.plan.stability:
            yield "stability", "", 0.5
        yield "detection", "", 0.5
        yield "case", "", 0.5

    def _key(self, model: str, kind: Kind, name: str, prefer: float) -> CellKey:
        plan = self.plan
        return CellKey(
            data=self.dataset.name,
            fingerprint=self.fingerprint,
            model=model,
            kind=kind,
            method=name,
            prefer=prefer,
            seed=self.seed,
            profile=plan.profile,
            detector=self.detector,
            anomalies=plan.anomalies,
            k=plan.k,
        )


@dataclass
class Bench:
    """A run of a plan into a folder.

    Args:
        plan: what to run.
        out: the folder: `cells/` with one file per result, `models/` with the fitted models.
        observer: is told of training, of cells, and of a line for each step.
    """

    plan: BenchPlan
    out: Path
    observer: Observer = field(default_factory=Silent)

    @cached_property
    def device(self) -> torch.device:
        """Where to compute."""
        return pick_device(self.plan.device)

    def run(self) -> list[Cell]:
        """All cells, those that were there already among them."""
        (self.out / "cells").mkdir(parents=True, exist_ok=True)
        for name in self.plan.data:
            dataset = read_dataset(name)
            known = fingerprint(dataset)
            for seed in self.plan.seeds:
                for detector in self.plan.detectors:
                    self._round(Round(self.plan, dataset, known, seed, detector, self.out))
        return self.cells()

    def cells(self) -> list[Cell]:
        """The results in the folder that the plan is about.

        Those of other datasets and seeds belong to it too, so that a comparison can grow run by run; those with another
        profile, detector or size do not. Data whose name stands for several tables or detectors is told apart.
        """
        plan = self.plan
        found = [
            cell
            for cell in newest(read_cells(self.out / "cells"))
            if (cell.key.profile, cell.key.anomalies, cell.key.k) == (plan.profile, plan.anomalies, plan.k)
            and cell.key.detector in plan.detectors
        ]
        found.sort(key=lambda cell: plan.detectors.index(cell.key.detector))
        return told_apart(found, detectors=len(plan.detectors) > 1)

    def write(self, cells: Sequence[Cell]) -> list[str]:
        """results.json, tables.md and figures/ from the cells; the names of the figures."""
        whole = {**self.facts(), "cells": [digest(cell) for cell in cells]}
        write_text(self.out / "results.json", json.dumps(whole, indent=1) + "\n")
        write_text(self.out / "tables.md", tables(cells))
        try:
            return [path.name for path in figures(cells, self.out / "figures")]
        except MissingExtraError as error:
            self.observer.remark(Remark("no-figures", f"no figures: {error}", warning=True))
            return []

    def facts(self) -> dict[str, Any]:
        """What it takes to run this again."""
        plan = asdict(self.plan)
        return {
            "plan": {name: list(value) if isinstance(value, tuple) else value for name, value in plan.items()},
            "carat": __version__,
            "torch": torch.__version__,
            "python": platform.python_version(),
        }

    def _say(self, line: str) -> None:
        self.observer.remark(Remark("bench", line))

    def _round(self, part: Round) -> None:
        """Every cell of one dataset, seed and detector; the model is fitted only where one of them is missing."""
        model = stored_identity(part.folder)
        keys = part.keys(model or "")
        missing = [key for key in keys if model is None or not (self.out / "cells" / key.file).exists()]
        if not missing:
            self._say(f"{part.label}: all {len(keys)} cells are done")
            return
        self._say(f"{part.label}: fitting the model, {len(missing)} of {len(keys)} cells to do")
        contest = self._contest(part)
        setting = Setting(
            synthetic=part.dataset.synthetic,
            domains=len(contest.model.vocabulary),
            entities=contest.model.vocabulary.entities,
            train=len(contest.trial.data.train) + len(contest.trial.data.held_out),
            device=self.device.type,
        )
        bar = self.observer.stage(f"{part.label}, cells", len(missing))
        for key in missing:
            cell = self._cell(contest, replace(key, model=contest.model.identity), setting)
            write_cell(self.out / "cells", cell)
            bar.advance(note=key.title)
            self._say(f"{part.label} {key.title}: {_line(cell)}")

    def _contest(self, part: Round) -> Contest:
        trial, model = fitted_model(
            part.dataset,
            part.folder,
            anomalies=self.plan.anomalies,
            profile=self.plan.profile,
            detector=part.detector,
            seed=part.seed,
            device=self.device,
            observer=self.observer,
        )
        return Contest.of(trial, model, Run(seed=part.seed, device=self.device, observer=self.observer))

    def _cell(self, contest: Contest, key: CellKey, setting: Setting) -> Cell:
        settings = Settings(k=key.k, prefer=key.prefer)
        if key.kind == "stability":
            return Cell(key=key, setting=setting, stability=stability(contest, settings))
        if key.kind == "detection":
            return Cell(key=key, setting=setting, detection=detection(contest))
        if key.kind == "case":
            return Cell(key=key, setting=setting, case=self._case(contest))
        count = method(key.method).anomalies(key.anomalies)
        try:
            return Cell(key=key, setting=setting, measured=contest.measured(key.method, settings, count))
        except MethodFailed as error:
            return Cell(key=key, setting=setting, error=str(error))

    def _case(self, contest: Contest) -> Case:
        """One anomaly with two corruptions, and the best three of the methods that explain themselves quickly."""
        anomalies = contest.trial.anomalies
        two = torch.nonzero(anomalies.corrupted.sum(dim=1) == 2).flatten()
        row = int(two[0]) if len(two) else 0
        vocabulary = contest.model.vocabulary
        ids = anomalies.ids[row : row + 1]
        shown: dict[str, list[list[str]]] = {}
        for name in self.plan.methods:
            entry = method(name)
            if not entry.in_all or entry.share > 1 or "records" in entry.needs:
                continue
            found, _ = contest.find(contest.method(name), Settings(k=3), ids)
            shown[name] = _texts(vocabulary, found.counterfactuals[0][found.mask[0]])
        return Case(
            domains=vocabulary.names,
            anomaly=_texts(vocabulary, ids)[0],
            original=_texts(vocabulary, anomalies.original[row : row + 1])[0],
            shown=shown,
        )


def _texts(vocabulary: Any, ids: torch.Tensor) -> list[list[str]]:
    columns = [column.to_pylist() for column in vocabulary.decode(ids).values()]
    return [list(row) for row in zip(*columns, strict=True)]


def _line(cell: Cell) -> str:
    if cell.error is not None:
        return cell.error
    if cell.measured is None:
        return "done"
    rank = torch.tensor(cell.measured.rank)
    return (
        f"{cell.measured.seconds:.4f} s per anomaly, Recovery@1 {float((rank == 1).double().mean()):.3f}, "
        f"@{cell.key.k} {float((rank > 0).double().mean()):.3f}"
    )
