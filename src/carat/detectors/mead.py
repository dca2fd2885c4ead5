"""MEAD: a record is normal when its entities' vectors point the same way (Datta et al., 2020)."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, Vocabulary
from carat.detectors.embedding import EmbeddingDetector, EmbeddingNetwork
from carat.protocols import Terms
from carat.training.negatives import UniformEntities

_TINY = 1e-6


class MeadNetwork(EmbeddingNetwork):
    """Score s = ‖Σ_j v_j‖²; the likelihood in the loss is tanh(s)."""

    def __init__(self, vocabulary: Vocabulary, dim: int, negatives: int) -> None:
        super().__init__(vocabulary, dim)
        self.negatives = negatives
        self.noise = UniformEntities(vocabulary)

    def relaxed(self, vectors: Tensor, known: Tensor, present: Tensor) -> Tensor:
        """Rank by s itself: tanh(s) saturates and makes ties. [..., m, dim] → [...]"""
        total = (vectors * known.unsqueeze(-1)).sum(dim=-2)
        return total.square().sum(dim=-1) * (vectors.shape[-2] / present) ** 2

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """− log tanh(s⁺) − Σ log tanh(1 / s⁻), every negative with one known entity replaced at random."""
        ids = ids.to(torch.int64)
        known = ids >= FIRST
        present = known.sum(dim=-1).clamp(min=1)
        shape = (len(ids), self.negatives)
        # The replaced position is drawn among the known entities, by the largest of random numbers.
        weight = torch.rand((*shape, ids.shape[1]), generator=generator, device=ids.device)
        domain = weight.masked_fill(~known[:, None], -1).argmax(dim=-1, keepdim=True)
        entity = self.noise.draw(domain, generator)
        ids, known, present, domain, entity = self.team.rows(ids, known, present, domain, entity)
        negative_ids = ids[:, None].expand(-1, self.negatives, -1).scatter(2, domain, entity)
        positive = self(ids, known, present)
        negative = self(negative_ids, known[:, None], present[:, None])
        likelihood = _log_tanh(positive) + _log_tanh(1 / negative.clamp(min=_TINY)).sum(dim=-1)
        weight_of_record = (present >= 2).float()
        return self.team.ratio(-(likelihood * weight_of_record).sum(), weight_of_record.sum())

    def terms(self, ids: Tensor, known: Tensor, domains: Tensor, entities: Tensor, present: Tensor) -> Terms:
        """‖s + a + b‖² = ‖s‖² + (‖a‖² + 2⟨s, a⟩) + (‖b‖² + 2⟨s, b⟩) + 2⟨a, b⟩."""
        kept = self.vectors_of(ids, known).sum(dim=1)
        new = self.vectors[entities + self.offsets[domains].unsqueeze(-1)]  # [n, t, L, dim]
        scale = (ids.shape[1] / present) ** 2
        unary = new.square().sum(dim=-1) + 2 * (new @ kept[:, None, :, None]).squeeze(-1)

        def pair(i: int, j: int, part: slice) -> Tensor:
            return torch.bmm(new[part, i] * (2 * scale[part])[:, None, None], new[part, j].transpose(1, 2))

        return Terms(scale * kept.square().sum(dim=-1), unary * scale[:, None, None], pair)


def _log_tanh(x: Tensor) -> Tensor:
    return x.clamp(min=_TINY).tanh().log()


class Mead(EmbeddingDetector):
    """Multi-relational Embedding based Anomaly Detection.

    Args:
        dim: size of an entity's vector.
        epochs: passes over the records, at most.
        batch_size: records a step.
        learning_rate: peak of the one-cycle schedule.
        negatives: corrupted copies of each record.
    """

    name = "mead"

    def __init__(
        self,
        *,
        dim: int = 32,
        epochs: int = 30,
        batch_size: int = 512,
        learning_rate: float = 5e-3,
        negatives: int = 10,
    ) -> None:
        super().__init__(
            dim=dim, epochs=epochs, batch_size=batch_size, learning_rate=learning_rate, negatives=negatives
        )

    def _network(self, vocabulary: Vocabulary, marginals: Tensor) -> MeadNetwork:
        return MeadNetwork(vocabulary, self.dim, self.negatives)
