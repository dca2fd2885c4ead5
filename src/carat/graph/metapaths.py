"""Which domains belong together: paths given by the user, or discovered from mutual information."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, Vocabulary

SAMPLE = 20_000
"""Records that discovery looks at: enough to compare domains, and quick on a table of millions."""


def discover(
    ids: Tensor, vocabulary: Vocabulary, *, seed: int = 0, advance: Callable[[int], None] | None = None
) -> tuple[tuple[str, ...], ...]:
    """For each domain, the two it is most associated with, as a path with the domain in the middle.

    Of two domains there is only one path. The same records and seed give the same paths.

    Args:
        ids: training records, [n, m].
        vocabulary: the domains' names.
        seed: decides the sample and the shuffling.
        advance: told of every two domains compared, for a progress display.
    """
    generator = torch.Generator().manual_seed(seed)
    ids = ids.cpu()
    if len(ids) > SAMPLE:
        ids = ids[torch.randperm(len(ids), generator=generator)[:SAMPLE]]
    strength = association(ids, generator, advance)
    names = vocabulary.names
    paths: dict[frozenset[tuple[str, ...]], tuple[str, ...]] = {}
    for middle, name in enumerate(names):
        # A stable sort: among equals the earlier column wins.
        nearest = strength[middle].argsort(descending=True, stable=True).tolist()
        best = [other for other in nearest if other != middle][:2]
        first, *last = (names[other] for other in sorted(best))
        path = (first, name, *last)
        paths.setdefault(frozenset((path, path[::-1])), path)
    return tuple(paths.values())


def association(ids: Tensor, generator: torch.Generator, advance: Callable[[int], None] | None = None) -> Tensor:
    """Normalised mutual information of every two columns of ids [n, m], corrected for chance; symmetric [m, m].

    Two columns of many rare entities share information by accident: nearly every pair of them occurs once. What the
    columns share after one of them is shuffled is exactly that accident, and is taken off.
    """
    domains = ids.shape[1]
    strength = torch.zeros((domains, domains), dtype=torch.float64)
    for low in range(domains):
        for high in range(low + 1, domains):
            known = (ids[:, low] >= FIRST) & (ids[:, high] >= FIRST)
            left, right = ids[known, low].to(torch.int64), ids[known, high].to(torch.int64)
            shuffled = right[torch.randperm(len(right), generator=generator)]
            chance = _information(left, shuffled)
            most = (_entropy(left) * _entropy(right)).sqrt() - chance
            if most > 1e-9:
                strength[low, high] = strength[high, low] = ((_information(left, right) - chance) / most).clamp(min=0)
            if advance is not None:
                advance(1)
    return strength


def _information(left: Tensor, right: Tensor) -> Tensor:
    """Mutual information of two columns [n], in nats."""
    joint = left * (int(right.max()) + 1 if len(right) else 1) + right
    return _entropy(left) + _entropy(right) - _entropy(joint)


def _entropy(values: Tensor) -> Tensor:
    """Entropy of a column [n], in nats."""
    share: Tensor = torch.unique(values, return_counts=True)[1].double() / max(len(values), 1)
    return -(share * share.log()).sum()
