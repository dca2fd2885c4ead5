"""Our methods and the paper's, put together from a model's parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from carat.explain import CountsExplainer
from carat.protocols import CandidateSource
from carat.recourse.candidates import CountsSource, UnionSource, context, counts, graph
from carat.recourse.engine import Guided, Method
from carat.recourse.parts import ModelParts
from carat.recourse.ranking import POOL, READING, SHORTLIST, Blend, BlendRanking, DetectorRanking, Opinion
from carat.recourse.recollection import Reading, Together, Witnessed, memory
from carat.recourse.seen import Seen
from carat.recourse.suspects import Suspects


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
    if parts.judge is None:
        return _blended("carat-plus", parts, sources, Blend({"context": 0.7, "counts": 0.3}, {"reading": READING}))
    begin = Blend({"context": 0.4, "counts": 0.1, "memory": 0.5}, {"together": 0.5, "witnesses": 0.1, "reading": 1.0})
    return _blended("carat-plus", parts, {**sources, "memory": memory(parts)}, begin)


def instant(parts: ModelParts) -> Method:
    """The judge's votes and counts, or counts and nothing else."""
    if parts.judge is None:
        assert isinstance(parts.explainer, CountsExplainer)
        return _blended("instant", parts, {"counts": CountsSource(parts.explainer.bayes_)}, Blend({"counts": 1.0}))
    light = replace(parts, explainer=parts.judge.light)
    sources: dict[str, CandidateSource] = {"memory": memory(parts), "counts": counts(parts)}
    begin = Blend({"memory": 0.8, "counts": 0.2}, {"together": 0.5, "witnesses": 0.1})
    return _blended("instant", light, sources, begin)


def _blended(name: str, parts: ModelParts, sources: Mapping[str, CandidateSource], begin: Blend) -> Method:
    explainer = parts.explainer
    assert explainer is not None
    blend = parts.blends.get(name, begin)
    opinions = {opinion: OPINIONS[opinion](parts) for opinion in blend.opinions}

    # Models without a judge answer as they always did.
    shortlist = SHORTLIST if parts.judge is not None else POOL

    def ranking(prefer: float, cost_weight: float) -> BlendRanking:
        return BlendRanking(
            parts.reference, opinions, blend=blend, prefer=prefer, shortlist=shortlist, cost_weight=cost_weight
        )

    offsets = parts.vocabulary.offsets.to(parts.pairs.keys.device)
    seen = None if parts.judge is None else Seen.of(parts.pairs.singles, offsets, parts.lookalikes)
    several = len(sources) > 1
    source = UnionSource(sources, weights=blend.sources, seen=seen) if several else next(iter(sources.values()))
    suspects = Suspects(explainer, blend.sets) if blend.sets else None
    again = parts.judge is not None
    return Guided(name, parts.vocabulary, parts.pairs, parts.detector, explainer, source, ranking, suspects, again)


OPINIONS: dict[str, Callable[[ModelParts], Opinion]] = {
    "together": lambda parts: Together(parts.memory),
    "witnesses": lambda parts: Witnessed(parts.witnesses),
    "reading": lambda parts: Reading(parts.transformer, short=parts.judge is not None),
}
"""What can be said of whole counterfactuals."""
