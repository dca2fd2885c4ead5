"""`load`: a model folder becomes a `Model` again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from torch import Tensor

from carat.arguments import known_arguments
from carat.data.pairs import Pairs
from carat.data.schema import Schema
from carat.data.vocabulary import Vocabulary
from carat.detectors import FittedDetector, OutsideDetector, outside_detector
from carat.detectors.encodings import Encoding
from carat.errors import InputError, ModelFolderError
from carat.explain import ContextDetector, FittedExplainer
from carat.fitting.model import Model
from carat.fitting.store import as_path, read_folder
from carat.graph import KnowledgeGraph
from carat.recourse import Blend
from carat.registry import DETECTORS, EXPLAINERS
from carat.results.gate import Gate
from carat.results.scale import Threshold
from carat.training.fitted import Fitted

KINDS = {"sklearn": "scikit-learn detector", "pyod": "PyOD detector"}
"""What messages call the kinds of outside detectors."""


@known_arguments
def load(
    path: str | Path,
    *,
    detector: Any = None,
    encoding: Encoding | Literal["auto"] | None = "auto",
    takes: Literal["frame", "ids"] | None = None,
) -> Model:
    """Read a model folder back.

    Args:
        path: the folder.
        detector: the outside detector that the model was fitted with, already fitted; such a detector is not stored.
        encoding: how it sees categories; `auto` takes what the model was fitted with.
        takes: what a callable is given; None takes what the model was fitted with.
    """
    contents = read_folder(as_path(path))
    facts = contents.facts
    vocabulary = Vocabulary.from_json(contents.documents["vocabulary"])
    pairs = Pairs.from_tensors(contents.tensors["pairs"])
    explainer: FittedExplainer | None = None
    if facts["explainer"] is not None:
        explainer = EXPLAINERS.find(facts["explainer"]["name"]).load()(**facts["explainer"]["params"])
        assert explainer is not None
        _restore(explainer, facts["explainer"], contents.tensors["explainer"], vocabulary, pairs)
    graph = None
    if facts.get("graph") is not None:
        graph = KnowledgeGraph(**facts["graph"]["params"])
        _restore(graph, facts["graph"], contents.tensors["graph"], vocabulary, pairs)
    described = facts["detector"]
    restored: FittedDetector | OutsideDetector
    if "outside" in described:
        restored = _outside(path, described, detector, encoding, takes).attach(vocabulary)
    else:
        if detector is not None:
            raise InputError(f"{path}: has its own detector '{described['name']}'; leave detector out")
        own: FittedDetector = DETECTORS.find(described["name"]).load()(**described["params"])
        if isinstance(own, ContextDetector) and explainer is not None:
            own.attach(explainer)
        _restore(own, described, contents.tensors["detector"], vocabulary, pairs)
        restored = own
    return Model(
        schema=Schema.from_json(facts["schema"]),
        vocabulary=vocabulary,
        pairs=pairs,
        detector=restored,
        explainer=explainer,
        reference=contents.tensors["reference"]["scores"],
        threshold=Threshold(**facts["threshold"]),
        graph=graph,
        blends={name: Blend(**blend) for name, blend in facts.get("blends", {}).items()},
        lookalikes=contents.tensors.get("lookalikes", {}).get("rows"),
        gate=None if facts.get("gate") is None else Gate.from_stored(contents.tensors["gate"], facts["gate"]),
        held_out=contents.tensors.get("held_out", {}).get("ids"),
        training=facts["training"],
    )


def _outside(
    path: str | Path,
    described: Mapping[str, Any],
    detector: Any,
    encoding: Encoding | Literal["auto"] | None,
    takes: Literal["frame", "ids"] | None,
) -> OutsideDetector:
    """An adapter around the detector that was given, spoken to as the one that the model was fitted with."""
    if detector is None:
        raise ModelFolderError(
            f"{path}: its detector '{described['outside']}' is from outside and not stored; "
            "attach it in Python: carat.load(path, detector=…)"
        )
    if isinstance(detector, str):
        raise InputError(f"{path}: `detector` must be the fitted detector itself, got the name '{detector}'")
    # Before the options, which would not fit a detector of another kind.
    _check_kind(path, described["outside"], outside_detector(detector).describe())
    options = dict(described["options"])
    if encoding != "auto":
        options["encoding"] = encoding
    if takes is not None:
        options["takes"] = takes
    given = outside_detector(detector, **options)
    if given.options() != described["options"]:
        ((name, wanted),) = described["options"].items()
        raise InputError(
            f"{path}: was fitted with `{name}` {wanted!r}, got {given.options()[name]!r}; give what it was fitted with"
        )
    return given


def _check_kind(path: str | Path, wanted: str, given: str) -> None:
    """Refuse another detector than the one that the model was fitted with, both as `describe` has them."""
    if wanted != given:
        raise InputError(
            f"{path}: was fitted with {_in_words(wanted)}, and `detector` is {_in_words(given)}; give the one that it "
            "was fitted with"
        )


def _in_words(described: str) -> str:
    """An outside detector as messages call it.

    >>> _in_words("sklearn:IsolationForest"), _in_words("callable:score_rows")
    ('the scikit-learn detector IsolationForest', 'the callable score_rows')
    """
    kind, _, name = described.partition(":")
    return f"the {KINDS.get(kind, kind)} {name}"


def _restore(
    part: Fitted,
    described: Mapping[str, Any],
    tensors: Mapping[str, Tensor],
    vocabulary: Vocabulary,
    pairs: Pairs,
) -> None:
    part.restore_facts(described["facts"])
    part.restore(tensors, vocabulary, pairs)
