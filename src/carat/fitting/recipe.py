"""What a model is to be made of: a detector, an explainer, a graph, each fresh and unfitted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from carat.arguments import check_flag
from carat.data.schema import Schema
from carat.detectors import FittedDetector, OutsideDetector, outside_detector
from carat.detectors.encodings import Encoding
from carat.errors import InputError
from carat.explain import ContextDetector, FittedExplainer, Judge, TransformerExplainer
from carat.graph import KnowledgeGraph
from carat.profiles import Profile
from carat.registry import DETECTORS, EXPLAINERS, PROFILES
from carat.results.scale import Threshold
from carat.training.box import Box


@dataclass(frozen=True)
class Recipe:
    """The parts of a model before they are fitted, and where anomalous will begin.

    `fresh` clones the parts, so that a recipe can be used for any number of fits and what was given stays as it was.

    Args:
        profile: its name, as a fact.
        detector: gives scores.
        explainer: gives likelihoods; None for none.
        graph: gives neighbours; None for none.
        threshold: where anomalous begins.
        box: how long the networks may train.
    """

    profile: str
    detector: FittedDetector | OutsideDetector
    explainer: FittedExplainer | None
    graph: KnowledgeGraph | None
    threshold: Threshold
    box: Box = field(default_factory=Box)

    @classmethod
    def of(
        cls,
        *,
        profile: str = "fast",
        detector: Any = None,
        encoding: Encoding | Literal["auto"] | None = "auto",
        takes: Literal["frame", "ids"] = "frame",
        explainer: str | FittedExplainer | Literal[False] | None = None,
        memory: bool = True,
        graph: KnowledgeGraph | bool | None = None,
        threshold: float | Threshold = 0.01,
        minutes: float | None = None,
        steps: int | None = None,
    ) -> Recipe:
        """From the arguments of `fit`: a profile names defaults, an argument always wins."""
        defaults: Profile = PROFILES.find(profile, argument=True).load()()
        explaining = _explainer(explainer, defaults, memory)
        chosen = _detector(detector, defaults, encoding, takes)
        if isinstance(chosen, ContextDetector) and explaining is None:
            raise InputError("the detector 'context' is the explainer; it can't be fitted without one")
        quantile = threshold if isinstance(threshold, Threshold) else Threshold(quantile=threshold)
        box = Box.of(minutes, steps, defaults.minutes)
        return cls(profile, chosen, explaining, _graph(graph, defaults, explaining), quantile, box)

    def fresh(self, schema: Schema) -> Recipe:
        """The same with clones of all parts; the graph follows the schema's metapaths where it has none of its own."""
        detector = self.detector.clone()
        explainer = None if self.explainer is None else self.explainer.clone()
        graph = self.graph
        if graph is not None:
            graph = graph.clone(metapaths=graph.metapaths or schema.metapaths)
        if isinstance(detector, ContextDetector):
            assert explainer is not None
            detector.attach(explainer)
        return replace(self, detector=detector, explainer=explainer, graph=graph)

    def describe(self) -> list[Any]:
        """The parts and their arguments, for what must be equal when a fit is resumed."""
        return [
            part.describe() if isinstance(part, OutsideDetector) else [part.name, part.params()]
            for part in (self.detector, self.explainer, self.graph)
            if part is not None
        ]


def _detector(
    detector: Any,
    defaults: Profile,
    encoding: Encoding | Literal["auto"] | None,
    takes: Literal["frame", "ids"],
) -> FittedDetector | OutsideDetector:
    if takes not in ("frame", "ids"):
        raise InputError(f"`takes` must be 'frame' or 'ids', got {takes!r}")
    if detector is None or isinstance(detector, str | FittedDetector):
        for name, given, usual in (("encoding", encoding, "auto"), ("takes", takes, "frame")):
            if given != usual:
                raise InputError(f"`{name}` has no effect without a detector of your own; leave it out")
    if detector is None or isinstance(detector, str):
        made: FittedDetector = DETECTORS.find(detector or defaults.detector, argument=True).load()()
        return made
    if isinstance(detector, FittedDetector):
        return detector
    return outside_detector(detector, encoding=encoding, takes=takes)


def _explainer(
    explainer: str | FittedExplainer | Literal[False] | None, defaults: Profile, memory: bool
) -> FittedExplainer | None:
    if explainer is False:
        return None
    if isinstance(explainer, FittedExplainer):
        made = explainer
    else:
        usual = defaults.explainer if memory or defaults.explainer != Judge.name else defaults.plain
        name = explainer or usual
        known = {defaults.plain: defaults.plain_params, defaults.explainer: defaults.explainer_params}
        made = EXPLAINERS.find(name, argument=True).load()(**known.get(name, {}))
    if isinstance(made, Judge) and not memory:
        raise InputError("the explainer 'judge' keeps the training rows; choose another explainer, or allow `memory`")
    return made


def _graph(
    graph: KnowledgeGraph | bool | None, defaults: Profile, explainer: FittedExplainer | None
) -> KnowledgeGraph | None:
    """Without a trained explainer no method asks for a graph, so by default there is none either."""
    if isinstance(graph, KnowledgeGraph):
        return graph
    wanted = _has_transformer(explainer) if graph is None else check_flag("graph", graph)
    return KnowledgeGraph(**defaults.graph_params) if wanted else None


def _has_transformer(explainer: FittedExplainer | None) -> bool:
    if isinstance(explainer, Judge):
        return explainer.beside == TransformerExplainer.name
    return isinstance(explainer, TransformerExplainer)
