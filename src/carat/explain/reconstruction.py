"""Decoder-R: from its context, which entity was here? Pre-trains the encoder and proposes replacements."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.vocabulary import FIRST, MISSING, Vocabulary
from carat.explain.encoder import RowEncoder
from carat.explain.stacked import DomainLinear
from carat.training import TrainableNetwork
from carat.training.negatives import LikelyEntities, UniformEntities


@dataclass(frozen=True, kw_only=True)
class ReconstructionTask:
    """How records are corrupted in pre-training, and where the loss is taken.

    Args:
        masked: share of entities replaced by the mask token.
        replaced: share of entities replaced by a random one of the same domain.
        intact: share of the other entities that count in the loss too.
        sampled_above: domains with more entities use a sampled softmax.
        samples: entities it draws, half of them by frequency, half with equal chances.
    """

    masked: float = 0.2
    replaced: float = 0.2
    intact: float = 0.1
    sampled_above: int = 20_000
    samples: int = 4_096

    def corrupt(self, ids: Tensor, noise: UniformEntities, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Corrupted ids and where they were corrupted, both [n, m]; missing and unseen entities stay as they are."""
        draw = torch.rand(ids.shape, generator=generator, device=ids.device)
        known = ids >= FIRST
        domains = torch.arange(ids.shape[1], device=ids.device).expand_as(ids)
        masked = known & (draw < self.masked)
        replaced = known & ~masked & (draw < self.masked + self.replaced)
        corrupted = torch.where(replaced, noise.draw(domains, generator), ids)
        return corrupted.masked_fill(masked, MISSING), masked | replaced


class DecoderR(nn.Module):
    """A shared layer, the domain vector beside it, then layers of each domain and a softmax over its entities."""

    tables_of_weights: ClassVar[Mapping[str, str]] = {"output": "entities", "bias": "entities"}

    def __init__(self, vocabulary: Vocabulary, *, width: int, dim: int) -> None:
        super().__init__()
        domains = len(vocabulary)
        self.entities = [size - FIRST for size in vocabulary.sizes.tolist()]
        self.shared = nn.Linear(width, 256)
        self.first = DomainLinear(domains, 256 + dim, 128)
        self.second = DomainLinear(domains, 128, 64)
        # One table for all domains; the reserved ids have no row, so they can never be proposed.
        self.output = nn.Parameter(torch.randn(sum(self.entities), 64) * 64**-0.5)
        self.bias = nn.Parameter(torch.zeros(sum(self.entities)))

    def hidden(self, z: Tensor, domain: Tensor) -> Tensor:
        """z [n, m, width] and the domain vectors [m, dim] → [n, m, 64]."""
        shared = functional.gelu(self.shared(z))
        shared = torch.cat([shared, domain.to(shared.dtype).expand(*shared.shape[:2], -1)], dim=-1)
        return functional.gelu(self.second(functional.gelu(self.first(shared))))

    def tables(self) -> list[tuple[Tensor, Tensor]]:
        """For each domain, the output weights [entities, 64] and biases [entities]."""
        return list(zip(self.output.split(self.entities), self.bias.split(self.entities), strict=True))


