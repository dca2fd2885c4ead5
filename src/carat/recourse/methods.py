"""The methods that have a name, put together from a model's parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import Vocabulary
from carat.errors import InputError, nearest
from carat.explain import CountsExplainer, FittedExplainer, TransformerExplainer
from carat.graph import KnowledgeGraph
from carat.protocols import Detector
from carat.recourse.candidates import ContextSource, CountsSource, GraphSource, UnionSource
from carat.recourse.engine import Guided, Method
from carat.recourse.ranking import BlendRanking, DetectorRanking


@dataclass(frozen=True, kw_only=True)
class Parts:
    """What a method may be made of.

    Args:
        vocabulary: what the ids mean.
        pairs: co-occurrence counts.
        detector: gives scores.
        explainer: gives likelihoods, where the model has one.
        graph: gives neighbours, where the model has one.
        reference: scores of normal records, ascending, [r].
        prefer: the dial of the blend, 0 (plausible) to 1 (valid).
    """

    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    explainer: FittedExplainer | None
    graph: KnowledgeGraph | None
    reference: Tensor
    prefer: float = 0.5

    def transformer(self, method: str) -> TransformerExplainer:
        """The trained explainer, or an error that names the refit."""
        if not isinstance(self.explainer, TransformerExplainer):
            raise InputError(
                f"the method '{method}' needs a trained explainer, which this model lacks; "
                "fit it again with --profile fast or paper"
            )
        return self.explainer

    def neighbours(self, method: str) -> KnowledgeGraph:
        """The graph, or an error that names the refit."""
        if self.graph is None:
            raise InputError(
                f"the method '{method}' needs a graph, which this model lacks; "
                "fit it again with --profile fast or paper"
            )
        return self.graph


def carat(parts: Parts) -> Method:
    """The paper's: frozen decoder-P, graph neighbours, detector score."""
    explainer, graph = parts.transformer("carat").frozen, parts.neighbours("carat")
    return Guided(
        "carat",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        explainer,
        GraphSource(graph, parts.vocabulary),
        lambda cost_weight: DetectorRanking(parts.reference, cost_weight),
    )


def carat_plus(parts: Parts) -> Method:
    """Fine-tuned decoder-P, all three sources, the blend."""
    explainer, graph = parts.transformer("carat-plus"), parts.neighbours("carat-plus")
    source = UnionSource(
        {
            "graph": GraphSource(graph, parts.vocabulary),
            "context": ContextSource(explainer),
            "counts": CountsSource.of(parts.pairs, parts.vocabulary),
        },
        weights={"context": 0.7, "counts": 0.3},
    )
    return Guided(
        "carat-plus",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        explainer,
        source,
        lambda cost_weight: BlendRanking(parts.reference, explainer, prefer=parts.prefer, cost_weight=cost_weight),
    )


def instant(parts: Parts) -> Method:
    """Counts and nothing else."""
    if not isinstance(parts.explainer, CountsExplainer):
        raise InputError(
            "the method 'instant' needs the counts explainer, which this model lacks; "
            "fit another one with --profile instant"
        )
    explainer = parts.explainer
    return Guided(
        "instant",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        explainer,
        CountsSource(explainer.bayes_),
        lambda cost_weight: BlendRanking(parts.reference, None, prefer=parts.prefer, cost_weight=cost_weight),
    )


METHODS: dict[str, Callable[[Parts], Method]] = {"carat": carat, "carat-plus": carat_plus, "instant": instant}
"""A new method is one new file and one line here."""


def make_method(name: str, parts: Parts) -> Method:
    """A method by name.

    Raises:
        InputError: for an unknown name, or a model that lacks a part of it.
    """
    if name not in METHODS:
        raise InputError(f"unknown method '{name}'; {nearest(name, METHODS)}")
    return METHODS[name](parts)
