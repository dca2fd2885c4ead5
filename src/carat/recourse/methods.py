"""Our methods and the paper's, put together from a model's parts."""

from __future__ import annotations

from carat.explain import CountsExplainer
from carat.protocols import CandidateSource
from carat.recourse.candidates import CountsSource, UnionSource, context, counts, graph
from carat.recourse.engine import Guided, Method
from carat.recourse.parts import ModelParts
from carat.recourse.ranking import BlendRanking, DetectorRanking, WholeRecord
from carat.recourse.recollection import Together, memory


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
    """The judge or the fine-tuned decoder-P, every source that the model has, the blend."""
    sources: dict[str, CandidateSource] = {
        "graph": graph(parts),
        "context": context(parts),
        "counts": counts(parts),
    }
    weights = {"context": 0.7, "counts": 0.3}
    if parts.judge is not None:
        sources, weights = {**sources, "memory": memory(parts)}, {"context": 0.4, "counts": 0.1, "memory": 0.5}
    return _blended("carat-plus", parts, UnionSource(sources, weights=weights), parts.transformer)


def instant(parts: ModelParts) -> Method:
    """The judge's votes and counts, or counts and nothing else."""
    if parts.judge is None:
        assert isinstance(parts.explainer, CountsExplainer)
        return _blended("instant", parts, CountsSource(parts.explainer.bayes_), None)
    sources: dict[str, CandidateSource] = {"memory": memory(parts), "counts": counts(parts)}
    return _blended("instant", parts, UnionSource(sources, weights={"memory": 0.8, "counts": 0.2}), None)


def _blended(name: str, parts: ModelParts, source: CandidateSource, reader: WholeRecord | None) -> Method:
    explainer = parts.explainer
    assert explainer is not None
    together = None if parts.judge is None else Together(parts.memory)

    def ranking(prefer: float, cost_weight: float) -> BlendRanking:
        return BlendRanking(parts.reference, reader, prefer=prefer, cost_weight=cost_weight, together=together)

    return Guided(name, parts.vocabulary, parts.pairs, parts.detector, explainer, source, ranking)