class ReconstructionNetwork(TrainableNetwork):
    """Encoder and decoder-R, trained together to restore corrupted records."""

    def __init__(self, vocabulary: Vocabulary, encoder: RowEncoder, task: ReconstructionTask) -> None:
        super().__init__()
        self.encoder = encoder
        self.task = task
        self.decoder = DecoderR(vocabulary, width=encoder.width, dim=encoder.dim)
        self.noise = UniformEntities(vocabulary)
        large = any(entities > task.sampled_above for entities in self.decoder.entities)
        self.likely = LikelyEntities(vocabulary) if large else None

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Cross-entropy at the corrupted positions and at a small share of the intact ones.

        Positions are chosen domain by domain, always the same number of them, the corrupted ones first: the softmax
        is computed nowhere else, and shapes do not change from step to step.
        """
        ids = ids.to(torch.int64)
        corrupted, where = self.task.corrupt(ids, self.noise, generator)
        draw = torch.rand(ids.shape, generator=generator, device=ids.device)
        ids, corrupted, where, draw = self.team.rows(ids, corrupted, where, draw)
        _, z = self.encoder(corrupted)
        intact = (ids >= FIRST) & (draw < self.task.intact)
        priority = torch.where(where, 1 + draw, torch.where(intact, draw, -1.0))
        chosen, index = priority.topk(self._positions(len(ids)), dim=0)  # [k, m]
        z = z.gather(0, index[..., None].expand(-1, -1, z.shape[-1]))
        hidden = self.decoder.hidden(z, self.encoder.domain).unbind(dim=1)
        target, weight = ids.gather(0, index).unbind(dim=1), (chosen >= 0).float()
        losses = [
            self._entity_loss(domain, h, t.clamp(min=FIRST) - FIRST, *table, generator)
            for domain, (h, t, table) in enumerate(zip(hidden, target, self.decoder.tables(), strict=True))
        ]
        return self.team.ratio((torch.stack(losses, dim=1) * weight).sum(), weight.sum())

    def _positions(self, records: int) -> int:
        """Enough for the expected number of positions and four standard deviations more."""
        share = self.task.masked + self.task.replaced
        share += (1 - share) * self.task.intact
        return min(records, math.ceil(records * share + 4 * math.sqrt(records * share * (1 - share))))

    def _entity_loss(
        self,
        domain: int,
        hidden: Tensor,
        target: Tensor,
        weight: Tensor,
        bias: Tensor,
        generator: torch.Generator,
    ) -> Tensor:
        """Cross-entropy [k] of hidden [k, 64] against targets [k] among a domain's entities."""
        if len(weight) <= self.task.sampled_above or self.likely is None:
            return functional.cross_entropy(hidden @ weight.T + bias, target, reduction="none")
        drawn, log_share = self.likely.draw(domain, self.task.samples, generator)
        logits = (hidden @ weight[drawn].T + bias[drawn]).float()
        # Each drawn one stands for as many others as it is unlikely to be drawn. One that is the target itself stands
        # for nothing, and the sum over the others is right on average.
        logits = logits - (log_share + math.log(self.task.samples))
        logits = logits.masked_fill(drawn == target[:, None], -torch.inf)
        true = ((hidden * weight[target]).sum(dim=-1) + bias[target]).float()
        return torch.logaddexp(true, logits.logsumexp(dim=-1)) - true

    @torch.no_grad()
    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """Domain by domain, what would fit with the target domains masked.

        Yields the domain's number, the records that have it as a target [b], and the log-probabilities of its
        entities [b, entities].
        """
        _, z = self.encoder(ids.to(torch.int64).masked_fill(targets, MISSING))
        hidden = self.decoder.hidden(z, self.encoder.domain)
        for domain, (weight, bias) in enumerate(self.decoder.tables()):
            rows = targets[:, domain].nonzero().flatten()
            if len(rows):
                yield domain, rows, (hidden[rows, domain] @ weight.T + bias).log_softmax(dim=-1)

    @torch.no_grad()
    def each_masked(self, ids: Tensor) -> Iterator[tuple[int, Tensor]]:
        """Domain by domain, what would fit with that domain alone masked.

        Yields the domain's number and the log-probabilities of its entities [n, entities], of records ids int64 [n, m].
        All m versions of a record are read at once.
        """
        n, m = ids.shape
        masked = ids[:, None].expand(n, m, m).masked_fill(torch.eye(m, dtype=torch.bool, device=ids.device), MISSING)
        _, z = self.encoder(masked.reshape(n * m, m))
        own = z.view(n, m, m, -1).diagonal(dim1=1, dim2=2).transpose(1, 2)  # [n, m, width]
        hidden = self.decoder.hidden(own, self.encoder.domain)
        for domain, (weight, bias) in enumerate(self.decoder.tables()):
            yield domain, (hidden[:, domain] @ weight.T + bias).log_softmax(dim=-1)
