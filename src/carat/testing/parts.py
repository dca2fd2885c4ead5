"""What sources and methods are tried on: parts of one small model of the planted table, fitted once."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any, Literal, TypeVar

from torch import Tensor

from carat.data import TrainingData
from carat.detectors import FittedDetector, OutsideDetector
from carat.errors import InputError
from carat.explain import ContextDetector, FittedExplainer, Judge, TransformerExplainer
from carat.fitting import Model, fit, prepare
from carat.graph import KnowledgeGraph
from carat.recourse.parts import NEEDS, ModelParts
from carat.testing.check import words_of
from carat.testing.planted import planted_table

P = TypeVar("P")


def small_explainer(**changes: Any) -> TransformerExplainer:
    """A transformer that learns the planted table in a few seconds."""
    settings: dict[str, Any] = {"dim": 16, "layers": 1, "heads": 2, "bilinear": 8, "epochs": (25, 15, 8)}
    return TransformerExplainer(**{**settings, "batch_size": 64, **changes})


@cache
def trained() -> Model:
    """A model of the planted table with a trained explainer and a graph."""
    return fit(
        planted_table(), detector="counts", explainer=small_explainer(), graph=KnowledgeGraph(epochs=20), device="cpu"
    )


@cache
def counted() -> Model:
    """A model of the planted table with the counts explainer and nothing trained."""
    return fit(planted_table(), profile="instant", memory=False, device="cpu")


@cache
def judging(*, beside: Literal["transformer", "counts"] | None = None) -> Model:
    """A model of the planted table with the judge, which remembers the records."""
    quick = small_explainer(epochs=(12, 8, 4), learning_rate=6e-3, tuning_rate=2e-3).params()
    judge = Judge(beside=beside, beside_params=quick if beside == "transformer" else None)
    return fit(planted_table(), detector="counts", explainer=judge, graph=False, device="cpu")


@cache
def training_data() -> TrainingData:
    """What these models were fitted on."""
    prepared = prepare(planted_table())
    return TrainingData.split(prepared.table.ids, prepared.vocabulary, fold=prepared.fold(0))


def model_for(needs: Iterable[str] = (), detector: Any = "counts") -> Model:
    """A model that has what is needed and nothing more, so that a need that nobody named is found out.

    Args:
        needs: see `carat.recourse.parts.NEEDS`.
        detector: as `carat.fit` takes it.
    """
    needs = set(needs)
    for need in sorted(needs - set(NEEDS)):
        raise InputError(f"there is no need '{need}'; there is: {', '.join(NEEDS)}")
    if {"transformer", "counts"} <= needs and "memory" not in needs:
        raise InputError("no model has both a trained explainer and the counts explainer; name one of the two")
    carrier = trained() if needs & {"transformer", "graph"} else counted()
    explainer: FittedExplainer | None = None
    if "memory" in needs:
        explainer = judging(beside="transformer" if "transformer" in needs else None).explainer
    elif "transformer" in needs:
        explainer = trained().explainer
    elif needs & {"counts", "explainer"} or detector == "context":
        explainer = counted().explainer
    scorer, reference = _scored(detector, explainer)
    graph = carrier.graph if "graph" in needs else None
    return replace(carrier, detector=scorer, reference=reference, explainer=explainer, graph=graph)


def parts_of(model: Model, needs: Iterable[str] = ()) -> ModelParts:
    """The parts of such a model, with the training records where they are needed."""
    return replace(model.parts(), records=training_data() if "records" in set(needs) else None)


def make(factory: Callable[[ModelParts], P], parts: ModelParts, needs: Iterable[str]) -> P:
    """A source or method of these parts; where that fails, it may be for a need that nobody named."""
    try:
        return factory(parts)
    except Exception as error:
        has = ", ".join(needs) or "no explainer, no graph and no records"
        raise AssertionError(
            f"it can't be made of parts with {has} ({words_of(error)}); name all that it needs in `needs`"
        ) from error


def _scored(detector: Any, explainer: FittedExplainer | None) -> tuple[FittedDetector | OutsideDetector, Tensor]:
    """A detector fitted on the planted table, and its scores of the held-out records, ascending, [r]."""
    if detector != "context":
        fitted = _scoring(detector) if isinstance(detector, str) else _fitted(detector)
        return fitted.detector, fitted.reference
    assert explainer is not None
    context = ContextDetector().attach(explainer).fit(training_data())
    return context, context.score(training_data().held_out).sort().values


def _fitted(detector: Any) -> Model:
    return fit(planted_table(), detector=detector, explainer=False, device="cpu")


@cache
def _scoring(name: str) -> Model:
    return _fitted(name)
