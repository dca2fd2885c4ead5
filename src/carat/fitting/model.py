"""The trained bundle: a `Model` scores, explains, finds recourse and saves. It is never changed."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import Any

import pyarrow as pa
import torch
from torch import Tensor

from carat.arguments import check_flag, expecting, known_arguments
from carat.data.pairs import Pairs
from carat.data.schema import Schema
from carat.data.sources import Source, open_source
from carat.data.table import Table
from carat.data.vocabulary import Vocabulary
from carat.datasets import Dataset
from carat.detectors import FittedDetector, OutsideDetector
from carat.devices import pick_device
from carat.errors import InputError, is_near, nearest
from carat.explain import FittedExplainer, Judge, TransformerExplainer
from carat.fitting.contents import contents_of
from carat.fitting.describing import described
from carat.fitting.identity import identity_of
from carat.fitting.store import Contents, as_path, write_folder
from carat.graph import KnowledgeGraph
from carat.observing import Observer
from carat.recourse import Blend, Constraints, Method, ModelParts, Settings
from carat.registry import BASELINES, METHODS, method, methods, named_data
from carat.results.batches import ResultBatch
from carat.results.clearing import Clearing
from carat.results.evidence import Evidence
from carat.results.gate import Gate, check_gate
from carat.results.precedents import Precedents
from carat.results.recourse import RecourseResult
from carat.results.scale import Scale, Threshold
from carat.training.fitted import Fitted

FULL = ("transformer", "graph")
"""What the best method needs."""
OTHER_THRESHOLD = "set it on the model, with model.with_threshold(0.05)"
"""What to do instead of giving a threshold to a call."""


@dataclass(frozen=True, eq=False)
class Model:
    """What `carat.fit` and `carat.load` return: it scores and explains the rows of any table with the same columns.

    `score` says how normal each row is, `explain` which of its values do not belong, and `recourse` what would have
    made it normal. A model is read-only, and you can use it from many threads at once.

    Args:
        schema: the domains (the columns that take part), and which columns identify rows and give their time.
        vocabulary: the values of each column.
        pairs: how often two values occurred together in the training rows.
        detector: gives scores, higher = more normal.
        explainer: gives likelihoods; None if the model was fitted without one.
        reference: scores of the held-out rows, ascending, float32 [r]; percentiles are relative to them.
        threshold: where anomalous begins.
        graph: values that are close to each other, for the methods that use it; None if the model was fitted without
            one.
        gate: sets the cuts of score and alarm; None if the score alone decides, as without a judge.
        blends: by method, how much each opinion on a fix counts, as learned on held-out rows.
        held_out: the held-out rows as ids, int32 [v, m]; None if the model holds no rows.
        lookalikes: values that look like slips of common ones, and those, as rows of the vocabulary's layout, int64
            [k, 2]; None without a judge.
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
    gate: Gate | None = None
    blends: Mapping[str, Blend] = field(default_factory=dict)
    held_out: Tensor | None = None
    lookalikes: Tensor | None = None
    training: Mapping[str, Any] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def __str__(self) -> str:
        return described(self)

    __repr__ = __str__

    @expecting(threshold=OTHER_THRESHOLD)
    def score(
        self,
        data: Any,
        *,
        gate: str = "both",
        judge_all: bool | None = None,
        encoding: str | None = None,
        progress: bool | Observer = False,
    ) -> Any:
        """Score every row of a table: how normal is it, and is some value of it wrong?

        Args:
            data: a frame (pandas, polars, pyarrow), a path, the name of a dataset, or one row as a dictionary.
            gate: `both` lists rows by score and alarm, `score` by the score alone, without asking the judge.
            judge_all: whether the judge is asked about every row, or only about those that the pair counts do not
                clear. None asks about every row in tables of up to 100,000 rows.
            encoding: of a CSV file, such as `latin-1`; UTF-8 by default.
            progress: True shows a progress bar; an observer is told of stages and remarks.

        Returns:
            A frame of the same library, with one row for each of yours: `record` (the row number, index label or ID),
            `score` (higher = more normal), `percentile` (the percentage of held-out rows that score no higher; 0 =
            strangest), `anomalous`, and `alarm` (the probability that some value of the row is wrong; null where no
            judge was asked).
        """
        from carat.jobs import score_frame  # noqa: PLC0415 - jobs run models, not models jobs

        return score_frame(self, data, gate=gate, judge_all=judge_all, encoding=encoding, progress=progress)

    @known_arguments
    def explain(self, data: Any, *, encoding: str | None = None, progress: bool | Observer = False) -> Any:
        """Say of every value of a table how likely it is, given the rest of its row.

        Args:
            data: a frame, a path, the name of a dataset, or one row as a dictionary.
            encoding: of a CSV file, such as `latin-1`; UTF-8 by default.
            progress: True shows a progress bar; an observer is told of stages and remarks.

        Returns:
            A frame of the same library, with one row for each of yours: `record`, for each column that takes part the
            likelihood of its value (null if missing), and `flagged`, the list of columns below 0.5.
        """
        from carat.jobs import explain_frame  # noqa: PLC0415

        return explain_frame(self, data, encoding=encoding, progress=progress)

    @expecting(threshold=OTHER_THRESHOLD)
    def recourse(
        self,
        data: Any,
        *,
        k: int = 50,
        method: str | Method | None = None,
        top: int | None = None,
        all: bool = False,
        constraints: Constraints | Mapping[str, Any] | str | Path | None = None,
        prefer: float = 0.5,
        diversity: float = 0.0,
        neighbours: int = 100,
        budget: int | None = None,
        seconds: float = 60.0,
        shortlist: int | None = None,
        gate: str = "both",
        judge_all: bool | None = None,
        encoding: str | None = None,
        progress: bool | Observer = False,
    ) -> RecourseResult:
        """Suggest fixes: what would have made the anomalous rows of a table normal?

        A suggested fix is the row with some values replaced. The research literature calls it a counterfactual, and
        finding one recourse.

        Args:
            data: a frame, a path, the name of a dataset, or one row as a dictionary.
            k: suggested fixes per row, at most.
            method: `carat-plus`, `carat` or `instant`, or a baseline: `replace-m`, `replace-2`, `xformer-r`, `rceaa`.
                None picks the best that the model can do. A method of your own is taken as it is.
            top: look at this many rows only, the highest alarm first, anomalous or not.
            all: look at every row, including those that are already normal.
            constraints: what may change: a `Constraints`, a dictionary, or the path of a TOML file.
            prefer: for `carat-plus` and `instant`, from 0 (plausible) to 1 (valid to the detector).
            diversity: 0 gives the best `k` fixes. Towards 1, they differ more from each other.
            neighbours: replacement values that each source may suggest for a column.
            budget: combinations to try per row. None is 200,000, or 2,000 for a detector of your own.
            seconds: time for a batch of rows; after that, a quicker search takes over.
            shortlist: of `carat-plus`, how many of the most promising fixes per row the transformer reads. More takes
                longer; None is 8.
            gate: `both` takes rows by score and alarm, `score` by the score alone, without asking the judge.
            judge_all: whether the judge is asked about every row; see `score`.
            encoding: of a CSV file, such as `latin-1`; UTF-8 by default.
            progress: True shows a progress bar; an observer is told of stages and remarks.

        Returns:
            The fixes. `print(result)` shows a few, `result.to_frame()` has all of them, and `result.explain(row)` puts
            one row into words.
        """
        from carat.jobs import recourse_result  # noqa: PLC0415

        if not isinstance(method, str | None) and not hasattr(method, "find"):
            raise InputError(f"`method` must be the name of a method, got {method!r}")
        settings = Settings(
            k=k,
            neighbours=neighbours,
            constraints=Constraints.of(constraints),
            diversity=diversity,
            prefer=prefer,
            budget=budget,
            seconds=seconds,
            shortlist=shortlist,
        )
        return recourse_result(
            self,
            data,
            settings,
            method=method,
            top=top,
            all=all,
            gate=gate,
            judge_all=judge_all,
            encoding=encoding,
            progress=progress,
        )

    def method(self, name: str | None = None, *, like: Any = None) -> Method:
        """A method by name, put together from this model's parts; None picks the best that the model can do.

        Args:
            name: of a method or baseline.
            like: the data to come; a callable detector is given frames of its library.
        """
        parts = self.parts(like=like)
        if name is not None and name not in methods():
            every = (*METHODS.values(), *BASELINES.values())
            known = [each.name for each in every if is_near(name, methods()) or not parts.lacks(each.needs)]
            raise InputError(f"unknown `method` '{name}'; {nearest(name, known)}")
        entry = method(name or ("carat-plus" if parts.lacks(("counts",)) or not parts.lacks(FULL) else "instant"))
        if "records" in entry.needs:
            raise InputError(f"the method '{entry.name}' is there to compare with: it runs in carat bench only")
        parts.check(entry.name, entry.needs)
        made: Method = entry.load()(parts)
        return made

    def parts(self, *, like: Any = None) -> ModelParts:
        """What methods are made of."""
        return ModelParts(
            vocabulary=self.vocabulary,
            pairs=self.pairs.to(self.device),
            detector=self.detector_for(like),
            explainer=self.explainer,
            graph=self.graph,
            reference=self.reference,
            threshold=self.threshold_score,
            blends=self.blends,
            lookalikes=self.lookalikes,
        )

    def detector_for(self, data: Any) -> FittedDetector | OutsideDetector:
        """The detector; one from outside is given frames of the data's library."""
        return self.detector.speaking(data) if isinstance(self.detector, OutsideDetector) else self.detector

    @property
    def scale(self) -> Scale:
        """How scores and alarms are read."""
        if self.gate is None:
            return Scale(self.reference, self.threshold.resolve(self.reference))
        cuts = self.gate.cuts(self.threshold)
        return Scale(self.reference, cuts.score, cuts.alarm)

    def alarm(self, ids: Tensor) -> Tensor | None:
        """The probability that some entity of records ids [n, m] is wrong, on the CPU, [n]; None without a gate."""
        if self.gate is None or not isinstance(self.explainer, Judge):
            return None
        return self.explainer.alarm(ids).cpu()

    @cached_property
    def clearing(self) -> Clearing:
        """The quick look at records that need no judge."""
        return Clearing(self.pairs, self.vocabulary)

    @property
    def holds_records(self) -> bool:
        """Whether the training records are a part of the model."""
        return isinstance(self.explainer, Judge)

    @cached_property
    def evidence(self) -> Evidence:
        """The counts behind explanations."""
        judge = self.explainer
        similar = Precedents(judge.memory_, self.vocabulary) if isinstance(judge, Judge) else None
        return Evidence(self.pairs, self.vocabulary, similar)

    @property
    def device(self) -> torch.device:
        """Where the explainer, else the detector, computes."""
        return getattr(self.explainer or self.detector, "device_", torch.device("cpu"))

    def stream(self, source: Source) -> Iterator[Table]:
        """The records of a source as ids, in parts."""
        return Table.stream(source, self.schema, self.vocabulary)

    def empty(self) -> Table:
        """A table without records, for its columns."""
        return Table.read(open_source(self.no_rows()), self.schema, self.vocabulary)

    def no_rows(self) -> pa.Table:
        """The columns that rows of this model have."""
        names = [*self.vocabulary.names, *([self.schema.id] if self.schema.id else [])]
        return pa.table({name: pa.array([], pa.string()) for name in names})

    def empty_batch(self, settings: Settings) -> ResultBatch:
        """A batch of a result without records, for its columns."""
        none = torch.empty((0, len(self.vocabulary)))
        costs = settings.constraints.cost is not None
        return ResultBatch.unsearched(self.empty(), torch.empty(0), none, self.scale, costs=costs)

    @property
    def threshold_score(self) -> float:
        """The score where anomalous begins; with a gate, records are also anomalous by their alarm."""
        return self.scale.threshold

    def percentile(self, scores: Any) -> Tensor:
        """The percentage of held-out rows that score no higher, float64 [n]; of a tensor, an array or a list [n]."""
        return self.scale.percentile(torch.as_tensor(scores, dtype=self.reference.dtype))

    @known_arguments
    def update(
        self,
        data: Any = None,
        *,
        forget: Any = None,
        all: bool = False,
        decisions: Any = None,
        encoding: str | None = None,
        progress: bool | Observer = False,
    ) -> Model:
        """Take rows in, and others out; nothing of this model changes.

        New rows join the counts and the memory, and new values the vocabulary. Then the threshold, the alarm and the
        judge are set again on the newest held-out rows. Networks are not trained again: values that came after them are
        new to them, and what they learned from forgotten rows stays in their weights until the next fit.

        Args:
            data: rows to add: a frame, a path, or the name of a dataset; None adds none.
            forget: rows to forget, as many of each as are given; None forgets none.
            all: also add the rows that this model calls anomalous. By default they are skipped, or errors would vouch
                for themselves.
            decisions: what a person decided about cells of `data`: the output of `carat audit` with its column
                `decision` filled in. These rows are added as decided, anomalous or not.
            encoding: of CSV files with rows to add or forget, such as `latin-1`; UTF-8 by default.
            progress: True shows progress bars. An observer is told of stages and remarks.

        Returns:
            The new model. Its `training["history"]` says what was added, skipped and forgotten. Where no row was, the
            same model.
        """
        from carat.jobs import updated_model  # noqa: PLC0415

        return updated_model(
            self, data, forget=forget, all=all, decisions=decisions, encoding=encoding, progress=progress
        )

    @known_arguments
    def with_threshold(self, threshold: Threshold | float) -> Model:
        """The same model with another threshold (a number is a quantile); nothing is refitted."""
        chosen = threshold if isinstance(threshold, Threshold) else Threshold(quantile=threshold)
        return replace(self, threshold=chosen)

    def with_gate(self, gate: str) -> Model:
        """The same model that lists records by score and alarm (`both`), or by the score alone (`score`)."""
        check_gate(gate)
        return replace(self, gate=None) if gate == "score" and self.gate is not None else self

    def unseen(self, data: Any) -> dict[str, dict[str, int]]:
        """For each column, the values of a table that are new to the model, and how many rows have each of them."""
        table = Table.read(open_source(opened(data)), self.schema, self.vocabulary)
        return table.unseen.by_name(self.vocabulary)

    def to(self, device: torch.device | str) -> Model:
        """The same model on a device; this one stays where it is."""
        wanted = device if isinstance(device, torch.device) else pick_device(device)
        if self.device == wanted:
            return self
        # All at once: the context detector and the explainer are one, and must stay so.
        fitted = {
            name: part
            for name, part in (("detector", self.detector), ("explainer", self.explainer), ("graph", self.graph))
            if isinstance(part, Fitted)
        }
        moved: dict[str, Any] = {name: part.to(wanted) for name, part in copy.deepcopy(fitted).items()}
        return replace(self, **moved)

    @cached_property
    def identity(self) -> str:
        """A hash over what decides the model's answers; the same for the same model wherever it is."""
        contents = self.contents()
        return identity_of(contents.facts, contents.documents, contents.tensors)

    def contents(self) -> Contents:
        """What a model folder holds."""
        return contents_of(self)

    @known_arguments
    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the model folder; an existing one is replaced only with `force`."""
        folder = as_path(path)
        check_flag("force", force)
        contents = self.contents()
        contents.facts["identity"] = self.identity
        write_folder(folder, contents, force=force)


def opened(data: Any) -> Any:
    """The data itself where it was given by the name of a dataset."""
    found = named_data(data)
    return found.table if isinstance(found, Dataset) else found


def has_networks(model: Model) -> bool:
    """Whether some part of a model was trained on records: what is counted can be forgotten, what is trained can't."""
    explainer = model.explainer
    beside = explainer.beside_ if isinstance(explainer, Judge) else None
    trained = any(isinstance(part, TransformerExplainer) for part in (explainer, beside))
    return trained or model.graph is not None or model.detector.name not in ("counts", "context")
