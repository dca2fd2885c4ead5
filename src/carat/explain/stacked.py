"""Layers of which every domain has its own, as one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn


class DomainLinear(nn.Module):
    """A linear layer a domain: [n, m, inputs] → [n, m, outputs], all domains in one product."""

    tables_of_weights: ClassVar[Mapping[str, str]] = {"weight": "domains", "bias": "domains"}

    def __init__(self, domains: int, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight = nn.Parameter(torch.empty(domains, inputs, outputs).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(domains, outputs))

    def forward(self, x: Tensor) -> Tensor:
        """[n, m, inputs] → [n, m, outputs]."""
        return torch.baddbmm(self.bias[:, None], x.transpose(0, 1), self.weight).transpose(0, 1)
