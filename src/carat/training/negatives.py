"""Negative sampling: entities to replace the true ones with, a whole batch at a time."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from carat.data.vocabulary import FIRST, Vocabulary


class UniformEntities(nn.Module):
    """Every entity of a domain with the same probability."""

    entities: Tensor

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        self.register_buffer("entities", vocabulary.sizes - FIRST, persistent=False)

    def draw(self, domains: Tensor, generator: torch.Generator) -> Tensor:
        """An id for each of these domain numbers, int64, same shape."""
        sizes = self.entities[domains]
        share = torch.rand(domains.shape, generator=generator, device=domains.device, dtype=torch.float64)
        return (share * sizes).to(torch.int64).minimum(sizes - 1) + FIRST


class MarginalEntities(nn.Module):
    """Every entity of a domain with its share in the training records, by a look-up in cumulative shares."""

    cumulative: Tensor
    offsets: Tensor
    last: Tensor

    def __init__(self, vocabulary: Vocabulary, marginals: Tensor) -> None:
        super().__init__()
        # Domain d occupies the interval [d, d + 1), so that one sorted list serves all domains.
        parts = marginals.double().split(vocabulary.sizes.tolist())
        cumulative = torch.cat([number + part.cumsum(0).clamp(max=1) for number, part in enumerate(parts)])
        self.register_buffer("cumulative", cumulative, persistent=False)
        self.register_buffer("offsets", vocabulary.offsets, persistent=False)
        self.register_buffer("last", vocabulary.sizes - 1, persistent=False)

    def draw(self, domains: Tensor, generator: torch.Generator) -> Tensor:
        """An id for each of these domain numbers, int64, same shape."""
        share = torch.rand(domains.shape, generator=generator, device=domains.device, dtype=torch.float64)
        row = torch.searchsorted(self.cumulative, domains + share, right=True)
        return (row - self.offsets[domains]).clamp(min=FIRST).minimum(self.last[domains])


class LikelyEntities(nn.Module):
    """Half of the draws by frequency, half with equal chances: for a sum over a whole domain, estimated from a few.

    What is frequent weighs most in such a sum, and what is rare must still be drawn now and then.
    """

    log_shares: Tensor

    def __init__(self, vocabulary: Vocabulary) -> None:
        super().__init__()
        shares = []
        for counts in vocabulary.counts().double().split(vocabulary.sizes.tolist()):
            even = torch.full_like(counts, 1 / max(len(counts) - FIRST, 1)).index_fill_(0, torch.arange(FIRST), 0)
            known = counts.clamp(min=0)
            shares.append((even + known / known.sum()) / 2 if known.sum() > 0 else even)
        self.offsets = vocabulary.offsets.tolist()
        flat = torch.cat(shares)
        self.noise = MarginalEntities(vocabulary, flat)
        self.register_buffer("log_shares", flat.clamp(min=1e-30).log().float(), persistent=False)

    def draw(self, domain: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Places among a domain's entities, int64 [count], and the logs of their shares in the draws, [count]."""
        device = self.log_shares.device
        drawn = self.noise.draw(torch.full((count,), domain, device=device), generator)
        return drawn - FIRST, self.log_shares[drawn + self.offsets[domain]]
