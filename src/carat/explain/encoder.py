"""The row encoder: every entity of a record in the light of the others. No order among domains is implied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from carat.data.vocabulary import Vocabulary


class RowEncoder(nn.Module):
    """Entity embedding and domain vector, concatenated, through a transformer.

    The row of the id `MISSING` is the mask token: a masked and a missing entity look the same, unknown. The row of
    `UNSEEN` stands for entities that training never met.

    Args:
        vocabulary: sizes of the domains.
        dim: d, size of an embedding and of a domain vector; the transformer is 2 d wide.
        layers: transformer layers.
        heads: attention heads.
        dropout: inside the transformer.
    """

    offsets: Tensor
    tables_of_weights: ClassVar[Mapping[str, str]] = {"embedding": "ids", "domain": "domains"}

    def __init__(self, vocabulary: Vocabulary, *, dim: int, layers: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.dim, self.width = dim, 2 * dim
        self.register_buffer("offsets", vocabulary.offsets, persistent=False)
        self.embedding = nn.Parameter(torch.randn(vocabulary.total, dim) * dim**-0.5)
        self.domain = nn.Parameter(torch.randn(len(vocabulary), dim) * dim**-0.5)
        layer = nn.TransformerEncoderLayer(
            self.width,
            heads,
            dim_feedforward=4 * self.width,
            dropout=dropout,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.transformer = nn.TransformerEncoder(
            layer, layers, norm=nn.LayerNorm(self.width), enable_nested_tensor=False
        )

    def embed(self, ids: Tensor) -> Tensor:
        """x: ids int64 [n, m] → [n, m, 2 d], the embedding with the domain vector beside it."""
        embedded = self.embedding[ids + self.offsets]
        return torch.cat([embedded, self.domain.expand_as(embedded)], dim=-1)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """x and z, each [n, m, 2 d]: the entities by themselves, and in their context."""
        x = self.embed(ids)
        return x, self.transformer(x)
