"""Where replacements come from: the graph, the context, the counts, or several of them together."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.explain import TransformerExplainer
from carat.explain.naive_bayes import NaiveBayes
from carat.graph import KnowledgeGraph, Neighbours
from carat.protocols import Candidates, CandidateSource
from carat.recourse.merge import merge
from carat.recourse.parts import ModelParts
from carat.recourse.seen import Seen

FLOOR = -60.0
"""The least log-weight; what is below is out of the question anyway."""

HELD = 64_000_000
"""Probabilities that a source remembers between proposing and weighing, at most."""

Weigh = Callable[[Tensor], Tensor]
"""Log-weights of candidates [n, m, L] for what a source was asked about last."""


@runtime_checkable
class Weigher(Protocol):
    """A source that has an opinion on every entity, not only on those that it proposes."""

    def weigh(self, ids: Tensor, targets: Tensor, candidates: Tensor) -> Tensor:
        """Log-weights of candidates [n, m, L] for the target domains of records ids [n, m]; −∞ at the padding.

        NaN for an entity that came after the source was trained.
        """
        ...


class GraphSource:
    """The nearest entities along the metapaths (Algorithm 1, steps 2 and 3).

    For each target, the nearest to each kept entity in a neighbouring domain, all together. Where there is no such
    entity: those two relations away; and where there is none either, the most frequent entities.

    Args:
        graph: the fitted graph.
        vocabulary: sizes and counts of the domains.
    """

    def __init__(self, graph: KnowledgeGraph, vocabulary: Vocabulary) -> None:
        self.graph = graph
        self.vocabulary = vocabulary
        self.neighbours = Neighbours(graph)

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        """The `limit` nearest to each neighbouring entity."""
        kept = ids.to(torch.int64).masked_fill(targets, MISSING)
        found: list[tuple[int, Tensor, Tensor, Tensor]] = []
        for domain in range(ids.shape[1]):
            rows = targets[:, domain].nonzero().flatten()
            if not len(rows):
                continue
            near: list[tuple[int, int | None]] = [(other, None) for other in self.graph.relations_.neighbours(domain)]
            entities, weight = self._search(kept[rows], domain, near, limit)
            for fallback in (self._two_steps, self._most_frequent):
                empty = (entities != MISSING).sum(dim=1) == 0
                if empty.any():
                    entities, weight = _fill(entities, weight, empty, *fallback(kept[rows[empty]], domain, limit))
            found.append((domain, rows, entities, weight))
        return _assemble(ids, found)

    def _search(
        self, kept: Tensor, domain: int, near: list[tuple[int, int | None]], limit: int
    ) -> tuple[Tensor, Tensor]:
        """All neighbours of records kept [b, m], merged: ids and log-weights [b, L]."""
        ids = [torch.full((len(kept), 0), MISSING, device=kept.device)]
        weights = [torch.full((len(kept), 0), -torch.inf, device=kept.device)]
        for other, between in near:
            entity, score = self.neighbours.search(kept[:, other], other, domain, limit, through=between)
            ids.append(entity)
            weights.append(score.log_softmax(dim=1).nan_to_num(nan=-torch.inf, neginf=-torch.inf))
        merged, weight, _ = merge(torch.cat(ids, dim=1), torch.cat(weights, dim=1))
        return merged, weight

    def _two_steps(self, kept: Tensor, domain: int, limit: int) -> tuple[Tensor, Tensor]:
        return self._search(kept, domain, [*self.graph.relations_.two_steps(domain)], limit)

    def _most_frequent(self, kept: Tensor, domain: int, limit: int) -> tuple[Tensor, Tensor]:
        mine = self.vocabulary.domains[domain]
        frequent = mine.most_frequent(limit)
        counts = torch.from_numpy(mine.counts[frequent - FIRST]).to(kept.device)
        ids = torch.from_numpy(frequent).to(kept.device)
        weight = (counts.double() / counts.sum().clamp(min=1)).clamp(min=1e-12).log().float()
        return ids.expand(len(kept), -1), weight.expand(len(kept), -1)


class DenseSource(ABC):
    """A source with a probability for every entity; it proposes the likeliest."""

    @abstractmethod
    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Part by part: a domain's number, records that have it as a target [b], its entities' [b, entities]."""

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        """The `limit` likeliest entities."""
        return self.opinion(ids, targets, limit, held=0)[0]

    def weigh(self, ids: Tensor, targets: Tensor, candidates: Tensor) -> Tensor:
        """Log-probabilities of given candidates."""
        return _weighed(self.log_probability(ids, targets), candidates)

    def opinion(self, ids: Tensor, targets: Tensor, limit: int, *, held: int = HELD) -> tuple[Candidates, Weigh]:
        """What `propose` gives, and a function that weighs candidates [n, m, L] as `weigh` does.

        It remembers the probabilities for that, up to so many numbers; of larger domains they are computed again.
        """
        found: list[tuple[int, Tensor, Tensor, Tensor]] = []
        parts: list[tuple[int, Tensor, Tensor]] = []
        for domain, rows, log_probability in self.log_probability(ids, targets):
            weight, entity = log_probability.topk(min(limit, log_probability.shape[1]), dim=1)
            found.append((domain, rows, entity + FIRST, weight))
            held -= log_probability.numel()
            parts = [*parts, (domain, rows, log_probability)] if held >= 0 else []

        def weigh(candidates: Tensor) -> Tensor:
            return _weighed(parts, candidates) if held >= 0 else self.weigh(ids, targets, candidates)

        return _assemble(ids, found), weigh


