"""The trained bundle: a `Model` scores, explains, finds recourse and saves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import Tensor

from carat.baselines import BASELINES
from carat.data.pairs import Pairs
from carat.data.readers import Source, frame_like
from carat.data.schema import Schema
from carat.data.sources import open_source
from carat.data.table import Table
from carat.data.vocabulary import Vocabulary
from carat.datasets import Dataset
from carat.detectors import FittedDetector, OutsideDetector, Threshold
from carat.errors import InputError, nearest
from carat.explain import FittedExplainer, flagged
from carat.graph import KnowledgeGraph
from carat.names import named_data
from carat.recourse import METHODS, Constraints, Method, Parts, RecourseResult, Settings, make_method
from carat.recourse.evidence import Evidence
from carat.recourse.result import Part, Scale, domains_where, run
from carat.store import Contents, write_folder
from carat.training.fitted import Fitted

SCORE_COLUMNS = ("record", "score", "percentile", "anomalous")


@dataclass(frozen=True)
class Model:
    """A fitted detector and explainer with everything needed to use them on a new table; `fit` and `load` make it.

    Args:
        schema: the domains and other roles of the columns.
        vocabulary: the entities.
        pairs: co-occurrence counts of the training records.
        detector: gives scores, higher = more normal.
        explainer: gives likelihoods; None where the model was fitted without.
        reference: scores of held-out records, ascending, float32 [r]; percentiles are relative to them.
        threshold: where anomalous begins.
        graph: neighbours of entities, for the methods that use them; None where the model was fitted without.
        training: facts about the fit, as `carat inspect` shows them.
    """

    schema: Schema
    vocabulary: Vocabulary
    pairs: Pairs
    detector: FittedDetector | OutsideDetector
    explainer: FittedExplainer | None
    reference: Tensor
    threshold: Threshold
    graph: KnowledgeGraph | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    def score(self, data: Any) -> Any:
        """Score every record of a frame or file.

        Args:
            data: a frame (pandas, polars, pyarrow), a path, or the name of a dataset.

        Returns:
            A frame of the same library with the columns `record`, `score`, `percentile` (share of the reference at
            or below, in percent: 0 = strangest) and `anomalous`.
        """
        return self._over(data, self.score_table)

    def explain(self, data: Any) -> Any:
        """How likely every entity of every record of a frame or file is in its context.

        Args:
            data: a frame, a path, or the name of a dataset.

        Returns:
            A frame of the same library with the column `record`, one column a domain with the likelihood of its entity
            (null where missing), and `flagged`, the list of domains whose entity is less likely than 0.5.
        """
        return self._over(data, self.explain_table)

    def recourse(
        self,
        data: Any,
        *,
        k: int = 50,
        method: str | None = None,
        top: int | None = None,
        all: bool = False,
        constraints: Constraints | Mapping[str, Any] | str | Path | None = None,
        prefer: float = 0.5,
        diversity: float = 0.0,
        neighbours: int = 100,
        budget: int | None = None,
        seconds: float = 60.0,
        advance: Callable[[int], None] | None = None,
    ) -> RecourseResult:
        """What would have made the anomalous records of a frame or file normal.

        Args:
            data: a frame, a path, or the name of a dataset.
            k: counterfactuals a record, at most.
            method: `carat-plus`, `carat` or `instant`, or a baseline: `replace-m`, `replace-2`, `xformer-r`, `rceaa`;
                None takes the best that the model can do.
            top: only the so many most anomalous records, the strangest first.
            all: every record, also those that are normal already.
            constraints: what may change: an object, a dictionary, or a TOML file.
            prefer: of `carat-plus` and `instant`, from 0 (plausible) to 1 (valid to the detector).
            diversity: 0 gives the best k; towards 1 they differ more from each other.
            neighbours: candidates of each source.
            budget: combinations a record; None is 200,000, or 2,000 for a detector from outside.
            seconds: for a batch of records; after that a quicker search.
            advance: called with the number of records done, for a progress display.
        """
        settings = Settings(
            k=k,
            neighbours=neighbours,
            constraints=as_constraints(constraints),
            diversity=diversity,
            budget=budget,
            seconds=seconds,
        )
        if top is not None and all:
            raise InputError("give top or all, not both")
        if top is not None and top < 1:
            raise InputError(f"top must be at least 1, got {top}")
        chosen = self.method(method, prefer=prefer)
        data = self._opened(data)
        parts: list[Part] = []
        for table, score in self.wanted(open_source(data, once=True), top=top, all=all):
            parts.extend(run(chosen, table, score, settings, self.device, advance))
        return RecourseResult(
            tuple(parts),
            self.scale,
            Evidence(self.pairs, self.vocabulary),
            chosen.name,
            data,
            self.empty_part(settings),
        )

    def method(self, name: str | None = None, *, prefer: float = 0.5) -> Method:
        """A method by name, put together from this model's parts; None takes the best there is for it."""
        counts_only = self.explainer is not None and self.explainer.name == "counts"
        chosen = name or ("instant" if counts_only else "carat-plus")
        parts = Parts(
            vocabulary=self.vocabulary,
            pairs=self.pairs.to(self.device),
            detector=self.detector,
            explainer=self.explainer,
            graph=self.graph,
            reference=self.reference,
            prefer=prefer,
        )
        if chosen == "fimap":
            raise InputError("fimap trains on records, which a model does not keep; it runs in carat bench only")
        if chosen in BASELINES:
            return BASELINES[chosen](parts, 0)
        if chosen not in METHODS:
            raise InputError(f"unknown method '{chosen}'; {nearest(chosen, [*METHODS, *BASELINES])}")
        return make_method(chosen, parts)

    def wanted(
        self,
        source: Source,
        *,
        top: int | None = None,
        all: bool = False,
        scored: Callable[[Table, Tensor], None] | None = None,
    ) -> Iterator[tuple[Table, Tensor]]:
        """The records to find recourse for, and their scores [n], part by part: the anomalous, all, or the strangest.

        Of the strangest, the worst comes first; no more than `top` records are ever held. `scored` is told every
        part and its scores on the way.
        """
        strangest: list[tuple[Table, Tensor]] = []
        for part in self.stream(source):
            score = self.detector.score(part.ids).cpu()
            if scored is not None:
                scored(part, score)
            if top is not None:
                strangest = [_strangest([*strangest, (part, score)], top)]
                continue
            rows = torch.arange(len(part)) if all else torch.nonzero(score < self.threshold_score).flatten()
            if len(rows):
                yield part.take(rows), score[rows]
        yield from strangest

    @property
    def scale(self) -> Scale:
        """How scores are read."""
        return Scale(self.reference, self.threshold_score)

    @property
    def device(self) -> torch.device:
        """Where the explainer, else the detector, computes."""
        return getattr(self.explainer or self.detector, "device_", torch.device("cpu"))

    def empty_part(self, settings: Settings) -> Part:
        """A part of a result without records, for its columns."""
        costs = settings.constraints.cost is not None
        return Part.unsearched(self.empty(), torch.empty(0), torch.empty((0, len(self.vocabulary))), costs=costs)

    def _over(self, data: Any, make: Callable[[Table], pa.Table]) -> Any:
        data = self._opened(data)
        parts = [make(part) for part in self.stream(open_source(data, once=True))]
        return frame_like(pa.concat_tables(parts) if parts else make(self.empty()), data)

    def _opened(self, data: Any) -> Any:
        """The data itself where it was given by name; a detector from outside learns its frame library."""
        data = named_data(data)
        if isinstance(data, Dataset):
            data = data.table
        if isinstance(self.detector, OutsideDetector):
            self.detector.attach(self.vocabulary, data)
        return data

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
        columns["flagged"] = domains_where(flagged(likelihood), self.vocabulary.names)
        return pa.table(columns)

    @property
    def threshold_score(self) -> float:
        """The score where anomalous begins."""
        return self.threshold.resolve(self.reference)

    def percentile(self, scores: Tensor) -> Tensor:
        """Share of the reference scores at or below, in percent, float64 [n]."""
        return self.scale.percentile(scores)

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
        """Move detector, explainer and graph to a device, in place."""
        for part in (self.detector, self.explainer, self.graph):
            if part is not None:
                part.to(device)
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
                "graph": None if self.graph is None else describe(self.graph),
            },
            documents={"vocabulary": self.vocabulary.to_json()},
            tensors={"pairs": self.pairs.tensors(), "reference": {"scores": self.reference}},
        )
        if isinstance(self.detector, FittedDetector):
            contents.tensors["detector"] = self.detector.tensors()
        if self.explainer is not None:
            contents.tensors["explainer"] = self.explainer.tensors()
        if self.graph is not None:
            contents.tensors["graph"] = self.graph.tensors()
        write_folder(Path(path), contents, force=force)


def describe(part: Fitted | OutsideDetector) -> dict[str, Any]:
    """A part as the manifest names it."""
    if isinstance(part, OutsideDetector):
        return {"outside": part.describe(), "options": part.options()}
    return {"name": part.name, "params": part.params(), "facts": part.facts()}


def as_constraints(given: Constraints | Mapping[str, Any] | str | Path | None) -> Constraints:
    """Constraints from whatever form they were given in."""
    if given is None:
        return Constraints()
    if isinstance(given, Constraints):
        return given
    return Constraints.from_dict(given) if isinstance(given, Mapping) else Constraints.read(given)


def _strangest(parts: list[tuple[Table, Tensor]], count: int) -> tuple[Table, Tensor]:
    """Of several tables and their scores, the records with the lowest scores, the lowest first, as one table."""
    tables, scores = Table.join([table for table, _ in parts]), torch.cat([score for _, score in parts])
    order = scores.argsort(stable=True)[:count]
    return tables.take(order), scores[order]
