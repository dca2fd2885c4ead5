"""The trained bundle: `fit` makes a `Model`, which scores, saves and loads."""

from __future__ import annotations

import hashlib
import json
import logging
import time as clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.readers import Source, frame_like
from carat.data.scan import scan
from carat.data.schema import Schema
from carat.data.sources import open_source
from carat.data.table import Table
from carat.data.training_data import TrainingData
from carat.data.vocabulary import Vocabulary
from carat.datasets import Dataset, find_dataset
from carat.detectors import FittedDetector, OutsideDetector, Threshold, detector_class, outside_detector
from carat.detectors.encodings import Encoding
from carat.errors import InputError, ModelFolderError
from carat.profiles import profile_named
from carat.store import Contents, read_folder, write_folder
from carat.training import Progress, Run, Silent, pick_device

SCORE_COLUMNS = ("record", "score", "percentile", "anomalous")
Notify = Callable[[str], None]
_logger = logging.getLogger("carat")


@dataclass(frozen=True)
class Model:
    """A fitted detector with everything needed to use it on a new table.

    Args:
        schema: the domains and other roles of the columns.
        vocabulary: the entities.
        pairs: co-occurrence counts of the training records.
        detector: gives scores, higher = more normal.
        reference: scores of held-out records, ascending, float32 [r]; percentiles are relative to them.
        threshold: where anomalous begins.
        training: facts about the fit, as `carat inspect` shows them.
    """

    schema: Schema
    vocabulary: Vocabulary
    pairs: Pairs
    detector: FittedDetector | OutsideDetector
    reference: Tensor
    threshold: Threshold
    training: Mapping[str, Any] = field(default_factory=dict)

    def score(self, data: Any) -> Any:
        """Score every record of a frame or file.

        Returns a frame of the same library with the columns `record`, `score`, `percentile` (share of the
        reference at or below, in percent: 0 = strangest) and `anomalous`.
        """
        data = _named(data)
        if isinstance(data, Dataset):
            data = data.table
        parts = [self.score_table(part) for part in self.stream(open_source(data, once=True))]
        table = pa.concat_tables(parts) if parts else self.score_table(self.empty())
        return frame_like(table, data)

    def stream(self, source: Source) -> Iterator[Table]:
        """The records of a source as ids, in parts."""
        return Table.stream(source, self.schema, self.vocabulary)

    def empty(self) -> Table:
        """A table without records, for its columns."""
        no_rows = pa.table({name: pa.array([], pa.string()) for name in self._columns()})
        return Table.read(open_source(no_rows), self.schema, self.vocabulary)

    def _columns(self) -> list[str]:
        return [*self.vocabulary.names, *([self.schema.id] if self.schema.id else [])]

    def score_table(self, table: Table) -> pa.Table:
        """Scores of records given as ids, as an Arrow table."""
        scores = self.detector.score(table.ids).cpu()
        return pa.table(
            {
                "record": table.names_of_records(),
                "score": scores.double().numpy(),
                "percentile": self.percentile(scores).numpy(),
                "anomalous": pa.array((scores < self.threshold_score).numpy()),
            }
        )

    @property
    def threshold_score(self) -> float:
        """The score where anomalous begins."""
        return self.threshold.resolve(self.reference)

    def percentile(self, scores: Tensor) -> Tensor:
        """Share of the reference scores at or below, in percent, float64 [n]."""
        below = torch.searchsorted(self.reference, scores.contiguous(), right=True)
        return 100 * below.double() / len(self.reference)

    def with_threshold(self, threshold: Threshold | float) -> Model:
        """The same model with another threshold (a number is a quantile); nothing is refitted."""
        chosen = threshold if isinstance(threshold, Threshold) else Threshold(quantile=threshold)
        return replace(self, threshold=chosen)

    def unseen(self, data: Any) -> dict[str, dict[str, int]]:
        """For each domain: the entities of a table that training never met, and in how many records each is."""
        table = Table.read(open_source(data), self.schema, self.vocabulary)
        return table.unseen.by_name(self.vocabulary)

    def to(self, device: torch.device | str) -> Model:
        """Move the detector to a device, in place."""
        self.detector.to(device)
        return self

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model folder; an existing one is replaced only with `force`."""
        inside = isinstance(self.detector, FittedDetector)
        contents = Contents(
            facts={
                "schema": self.schema.to_json(),
                "threshold": self.threshold.to_json(),
                "training": dict(self.training),
                "detector": _describe(self.detector),
            },
            documents={"vocabulary": self.vocabulary.to_json()},
            tensors={"pairs": self.pairs.tensors(), "reference": {"scores": self.reference}},
        )
        if inside:
            assert isinstance(self.detector, FittedDetector)
            contents.tensors["detector"] = self.detector.tensors()
        write_folder(Path(path), contents, force=force)


def _describe(detector: FittedDetector | OutsideDetector) -> dict[str, Any]:
    if isinstance(detector, FittedDetector):
        return {"name": detector.name, "params": detector.params(), "facts": detector.facts()}
    return {"outside": detector.describe()}


def load(
    path: str | Path,
    *,
    detector: Any = None,
    encoding: Encoding | None = None,
    takes: Literal["frame", "ids"] = "frame",
) -> Model:
    """Read a model folder back.

    Args:
        path: the folder.
        detector: the outside detector that the model was fitted with, already fitted; such a detector is not stored.
        encoding: see `outside_detector`.
        takes: see `outside_detector`.
    """
    contents = read_folder(Path(path))
    facts = contents.facts
    schema = Schema.from_json(facts["schema"])
    vocabulary = Vocabulary.from_json(contents.documents["vocabulary"])
    pairs = Pairs.from_tensors(contents.tensors["pairs"])
    described = facts["detector"]
    restored: FittedDetector | OutsideDetector
    if "outside" in described:
        if detector is None:
            raise ModelFolderError(
                f"{path}: its detector '{described['outside']}' is from outside and not stored; "
                "attach it in Python: carat.load(path, detector=…)"
            )
        restored = outside_detector(detector, encoding=encoding, takes=takes).attach(vocabulary)
    else:
        if detector is not None:
            raise InputError(f"{path}: has its own detector '{described['name']}'; leave detector out")
        restored = detector_class(described["name"])(**described["params"])
        restored.restore_facts(described["facts"])
        restored.restore(contents.tensors["detector"], vocabulary, pairs)
    return Model(
        schema=schema,
        vocabulary=vocabulary,
        pairs=pairs,
        detector=restored,
        reference=contents.tensors["reference"]["scores"],
        threshold=Threshold(**facts["threshold"]),
        training=facts["training"],
    )


def fit(
    data: Any,
    *,
    domains: Sequence[str] | None = None,
    numeric: Mapping[str, int] | None = None,
    id: str | None = None,
    time: str | None = None,
    metapaths: Sequence[Sequence[str]] | None = None,
    min_count: int = 1,
    threshold: float | Threshold = 0.01,
    profile: str = "fast",
    detector: Any = None,
    encoding: Encoding | None = None,
    takes: Literal["frame", "ids"] = "frame",
    seed: int = 0,
    device: str = "auto",
    checkpoints: str | Path | None = None,
    progress: Progress | None = None,
    notify: Notify | None = None,
) -> Model:
    """Learn what is normal in a table.

    Args:
        data: a frame (pandas, polars, pyarrow), a path, or the name of a dataset.
        domains: columns to model; None takes every text column worth it.
        numeric: numeric columns and their number of quantile bins; they become domains.
        id: column that names a record in the outputs.
        time: column that orders the records.
        metapaths: paths of domains that belong together.
        min_count: entities seen fewer times count as unseen.
        threshold: quantile of the held-out scores below which a record is anomalous, or a `Threshold`.
        profile: `instant`, `fast` or `paper`; a named set of defaults.
        detector: `mead`, `ape`, `counts`, or a detector of your own: a callable, a scikit-learn or PyOD detector.
        encoding: how a scikit-learn or PyOD detector sees categories: `onehot`, `ordinal` or `frequency`.
        takes: what a callable is given, a `frame` of text or `ids`.
        seed: every random choice follows from it; on the CPU, the same seed gives the same model bit for bit.
        device: `auto`, `cpu` or `cuda`.
        checkpoints: a folder from which a killed fit is resumed when called again with the same arguments.
        progress: where to show progress.
        notify: called with every line that the user should read; default is the logger `carat`.
    """
    notify = notify or _logger.info
    chosen = _make_detector(detector, profile, encoding, takes)
    quantile = threshold if isinstance(threshold, Threshold) else Threshold(quantile=threshold)
    run = Run(
        seed=seed,
        device=pick_device(device),
        progress=progress or Silent(),
        checkpoints=None if checkpoints is None else Path(checkpoints),
    )
    began = clock.monotonic()
    data = _named(data)
    given: dict[str, Any] = {
        "domains": domains,
        "numeric": numeric,
        "id": id,
        "time": time,
        "metapaths": metapaths,
    }
    if isinstance(data, Dataset):
        given = _with_defaults(given, data.schema)
        data = data.table
    source = open_source(data)
    found = scan(source, **given, min_count=min_count)
    if line := found.left_out_line():
        notify(line)
    table = Table.read(source, found.schema, found.vocabulary, found.rows)
    if run.checkpoints is not None:
        _claim(run.checkpoints, table, found.schema, chosen, seed)
    parts = TrainingData.split(table.ids, found.vocabulary, seed=seed)
    if isinstance(chosen, OutsideDetector):
        chosen.attach(found.vocabulary, data)
    chosen.fit(parts, run)
    return Model(
        schema=found.schema,
        vocabulary=found.vocabulary,
        pairs=parts.pairs,
        detector=chosen,
        reference=chosen.score(parts.held_out).cpu().sort().values,
        threshold=quantile,
        training={
            "source": source.label,
            "records": len(parts.train),
            "held_out": len(parts.held_out),
            "left_out": dict(found.left_out),
            "min_count": min_count,
            "profile": profile,
            "seed": seed,
            "device": run.device.type,
            "seconds": round(clock.monotonic() - began, 2),
        },
    )


def _named(data: Any) -> Any:
    """A dataset where the data is the name of one and no file is called so."""
    if isinstance(data, str) and data != "-" and not Path(data).exists():
        return find_dataset(data) or data
    return data


def _with_defaults(given: dict[str, Any], schema: Schema) -> dict[str, Any]:
    """A dataset brings its own schema; metapaths only while all of their domains are there."""
    known = schema.to_json()
    merged = {key: known[key] if value is None else value for key, value in given.items()}
    if given["metapaths"] is None and merged["metapaths"] is not None:
        merged["metapaths"] = [p for p in merged["metapaths"] if set(p) <= set(merged["domains"])] or None
    return merged


def _make_detector(
    detector: Any, profile: str, encoding: Encoding | None, takes: Literal["frame", "ids"]
) -> FittedDetector | OutsideDetector:
    defaults = profile_named(profile)
    if detector is None or isinstance(detector, str):
        return detector_class(detector or defaults.detector)()
    if isinstance(detector, FittedDetector):
        return detector
    return outside_detector(detector, encoding=encoding, takes=takes)


def _claim(
    checkpoints: Path, table: Table, schema: Schema, detector: FittedDetector | OutsideDetector, seed: int
) -> None:
    """Mark a checkpoint folder as this fit's, or refuse the folder of another one."""
    described = detector.params() if isinstance(detector, FittedDetector) else detector.describe()
    fingerprint = {
        "data": hashlib.sha256(table.ids.numpy().tobytes()).hexdigest(),
        "vocabulary": hashlib.sha256(json.dumps(table.vocabulary.to_json()).encode()).hexdigest(),
        "schema": schema.to_json(),
        "detector": [detector.name, described],
        "seed": seed,
    }
    file = checkpoints / "fit.json"
    if file.exists():
        if json.loads(file.read_text(encoding="utf-8")) != json.loads(json.dumps(fingerprint)):
            raise InputError(
                f"{checkpoints}: is of a fit with other data or settings; give those, or start again with --force"
            )
        return
    checkpoints.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(fingerprint), encoding="utf-8")
