"""One result of a comparison: what was run, on which data and model, and what came of it; one file each."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from carat._version import __version__
from carat.errors import CaratError
from carat.files import write_text

Kind = Literal["method", "dial", "stability", "detection", "case"]


@dataclass(frozen=True, kw_only=True)
class CellKey:
    """What decides a result; two cells with the same key are the same.

    Args:
        data: how tables call the data.
        fingerprint: of the data; a file of the same name with other rows has another one.
        model: identity of the fitted model.
        kind: a method at its defaults, `carat-plus` along its dial, the stability run, what detectors and the gate
            find, or the case study.
        method: which, where the kind is about one.
        prefer: the dial.
        seed: of split, corruption and training.
        profile: that the model was fitted with.
        detector: of the model.
        anomalies: asked for.
        k: counterfactuals of each.
        version: of carat.
    """

    data: str
    fingerprint: str
    model: str
    kind: Kind
    method: str = ""
    prefer: float = 0.5
    seed: int = 0
    profile: str
    detector: str
    anomalies: int
    k: int
    version: str = __version__

    @property
    def title(self) -> str:
        """What it is called in a line."""
        if self.kind == "dial":
            return f"{self.method} at {self.prefer:g}"
        return self.method if self.kind == "method" else self.kind

    @property
    def file(self) -> str:
        """The name of its file: readable, and different for every key."""
        sign = hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:12]
        name = re.sub(r"[^\w.-]+", "-", f"{self.data}-seed{self.seed}-{self.detector}-{self.title}")
        return f"{name}-{sign}.json"


@dataclass(frozen=True, kw_only=True)
class Setting:
    """The data and the model behind a cell, for tables.

    Args:
        synthetic: whether the data was generated.
        domains: of the model.
        entities: of the model.
        train: records the model was fitted on.
        device: where it ran.
    """

    synthetic: bool
    domains: int
    entities: int
    train: int
    device: str = "cpu"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A method on the anomalies: one value per anomaly, None where there is none.

    Args:
        values: by metric.
        rank: of the original record among the counterfactuals, 0 where it is not.
        corruptions: in each anomaly.
        coverage: share of the anomalies answered.
        counterfactuals: of an anomaly, on average.
        seconds: per anomaly, after all training.
        exhausted: share of the anomalies for which everything was searched.
        note: what kept it from its end, if anything did.
    """

    values: Mapping[str, Sequence[float | None]]
    rank: Sequence[int]
    corruptions: Sequence[int] = ()
    coverage: float = 1.0
    counterfactuals: float = 0.0
    seconds: float = 0.0
    exhausted: float = 1.0
    note: str | None = None


@dataclass(frozen=True, kw_only=True)
class Case:
    """One anomaly, what it was, and the first counterfactuals of each method, as text."""

    domains: Sequence[str]
    anomaly: Sequence[str]
    original: Sequence[str]
    shown: Mapping[str, Sequence[Sequence[str]]]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """A result.

    Args:
        key: what was run.
        setting: on what.
        measured: of a method.
        stability: by detector and metric, mean and spread.
        detection: by detector and for the gate, what they find.
        case: of the case study.
        error: why there is nothing else.
        made: when, in UTC.
    """

    key: CellKey
    setting: Setting
    measured: Measured | None = None
    stability: Mapping[str, Mapping[str, Sequence[float]]] | None = None
    detection: Mapping[str, Mapping[str, float]] | None = None
    case: Case | None = None
    error: str | None = None
    made: str = ""

    def to_json(self) -> dict[str, Any]:
        """A plain dictionary that `from_json` reads back."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Cell:
        """The inverse of `to_json`."""
        rest = {name: data[name] for name in ("stability", "error", "made")}
        return cls(
            key=CellKey(**data["key"]),
            setting=Setting(**data["setting"]),
            measured=None if data["measured"] is None else Measured(**data["measured"]),
            detection=data.get("detection"),  # older cells have none
            case=None if data["case"] is None else Case(**data["case"]),
            **rest,
        )


def write_cell(folder: Path, cell: Cell) -> None:
    """Whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    made = replace(cell, made=datetime.now(UTC).isoformat())
    write_text(folder / cell.key.file, json.dumps(made.to_json()))


def read_cells(folder: Path) -> list[Cell]:
    """All results in a folder, in the order of their names."""
    cells = []
    for path in sorted(folder.glob("*.json")):
        try:
            cells.append(Cell.from_json(json.loads(path.read_text(encoding="utf-8"))))
        except (ValueError, TypeError, KeyError) as error:
            raise CaratError(f"{path}: is damaged, or of an older carat; remove it and run again") from error
    return cells


def newest(cells: Iterable[Cell]) -> list[Cell]:
    """Of cells that differ in model or version alone, the one made last."""
    kept: dict[CellKey, Cell] = {}
    for cell in cells:
        question = replace(cell.key, model="", version="")
        if question not in kept or kept[question].made < cell.made:
            kept[question] = cell
    return list(kept.values())


def told_apart(cells: Iterable[Cell], *, detectors: bool) -> list[Cell]:
    """The same cells with names that tell data with other rows apart, and where asked for, other detectors."""
    cells = list(cells)
    prints: dict[str, list[str]] = {}
    for cell in cells:
        known = prints.setdefault(cell.key.data, [])
        if cell.key.fingerprint not in known:
            known.append(cell.key.fingerprint)
    renamed = []
    for cell in cells:
        name = cell.key.data
        if len(prints[name]) > 1:
            name += f" [{cell.key.fingerprint[:6]}]"
        if detectors:
            name += f" ({cell.key.detector})"
        renamed.append(replace(cell, key=replace(cell.key, data=name)))
    return renamed
