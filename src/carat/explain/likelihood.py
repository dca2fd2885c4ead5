"""Decoder-P: how likely is it that this entity belongs in its context?"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.vocabulary import FIRST, MISSING, UNSEEN, Vocabulary
from carat.explain.encoder import RowEncoder
from carat.explain.stacked import DomainLinear
from carat.training import TrainableNetwork
from carat.training.negatives import UniformEntities


@dataclass(frozen=True, kw_only=True)
class LikelihoodTask:
    """How records are corrupted for decoder-P.

    Args:
        unchanged: α, the share of records left alone.
        most: in the others, one to so many entities are replaced, each number equally often; two is where the paper
            stops in its anomalies.
        unseen: share of the replacements that are the unseen id instead of an entity.
    """

    unchanged: float = 0.3
    most: int = 2
    unseen: float = 0.03

    def corrupt(self, ids: Tensor, noise: UniformEntities, generator: torch.Generator) -> tuple[Tensor, Tensor]:
        """Corrupted ids and where an entity was replaced by another one, both [n, m]."""
        device = ids.device
        known = ids >= FIRST
        most = max(min(self.most, ids.shape[1] - 1), 1)
        count = torch.randint(1, most + 1, (len(ids), 1), generator=generator, device=device)
        changed = torch.rand((len(ids), 1), generator=generator, device=device) >= self.unchanged
        order = torch.rand(ids.shape, generator=generator, device=device).masked_fill(~known, 2.0)
        chosen = changed & known & (order.argsort(dim=1).argsort(dim=1) < count)
        domains = torch.arange(ids.shape[1], device=device).expand_as(ids)
        new = noise.draw(domains, generator)
        unseen = torch.rand(ids.shape, generator=generator, device=device) < self.unseen
        result = torch.where(chosen, new.masked_fill(unseen, UNSEEN), ids)
        return result, result != ids


class DecoderP(nn.Module):
    """A bilinear layer between the entity and its context, then a small network of each domain."""

    def __init__(self, domains: int, *, width: int, bilinear: int) -> None:
        super().__init__()
        self.bilinear = nn.Parameter(torch.empty(width, bilinear * width).uniform_(-(width**-0.5), width**-0.5))
        self.bias = nn.Parameter(torch.zeros(bilinear))
        self.first = DomainLinear(domains, bilinear, 32)
        self.second = DomainLinear(domains, 32, 16)
        self.third = DomainLinear(domains, 16, 1)

    def forward(self, x: Tensor, z: Tensor) -> Tensor:
        """x, z [n, m, width] → logits [n, m]."""
        return self._head(self._join(x, z))

    def read(self, base: Tensor, x: Tensor, z: Tensor, changed: Tensor) -> Tensor:
        """The same for C versions of each record, of which most entities are the record's own.

        For those, the bilinear product with the entity is taken once a record instead of once a version.

        Args:
            base: x of the records, [n, m, width].
            x: of the versions, [n, C, m, width].
            z: of the versions, [n, C, m, width].
            changed: where a version differs from its record, bool [n, C, m].

        Returns:
            Logits [n, C, m].
        """
        width, count = base.shape[-1], len(self.bias)
        weight = self.bilinear.view(width, count, width)
        pushed = (base @ weight.permute(2, 0, 1).flatten(1)).unflatten(-1, (width, count))  # [n, m, width, bilinear]
        joined = (z.transpose(1, 2) @ pushed).transpose(1, 2)  # [n, C, m, bilinear]
        joined = joined + self.bias
        joined[changed] = self._join(x[changed], z[changed]).to(joined.dtype)
        logits: Tensor = self._head(joined.flatten(0, 1)).unflatten(0, joined.shape[:2])
        return logits

    def _join(self, x: Tensor, z: Tensor) -> Tensor:
        """x, z [..., width] → [..., bilinear]."""
        pulled = (z @ self.bilinear).unflatten(-1, (len(self.bias), -1))
        # As a product and a sum: a batched product of matrix and vector runs at half the speed on a CPU.
        joined: Tensor = (pulled * x.to(pulled.dtype).unsqueeze(-2)).sum(dim=-1) + self.bias
        return joined

    def _head(self, joined: Tensor) -> Tensor:
        """[n, m, bilinear] → logits [n, m]."""
        hidden = functional.relu(self.second(functional.relu(self.first(joined))))
        logits: Tensor = self.third(hidden)
        return logits.squeeze(-1)


class LikelihoodNetwork(TrainableNetwork):
    """Encoder and decoder-P, trained to tell replaced entities from those left alone.

    Args:
        vocabulary: sizes of the domains.
        encoder: the pre-trained encoder.
        task: how records are corrupted.
        bilinear: outputs of the bilinear layer.
        tune: train the encoder too; else it is frozen, as in the paper.
    """

    def __init__(
        self, vocabulary: Vocabulary, encoder: RowEncoder, task: LikelihoodTask, *, bilinear: int, tune: bool
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.encoder.requires_grad_(tune)
        self.tune = tune
        self.task = task
        self.decoder = DecoderP(len(vocabulary), width=encoder.width, bilinear=bilinear)
        self.noise = UniformEntities(vocabulary)

    def train(self, mode: bool = True) -> LikelihoodNetwork:
        """A frozen encoder stays in evaluation mode: no dropout where nothing is learned."""
        super().train(mode)
        if not self.tune:
            self.encoder.eval()
        return self

    def forward(self, ids: Tensor) -> Tensor:
        """Logits [n, m] of ids int64 [n, m]; meaningless where an entity is missing."""
        with torch.set_grad_enabled(self.tune and torch.is_grad_enabled()):
            x, z = self.encoder(ids)
        logits: Tensor = self.decoder(x, z)
        return logits

    def read(self, base: Tensor, records: Tensor) -> Tensor:
        """Logits [n, C, m] of versions int64 [n, C, m] of records int64 [n, m]."""
        x, z = self.encoder(records.flatten(0, 1))
        shape = records.shape[:2]
        changed = records != base[:, None]
        return self.decoder.read(self.encoder.embed(base), x.unflatten(0, shape), z.unflatten(0, shape), changed)

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Binary cross-entropy over the entities that are not missing."""
        corrupted, replaced = self.team.rows(*self.task.corrupt(ids.to(torch.int64), self.noise, generator))
        logits = self(corrupted).float()
        loss = functional.binary_cross_entropy_with_logits(logits, (~replaced).float(), reduction="none")
        # An unseen entity of the table itself is no target: whether it belongs is what nobody knows.
        weight = ((corrupted >= FIRST) | ((corrupted == UNSEEN) & replaced)).float()
        assert MISSING < UNSEEN < FIRST
        return self.team.ratio((loss * weight).sum(), weight.sum())