def _weighed(parts: Iterable[tuple[int, Tensor, Tensor]], candidates: Tensor) -> Tensor:
    """Log-weights [n, m, L] of candidates, from parts as `DenseSource.log_probability` gives them."""
    log_weight = torch.full(candidates.shape, -torch.inf, device=candidates.device)
    for domain, rows, log_probability in parts:
        wanted = candidates[rows, domain]
        last = log_probability.shape[1] - 1
        found = log_probability.gather(1, (wanted - FIRST).clamp(min=0, max=last))
        found = found.masked_fill(wanted - FIRST > last, torch.nan)
        log_weight[rows, domain] = found.masked_fill(wanted == MISSING, -torch.inf)
    return log_weight


class ContextSource(DenseSource):
    """What decoder-R would put there, the target domains masked.

    Args:
        explainer: the fitted explainer.
    """

    def __init__(self, explainer: TransformerExplainer) -> None:
        self.explainer = explainer

    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Decoder-R's softmax."""
        return self.explainer.log_probability(ids, targets)


class CountsSource(DenseSource):
    """What fits best by pair counts, the target domains not counting as context.

    Args:
        bayes: the counts, ready to ask.
    """

    def __init__(self, bayes: NaiveBayes) -> None:
        self.bayes = bayes

    @classmethod
    def of(cls, pairs: Pairs, vocabulary: Vocabulary, *, smoothing: float = 0.1) -> CountsSource:
        """From counts, on their device."""
        return cls(NaiveBayes(pairs.to("cpu"), vocabulary, smoothing).to(pairs.keys.device))

    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Pairwise naive Bayes, normalised over the domain."""
        kept = ids.to(torch.int64).masked_fill(targets, MISSING)
        size = self.bayes.rows_a_part()
        for start in range(0, len(kept), size):
            fitted = self.bayes.fit(kept[start : start + size]).split(self.bayes.sizes, dim=1)
            for domain, log_fit in enumerate(fitted):
                rows = targets[start : start + size, domain].nonzero().flatten()
                if len(rows):
                    yield domain, rows + start, log_fit[rows, FIRST:].log_softmax(dim=1)


class UnionSource:
    """Everything that any of several sources proposes, weighed by those that have an opinion on all of it.

    Args:
        sources: by name.
        weights: of the weighers' log-weights in the total, by name; None is the same for all.
        seen: how often each entity occurs, in the vocabulary's layout; given, an entity that training saw once is no
            candidate while a likelier one is that it saw more often, nor is one that looks like a slip of another
            candidate. None keeps all.
    """

    def __init__(
        self,
        sources: Mapping[str, CandidateSource],
        weights: Mapping[str, float] | None = None,
        *,
        seen: Seen | None = None,
    ) -> None:
        self.sources, self.seen = dict(sources), seen
        weighers = [name for name, source in self.sources.items() if isinstance(source, Weigher)]
        self.weights = dict.fromkeys(weighers, 1 / max(len(weighers), 1)) if weights is None else dict(weights)

    def weighed(self, ids: Tensor, targets: Tensor, candidates: Tensor) -> dict[str, Tensor]:
        """What the sources that count in the total give candidates [n, m, L], each [n, m, L], none below the floor."""
        weighers = {name: source for name, source in self.sources.items() if isinstance(source, Weigher)}
        told = _agreed({name: weighers[name].weigh(ids, targets, candidates) for name in self.weights})
        return {name: weight.clamp(min=FLOOR) for name, weight in told.items()}

    def propose(self, ids: Tensor, targets: Tensor, limit: int) -> Candidates:
        """Up to `limit` of each source, each entity once."""
        slots = targets.nonzero(as_tuple=True)
        proposed, weigh = {}, {}
        for name, source in self.sources.items():
            if isinstance(source, DenseSource):
                proposed[name], weigh[name] = source.opinion(ids, targets, limit)
            else:
                proposed[name] = source.propose(ids, targets, limit)
                if isinstance(source, Weigher):
                    weigh[name] = partial(source.weigh, ids, targets)
        listed = torch.cat([part.ids[slots] for part in proposed.values()], dim=1)  # [p, ΣL]
        weights = torch.cat([part.log_weight[slots] for part in proposed.values()], dim=1)
        merged, _, place = merge(listed, weights)
        found = _scatter(ids, slots, merged, MISSING)
        by_source, start = {}, 0
        for name, part in proposed.items():
            width = part.ids.shape[2]
            if name in weigh:
                by_source[name] = weigh[name](found)
            else:
                own = part.log_weight[slots]
                # Padding has no place of its own and goes to an extra column, which is cut off again.
                mine = torch.where(own > -torch.inf, place[:, start : start + width], merged.shape[1])
                weight = torch.full((len(merged), merged.shape[1] + 1), -torch.inf, device=ids.device)
                by_source[name] = _scatter(ids, slots, weight.scatter(1, mine, own)[:, :-1], -torch.inf)
            start += width
        by_source |= _agreed({name: by_source[name] for name in self.weights})
        total = torch.stack([weight.nan_to_num(nan=-torch.inf) for weight in by_source.values()]).amax(dim=0)
        if self.weights:
            # A floor, for 0 times a weight of −∞ would be no number.
            total = torch.stack([w * by_source[name].clamp(min=FLOOR) for name, w in self.weights.items()]).sum(dim=0)
        total = total.masked_fill(found == MISSING, -torch.inf)
        if self.seen is not None:
            found = found.masked_fill(self.seen.idle(ids, found, total), MISSING)
            total = total.masked_fill(found == MISSING, -torch.inf)
        return Candidates(found, total, by_source)


def graph(parts: ModelParts) -> GraphSource:
    """Of a model's parts."""
    return GraphSource(parts.neighbours, parts.vocabulary)


