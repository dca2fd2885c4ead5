"""The entities of a domain that are nearest to an entity of another one; exact, or by FAISS in huge domains."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, MISSING
from carat.graph.distmult import KnowledgeGraph

APPROXIMATE_ABOVE = 200_000
"""Entities of a domain; up to here the search is exact."""
RECALL, ASKED, NEAREST = 0.97, 256, 100
"""An index looks at as many lists as it takes to find this share of the nearest ones, of so many entities."""
CELLS = 16_000_000
"""Upper limit on the scores held at once."""


class Neighbours:
    """Nearest entities by DistMult: the largest ⟨e ∘ r, t⟩ over the entities t of one domain.

    An entity without an edge in the relation has no neighbours and is nobody's.

    Args:
        graph: the fitted graph.
        approximate_above: domains with more entities are searched by FAISS, if it is installed.
    """

    def __init__(self, graph: KnowledgeGraph, *, approximate_above: int = APPROXIMATE_ABOVE) -> None:
        self.graph = graph
        self.approximate_above = approximate_above
        self._indexes: dict[tuple[int, int], Any] = {}
        self._probes: dict[tuple[int, int, int | None], int] = {}
        self._building = threading.Lock()

    def search(self, ids: Tensor, near: int, domain: int, k: int, through: int | None = None) -> tuple[Tensor, Tensor]:
        """The k nearest entities in `domain` to entities of the domain `near`.

        Args:
            ids: entities of `near`, int64 [b].
            near: number of their domain; shares a relation with `domain`, or with `through`.
            domain: where to search.
            k: how many.
            through: a domain between the two, where they share no relation: the relations are multiplied.

        Returns:
            ids int64 [b, k] and scores [b, k], best first; `MISSING` and −∞ where there are no more.
        """
        graph = self.graph
        ids = graph.legible(ids, near)
        last = int(graph.relations_.number[near if through is None else through, domain])
        first = last if through is None else int(graph.relations_.number[near, through])
        found = torch.full((len(ids), k), MISSING, device=ids.device)
        scores = torch.full((len(ids), k), -torch.inf, device=ids.device)
        rows = ids.to(graph.device_) + int(graph.offsets_[near])
        usable = torch.nonzero((ids >= FIRST).to(graph.device_) & graph.linked_[first, rows]).flatten()
        start, size = int(graph.offsets_[domain]), graph.sizes_[domain]
        allowed = graph.linked_[last, start : start + size]
        if not len(usable) or not allowed.any():
            return found, scores
        relation = graph.network_.relations.detach()
        step = relation[first] if through is None else relation[first] * relation[last]
        queries = graph.network_.entities.detach()[rows[usable]] * step
        if size - FIRST > self.approximate_above and (faiss := _faiss()) is not None:
            asking = torch.nonzero(graph.linked_[first, int(graph.offsets_[near]) :][: graph.sizes_[near]]).flatten()
            asking = asking[:: max(len(asking) // ASKED, 1)][:ASKED] + int(graph.offsets_[near])
            like = graph.network_.entities.detach()[asking] * step
            best, entity = self._approximate(faiss, queries, (domain, last), (near, domain, through), like, allowed, k)
        else:
            best, entity = _exact(queries, graph.vectors_of(domain), allowed, k)
        usable = usable.to(ids.device)
        best, entity = best.to(ids.device), entity.to(ids.device)
        found[usable, : entity.shape[1]] = entity.masked_fill(best == -torch.inf, MISSING)
        scores[usable, : best.shape[1]] = best
        return found, scores

    def _approximate(
        self,
        faiss: Any,
        queries: Tensor,
        key: tuple[int, int],
        asked: tuple[int, int, int | None],
        like: Tensor,
        allowed: Tensor,
        k: int,
    ) -> tuple[Tensor, Tensor]:
        """The same by an inverted-file index, built at the first search of a domain under a relation.

        By inner product the nearest are spread over more lists than by distance, and over how many depends on the
        vectors. So it is tried out, once for each way of asking.

        Args:
            faiss: the module.
            queries: vectors to search for, [b, dim].
            key: the domain and the relation: which index.
            asked: from where and through what: which way of asking.
            like: some queries of that kind, [q, dim].
            allowed: entities that may be found, bool [size].
            k: how many.
        """
        with self._building:
            if key not in self._indexes:
                vectors = _floats(self.graph.vectors_of(key[0])[allowed])
                self._indexes[key] = (_index(faiss, vectors), torch.nonzero(allowed).flatten().cpu())
            index, ids = self._indexes[key]
            if asked not in self._probes:
                exact = _exact(like, self.graph.vectors_of(key[0])[allowed], None, NEAREST)[1]
                self._probes[asked] = _enough(faiss, index, _floats(like), exact.cpu().numpy())
        limits = faiss.SearchParametersIVF(nprobe=self._probes[asked])
        scores, place = index.search(_floats(queries), k, params=limits)
        found = torch.from_numpy(place)
        best = torch.from_numpy(scores).masked_fill(found < 0, -torch.inf)
        return best, ids[found.clamp(min=0)]


def _floats(vectors: Tensor) -> np.ndarray:
    """As FAISS takes them."""
    found: np.ndarray = vectors.cpu().float().contiguous().numpy()
    return found


def _index(faiss: Any, vectors: np.ndarray) -> Any:
    """An inverted file over vectors [n, dim]."""
    lists = max(int(len(vectors) ** 0.5), 1)
    index = faiss.index_factory(vectors.shape[1], f"IVF{lists},Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(vectors)
    index.add(vectors)
    return index


def _enough(faiss: Any, index: Any, queries: np.ndarray, nearest: np.ndarray) -> int:
    """In how many lists to look, so that queries [q, dim] find `RECALL` of their nearest [q, k]."""
    lists = min(max(index.nlist // 8, 8), index.nlist)
    while lists < index.nlist and len(queries):
        _, found = index.search(queries, nearest.shape[1], params=faiss.SearchParametersIVF(nprobe=lists))
        hits = sum(len(np.intersect1d(*both)) for both in zip(found, nearest, strict=True))
        if hits >= RECALL * nearest.size:
            break
        lists = min(2 * lists, index.nlist)
    return int(lists)


def _exact(queries: Tensor, vectors: Tensor, allowed: Tensor | None, k: int) -> tuple[Tensor, Tensor]:
    """Top k over all entities, a part of the queries at a time."""
    parts = []
    for part in queries.split(max(CELLS // len(vectors), 1)):
        scores = part @ vectors.T
        if allowed is not None:
            scores = scores.masked_fill(~allowed, -torch.inf)
        parts.append(scores.topk(min(k, scores.shape[1]), dim=1))
    return torch.cat([best for best, _ in parts]), torch.cat([entity for _, entity in parts])


def _faiss() -> Any:
    """FAISS where the extra `ann` is installed; without it the search is exact, and slower."""
    try:
        import faiss  # noqa: PLC0415 - optional, and it must not be loaded before torch on some systems
    except ImportError:
        return None
    return faiss
