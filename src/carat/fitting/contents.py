"""What a model folder holds of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from carat.detectors import FittedDetector, OutsideDetector
from carat.fitting.store import Contents
from carat.training.fitted import Fitted

if TYPE_CHECKING:
    from carat.fitting.model import Model


def contents_of(model: Model) -> Contents:
    """Facts, documents and tensors; `carat.fitting.loading` reads them back."""
    contents = Contents(
        facts={
            "schema": model.schema.to_json(),
            "threshold": model.threshold.to_json(),
            "training": dict(model.training),
            "detector": _describe(model.detector),
            "explainer": None if model.explainer is None else _describe(model.explainer),
            "graph": None if model.graph is None else _describe(model.graph),
        },
        documents={"vocabulary": model.vocabulary.to_json()},
        tensors={"pairs": model.pairs.tensors(), "reference": {"scores": model.reference}},
    )
    if isinstance(model.detector, FittedDetector):
        contents.tensors["detector"] = model.detector.tensors()
    if model.explainer is not None:
        contents.tensors["explainer"] = model.explainer.tensors()
    if model.graph is not None:
        contents.tensors["graph"] = model.graph.tensors()
    if model.blends:
        contents.facts["blends"] = {name: blend.to_json() for name, blend in model.blends.items()}
    if model.held_out is not None:
        contents.tensors["held_out"] = {"ids": model.held_out}
    if model.lookalikes is not None:
        contents.tensors["lookalikes"] = {"rows": model.lookalikes}
    if model.gate is not None:
        contents.facts["gate"] = model.gate.facts()
        contents.tensors["gate"] = model.gate.tensors()
    return contents


def _describe(part: Fitted | OutsideDetector) -> dict[str, Any]:
    """A part as the manifest names it."""
    if isinstance(part, OutsideDetector):
        return {"outside": part.describe(), "options": part.options()}
    return {"name": part.name, "params": part.params(), "facts": part.facts()}