def context(parts: ModelParts) -> ContextSource:
    """Of a model's parts."""
    return ContextSource(parts.transformer)


def counts(parts: ModelParts) -> CountsSource:
    """Of a model's parts."""
    return CountsSource.of(parts.pairs, parts.vocabulary)


def _agreed(told: dict[str, Tensor]) -> dict[str, Tensor]:
    """Log-weights by source, each [n, m, L], with NaN, of which a source knows nothing, as the others see it.

    Their mean; the floor where nobody knows.
    """
    stacked = torch.stack(list(told.values())) if told else torch.empty(0)
    if not stacked.isnan().any():
        return told
    others = stacked.clamp(min=FLOOR).nanmean(dim=0).nan_to_num(nan=FLOOR)
    return {name: torch.where(weight.isnan(), others, weight) for name, weight in told.items()}


def _fill(
    entities: Tensor, weight: Tensor, empty: Tensor, new_entities: Tensor, new_weight: Tensor
) -> tuple[Tensor, Tensor]:
    """Put new lists [e, L'] where lists [b, L] are empty, bool [b]; the narrower of the two is padded."""
    width = max(entities.shape[1], new_entities.shape[1])
    filled = torch.full((len(entities), width), MISSING, device=entities.device)
    log_weight = torch.full((len(entities), width), -torch.inf, device=entities.device)
    filled[:, : entities.shape[1]], log_weight[:, : weight.shape[1]] = entities, weight
    rows = empty.nonzero().flatten()
    filled[rows, : new_entities.shape[1]], log_weight[rows, : new_weight.shape[1]] = new_entities, new_weight
    return filled, log_weight


def _assemble(ids: Tensor, found: list[tuple[int, Tensor, Tensor, Tensor]]) -> Candidates:
    """Lists of single domains, each (domain, records, entities [b, L], log-weights [b, L]), in one padded tensor."""
    width = max((entities.shape[1] for _, _, entities, _ in found), default=0)
    all_ids = torch.full((*ids.shape, width), MISSING, dtype=torch.int64, device=ids.device)
    log_weight = torch.full(all_ids.shape, -torch.inf, device=ids.device)
    for domain, rows, entities, weight in found:
        all_ids[rows, domain, : entities.shape[1]] = entities
        log_weight[rows, domain, : weight.shape[1]] = weight
    return Candidates(all_ids, log_weight)


def _scatter(ids: Tensor, slots: tuple[Tensor, ...], values: Tensor, fill: float) -> Tensor:
    """Values [p, L] of single targets in a padded tensor [n, m, L]."""
    spread = torch.full((*ids.shape, values.shape[1]), fill, dtype=values.dtype, device=ids.device)
    spread[slots] = values
    return spread
