"""Our methods and the paper's, put together from a model's parts."""

from __future__ import annotations

from carat.recourse.candidates import CountsSource, UnionSource, context, counts, graph
from carat.recourse.engine import Guided, Method
from carat.recourse.parts import ModelParts
from carat.recourse.ranking import BlendRanking, DetectorRanking


def carat(parts: ModelParts) -> Method:
    """The paper's: frozen decoder-P, graph neighbours, detector score."""
    return Guided(
        "carat",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        parts.transformer.frozen,
        graph(parts),
        lambda prefer, cost_weight: DetectorRanking(parts.reference, cost_weight),
    )


def carat_plus(parts: ModelParts) -> Method:
    """Fine-tuned decoder-P, all three sources, the blend."""
    explainer = parts.transformer
    source = UnionSource(
        {"graph": graph(parts), "context": context(parts), "counts": counts(parts)},
        weights={"context": 0.7, "counts": 0.3},
    )
    return Guided(
        "carat-plus",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        explainer,
        source,
        lambda prefer, cost_weight: BlendRanking(parts.reference, explainer, prefer=prefer, cost_weight=cost_weight),
    )


def instant(parts: ModelParts) -> Method:
    """Counts and nothing else."""
    return Guided(
        "instant",
        parts.vocabulary,
        parts.pairs,
        parts.detector,
        parts.counted,
        CountsSource(parts.counted.bayes_),
        lambda prefer, cost_weight: BlendRanking(parts.reference, None, prefer=prefer, cost_weight=cost_weight),
    )
