"""APE: a record is normal when its entities fit each other pair by pair (Chen et al., 2016)."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.vocabulary import FIRST, Vocabulary
from carat.detectors.embedding import EmbeddingDetector, EmbeddingNetwork
from carat.protocols import Terms
from carat.training.negatives import MarginalEntities


class ApeNetwork(EmbeddingNetwork):
    """Score log S = Σ_{i<j} w_ij ⟨v_i, v_j⟩ + c with w_ij ≥ 0."""

    log_marginals: Tensor

    def __init__(self, vocabulary: Vocabulary, marginals: Tensor, dim: int, negatives: int) -> None:
        super().__init__(vocabulary, dim)
        domains = len(vocabulary)
        self.negatives = negatives
        # softplus(0.5413) = 1: all pairs start with the same weight.
        self.pair_weight = nn.Parameter(torch.full((domains, domains), 0.5413))
        self.constant = nn.Parameter(torch.zeros(()))
        self.noise = MarginalEntities(vocabulary, marginals)
        self.register_buffer("log_marginals", marginals.clamp(min=1e-12).log(), persistent=False)

    def weights(self) -> Tensor:
        """The w_ij as a symmetric matrix with an empty diagonal, [m, m]."""
        upper = functional.softplus(self.pair_weight).triu(1)
        return upper + upper.T

    def relaxed(self, vectors: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """The sum over pairs, rescaled to all pairs where entities are not known. [..., m, dim] → [...]"""
        vectors = vectors * known.unsqueeze(-1)
        domains = vectors.shape[-2]
        inner = vectors @ vectors.transpose(-1, -2)
        total = (inner * self.weights()).sum(dim=(-1, -2)) / 2
        return total * (domains * (domains - 1)) / (present * (present - 1)) + self.constant

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Noise-contrastive estimation with k negatives, each replacing one entity from its domain's marginal.

        The noise probability of a negative is that of its new entity, the rest of the record being given; that of
        the record itself is the probability of the entity which the negative replaced.
        """
        ids = ids.to(torch.int64)
        known = ids >= FIRST
        count = known.sum(dim=-1)
        present = count.clamp(min=2)
        weight = torch.rand((len(ids), self.negatives, ids.shape[1]), generator=generator, device=ids.device)
        domain = weight.masked_fill(~known[:, None], -1).argmax(dim=-1)
        entity = self.noise.draw(domain, generator)
        ids, known, count, present, domain, entity = self.team.rows(ids, known, count, present, domain, entity)
        score = self(ids, known, present)
        gain = self._gain(ids, known, domain, entity, present)
        offset = math.log(self.negatives)
        old = ids.gather(1, domain) + self.offsets[domain]
        noise_old = offset + self.log_marginals[old]
        noise_new = offset + self.log_marginals[entity + self.offsets[domain]]
        likelihood = functional.logsigmoid(score[:, None] - noise_old).mean(dim=-1)
        likelihood = likelihood + functional.logsigmoid(noise_new - score[:, None] - gain).sum(dim=-1)
        weight_of_record = (count >= 2).float()
        return self.team.ratio(-(likelihood * weight_of_record).sum(), weight_of_record.sum())

    def terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        """Pairs of kept entities, of a new one with the kept, and of two new ones."""
        vectors, weights, count = self.vectors_of(ids, known), self.weights(), ids.shape[1]
        new = self.vectors[entities + self.offsets[domains].unsqueeze(-1)]  # [n, t, L, dim]
        scale = (count * (count - 1)) / (present * (present - 1))
        inner = vectors @ vectors.transpose(-1, -2)
        constant = (inner * weights).sum(dim=(-1, -2)) / 2 * scale + self.constant
        context = weights[domains] @ vectors  # [n, t, dim]
        unary = (new @ context.unsqueeze(-1)).squeeze(-1) * scale[:, None, None]

        def pair(i: int, j: int, part: slice) -> Tensor:
            weight = scale[part] * weights[domains[part, i], domains[part, j]]
            return torch.bmm(new[part, i] * weight[:, None, None], new[part, j].transpose(1, 2))

        return Terms(constant, unary, pair)

    def _gain(self, ids: Tensor, known: Tensor, domain: Tensor, entity: Tensor, present: Tensor) -> Tensor:
        """By how much the score changes when `entity` [n, k] replaces the one in `domain` [n, k].

        Only the pairs of the replaced entity change, so a negative costs one inner product and not all pairs.
        """
        vectors = self.vectors_of(ids, known)
        context = self.weights() @ vectors  # [n, m, dim]: for each domain, the weighted sum of the others
        context = context.gather(1, domain.unsqueeze(-1).expand(-1, -1, context.shape[-1]))
        old = vectors.gather(1, domain.unsqueeze(-1).expand(-1, -1, vectors.shape[-1]))
        new = self.vectors[entity + self.offsets[domain]]
        domains = ids.shape[-1]
        scale = (domains * (domains - 1)) / (present * (present - 1))
        return ((new - old) * context).sum(dim=-1) * scale[:, None]


class Ape(EmbeddingDetector):
    """Anomaly detection by Probabilistic pairwise Embedding of entities.

    Args:
        dim: size of an entity's vector.
        epochs: passes over the records, at most.
        batch_size: records a step.
        learning_rate: peak of the one-cycle schedule.
        negatives: noise records for each record.
    """

    name = "ape"

    def __init__(
        self,
        *,
        dim: int = 32,
        epochs: int = 30,
        batch_size: int = 512,
        learning_rate: float = 5e-3,
        negatives: int = 5,
    ) -> None:
        super().__init__(
            dim=dim, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, negatives=negatives
        )

    def _network(self, vocabulary: Vocabulary, marginals: Tensor) -> ApeNetwork:
        return ApeNetwork(vocabulary, marginals, self.dim, self.negatives)
