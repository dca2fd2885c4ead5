"""The parts of a model again, under another vocabulary and other counts: what was trained stays as it was."""

from __future__ import annotations

from typing import TypeVar

from torch import Tensor

from carat.data.training_data import TrainingData
from carat.detectors import FittedDetector, OutsideDetector
from carat.explain import ContextDetector, CountsExplainer, FittedExplainer, Judge, TransformerExplainer
from carat.graph import KnowledgeGraph
from carat.memory import Records
from carat.training import Run
from carat.training.fitted import Fitted

LESSONS = 40_000
"""Entities that the judge learns from in an update, about: it has learned before."""

P = TypeVar("P", bound=Fitted)


def renewed(part: P, data: TrainingData, tensors: dict[str, Tensor] | None = None) -> P:
    """A part with what it has learned, as if it were read from a folder with this vocabulary and these counts."""
    twin = part.clone()
    twin.restore_facts(part.facts())
    held = {name: tensor.cpu() for name, tensor in part.tensors().items()} | (tensors or {})
    twin.restore(held, data.vocabulary, data.pairs)
    return twin


def renewed_explainer(explainer: FittedExplainer, data: TrainingData, run: Run, *, calibrate: bool) -> FittedExplainer:
    """An explainer that knows the records of `data`; only with `calibrate` it learns from what is held out there."""
    records = {}
    if isinstance(explainer, Judge):
        stored = Records.of(data.train, data.vocabulary).tensors()
        records = {f"memory.{name}": tensor for name, tensor in stored.items()}
    twin = renewed(explainer, data, records).to(run.device)
    if not calibrate:
        return twin
    if isinstance(twin, Judge):
        return twin.relearn(data, run, cells=LESSONS, begin=True)
    if isinstance(twin, CountsExplainer):
        return twin.fit(data, run)
    return twin.recalibrate(data, run) if isinstance(twin, TransformerExplainer) else twin


def renewed_detector(
    detector: FittedDetector | OutsideDetector,
    explainer: FittedExplainer | None,
    data: TrainingData,
    run: Run,
    *,
    calibrate: bool,
) -> FittedDetector | OutsideDetector:
    """A detector that knows the counts of `data`; one from outside is told what the ids mean."""
    if isinstance(detector, OutsideDetector):
        return detector.attach(data.vocabulary)
    if isinstance(detector, ContextDetector):
        assert explainer is not None
        twin: FittedDetector = detector.clone().attach(explainer)
        twin.restore_facts(detector.facts())
    else:
        twin = renewed(detector, data)
    twin.to(run.device)
    return twin.settled(data.held_out) if calibrate else twin


def renewed_graph(graph: KnowledgeGraph | None, data: TrainingData, run: Run) -> KnowledgeGraph | None:
    """A graph whose edges are those of the counts of `data`."""
    return None if graph is None else renewed(graph, data).to(run.device)
