"""The trained bundle: a `Model` scores, explains and saves; `load` reads it back. `carat.fitting` makes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.readers import Source, frame_like
from carat.data.schema import Schema
from carat.data.sources import open_source
from carat.data.table import Table
from carat.data.vocabulary import Vocabulary
from carat.datasets import Dataset, find_dataset
from carat.detectors import DETECTORS, FittedDetector, OutsideDetector, Threshold, outside_detector
from carat.detectors.encodings import Encoding
from carat.errors import InputError, ModelFolderError, nearest
from carat.explain import ContextDetector, FittedExplainer, explainer_class, flagged
from carat.store import Contents, read_folder, write_folder

SCORE_COLUMNS = ("record", "score", "percentile", "anomalous")
ALL_DETECTORS: dict[str, type[FittedDetector]] = {**DETECTORS, ContextDetector.name: ContextDetector}
"""By name, the explainer's own among them."""


@dataclass(frozen=True)
class Model:
    """A fitted detector and explainer with everything needed to use them on a new table.

    Args:
        schema: the domains and other roles of the columns.
        vocabulary: the entities.
        pairs: co-occurrence counts of the training records.
        detector: gives scores, higher = more normal.
        explainer: gives likelihoods; None where the model was fitted without.
        reference: scores of held-out records, ascending, float32 [r]; percentiles are relative to them.
        threshold: where anomalous begins.
        training: facts about the fit, as `carat inspect` shows them.
    """

    schema: Schema
    vocabulary: Vocabulary
    pairs: Pairs
    detector: FittedDetector | OutsideDetector
    explainer: FittedExplainer | None
    reference: Tensor
    threshold: Threshold
    training: Mapping[str, Any] = field(default_factory=dict)

    def score(self, data: Any) -> Any:
        """Score every record of a frame or file.

        Returns a frame of the same library with the columns `record`, `score`, `percentile` (share of the
        reference at or below, in percent: 0 = strangest) and `anomalous`.
        """
        return self._over(data, self.score_table)

    def explain(self, data: Any) -> Any:
        """How likely every entity of every record of a frame or file is in its context.

        Returns a frame of the same library with the column `record`, one column a domain with the likelihood of its
        entity (null where missing), and `flagged`, the list of domains whose entity is less likely than 0.5.
        """
        return self._over(data, self.explain_table)

    def _over(self, data: Any, make: Callable[[Table], pa.Table]) -> Any:
        data = named_data(data)
        if isinstance(data, Dataset):
            data = data.table
        if isinstance(self.detector, OutsideDetector):
            self.detector.attach(self.vocabulary, data)
        parts = [make(part) for part in self.stream(open_source(data, once=True))]
        return frame_like(pa.concat_tables(parts) if parts else make(self.empty()), data)

    def stream(self, source: Source) -> Iterator[Table]:
        """The records of a source as ids, in parts."""
        return Table.stream(source, self.schema, self.vocabulary)

    def empty(self) -> Table:
        """A table without records, for its columns."""
        names = [*self.vocabulary.names, *([self.schema.id] if self.schema.id else [])]
        no_rows = pa.table({name: pa.array([], pa.string()) for name in names})
        return Table.read(open_source(no_rows), self.schema, self.vocabulary)

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

    def explain_table(self, table: Table) -> pa.Table:
        """Likelihoods of records given as ids, as an Arrow table."""
        if self.explainer is None:
            raise InputError("this model has no explainer; fit it again without --no-explainer")
        likelihood = self.explainer.likelihood(table.ids).cpu()
        columns: dict[str, Any] = {"record": table.names_of_records()}
        for name, column in zip(self.vocabulary.names, likelihood.double().numpy().T, strict=True):
            columns[name] = pa.array(column, mask=np.isnan(column))
        columns["flagged"] = self._domains_where(flagged(likelihood))
        return pa.table(columns)

    def _domains_where(self, mask: Tensor) -> pa.Array:
        """Names of the domains where a mask [n, m] is true, as lists [n]."""
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), mask.sum(dim=1).cumsum(0)])
        names = pa.array(self.vocabulary.names).take(pa.array(mask.nonzero()[:, 1].numpy()))
        return pa.ListArray.from_arrays(pa.array(starts.numpy(), pa.int32()), names)

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
        data = named_data(data)
        source = open_source(data.table if isinstance(data, Dataset) else data)
        table = Table.read(source, self.schema, self.vocabulary)
        return table.unseen.by_name(self.vocabulary)

    def to(self, device: torch.device | str) -> Model:
        """Move detector and explainer to a device, in place."""
        self.detector.to(device)
        if self.explainer is not None:
            self.explainer.to(device)
        return self

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model folder; an existing one is replaced only with `force`."""
        contents = Contents(
            facts={
                "schema": self.schema.to_json(),
                "threshold": self.threshold.to_json(),
                "training": dict(self.training),
                "detector": describe(self.detector),
                "explainer": None if self.explainer is None else describe(self.explainer),
            },
            documents={"vocabulary": self.vocabulary.to_json()},
            tensors={"pairs": self.pairs.tensors(), "reference": {"scores": self.reference}},
        )
        if isinstance(self.detector, FittedDetector):
            contents.tensors["detector"] = self.detector.tensors()
        if self.explainer is not None:
            contents.tensors["explainer"] = self.explainer.tensors()
        write_folder(Path(path), contents, force=force)


def describe(part: FittedDetector | FittedExplainer | OutsideDetector) -> dict[str, Any]:
    """A part as the manifest names it."""
    if isinstance(part, OutsideDetector):
        return {"outside": part.describe(), "options": part.options()}
    return {"name": part.name, "params": part.params(), "facts": part.facts()}


def named_data(data: Any) -> Any:
    """A dataset where the data is the name of one and no file is called so."""
    if isinstance(data, str) and data != "-" and not Path(data).exists():
        return find_dataset(data) or data
    return data


def named_detector(name: str) -> FittedDetector:
    """A detector by name, with its defaults."""
    if name not in ALL_DETECTORS:
        raise InputError(f"unknown detector '{name}'; {nearest(name, ALL_DETECTORS)}")
    return ALL_DETECTORS[name]()


def load(
    path: str | Path,
    *,
    detector: Any = None,
    encoding: Encoding | None = None,
    takes: Literal["frame", "ids"] | None = None,
) -> Model:
    """Read a model folder back.

    Args:
        path: the folder.
        detector: the outside detector that the model was fitted with, already fitted; such a detector is not stored.
        encoding: how it sees categories; None takes what the model was fitted with.
        takes: what a callable is given; None takes what the model was fitted with.
    """
    contents = read_folder(Path(path))
    facts = contents.facts
    vocabulary = Vocabulary.from_json(contents.documents["vocabulary"])
    pairs = Pairs.from_tensors(contents.tensors["pairs"])
    explainer = None
    if facts["explainer"] is not None:
        explainer = explainer_class(facts["explainer"]["name"])(**facts["explainer"]["params"])
        _restore(explainer, facts["explainer"], contents.tensors["explainer"], vocabulary, pairs)
    described = facts["detector"]
    restored: FittedDetector | OutsideDetector
    if "outside" in described:
        if detector is None:
            raise ModelFolderError(
                f"{path}: its detector '{described['outside']}' is from outside and not stored; "
                "attach it in Python: carat.load(path, detector=…)"
            )
        given = {name: value for name, value in (("encoding", encoding), ("takes", takes)) if value is not None}
        restored = outside_detector(detector, **{**described["options"], **given}).attach(vocabulary)
        if restored.describe() != described["outside"] or restored.options() != described["options"]:
            raise InputError(
                f"{path}: was fitted with the detector {described['outside']} {described['options']}, "
                f"got {restored.describe()} {restored.options()}"
            )
    else:
        if detector is not None:
            raise InputError(f"{path}: has its own detector '{described['name']}'; leave detector out")
        restored = ALL_DETECTORS[described["name"]](**described["params"])
        if isinstance(restored, ContextDetector) and explainer is not None:
            restored.attach(explainer)
        _restore(restored, described, contents.tensors["detector"], vocabulary, pairs)
    return Model(
        schema=Schema.from_json(facts["schema"]),
        vocabulary=vocabulary,
        pairs=pairs,
        detector=restored,
        explainer=explainer,
        reference=contents.tensors["reference"]["scores"],
        threshold=Threshold(**facts["threshold"]),
        training=facts["training"],
    )


def _restore(
    part: FittedDetector | FittedExplainer,
    described: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    vocabulary: Vocabulary,
    pairs: Pairs,
) -> None:
    part.restore_facts(described["facts"])
    part.restore(tensors, vocabulary, pairs)
