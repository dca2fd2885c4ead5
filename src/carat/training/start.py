"""Weights to begin with: those of a network that learned from another table, entity by entity and domain by domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
import torch
from torch import Tensor, nn

from carat.data.vocabulary import FIRST, Vocabulary


@dataclass(frozen=True)
class Start:
    """What another network has learned.

    A network says with `tables_of_weights` what the first dimension of its weights runs over: `ids` (every id of every
    domain), `entities` (without the reserved ids), `domains`, or `domain pairs` (both of the first two dimensions).
    Rows are matched by the text of the entity and the name of the domain. Other weights are taken as they are, those of
    another shape not at all.

    Args:
        tensors: the weights, by name.
        vocabulary: what the ids of that network mean.
    """

    tensors: Mapping[str, Tensor]
    vocabulary: Vocabulary

    def fill(self, network: nn.Module, vocabulary: Vocabulary, prefix: str = "") -> int:
        """Overwrite the weights of a fresh network as far as they match; how many tensors did.

        Args:
            network: on the CPU.
            vocabulary: what its ids mean.
            prefix: of the names that these weights have among the tensors.
        """
        maps = _maps(self.vocabulary.learned, vocabulary)
        taken = 0
        with torch.no_grad():
            for name, weight in network.state_dict().items():
                other = self.tensors.get(f"{prefix}{name}")
                if other is None:
                    continue
                kind, other = kind_of(network, name), other.detach().cpu()
                if kind is None and other.shape == weight.shape:
                    weight.copy_(other)
                elif kind == "domain pairs":
                    mine, theirs = maps["domains"]
                    weight[mine[:, None], mine] = other[theirs[:, None], theirs]
                elif kind is not None and other.shape[1:] == weight.shape[1:]:
                    mine, theirs = maps[kind]
                    weight[mine] = other[theirs]
                else:
                    continue
                taken += 1
        return taken


def kind_of(network: nn.Module, name: str) -> str | None:
    """What the first dimension of a weight runs over; None where it has nothing to do with the vocabulary."""
    inside: nn.Module = network
    parts = name.split(".")
    for place, part in enumerate(parts):
        tables: Mapping[str, str] = getattr(inside, "tables_of_weights", {})
        if ".".join(parts[place:]) in tables:
            return tables[".".join(parts[place:])]
        if place < len(parts) - 1:
            inside = getattr(inside, part)
    return None


def _maps(before: Vocabulary, after: Vocabulary) -> dict[str, tuple[Tensor, Tensor]]:
    """By what a dimension runs over: places after, and the places before that they match."""
    places = {domain.name: number for number, domain in enumerate(before.domains)}
    shared = [(number, places[domain.name]) for number, domain in enumerate(after.domains) if domain.name in places]
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"ids": [], "entities": [], "domains": []}
    for new, old in shared:
        place = pc.fill_null(pc.index_in(after.domains[new].entities, value_set=before.domains[old].entities), -1)
        theirs = place.to_numpy(zero_copy_only=False)
        mine = np.flatnonzero(theirs >= 0)
        theirs = theirs[mine]
        first, second = int(after.offsets[new]), int(before.offsets[old])
        reserved = np.arange(FIRST)
        found["ids"] += [(first + reserved, second + reserved), (first + FIRST + mine, second + FIRST + theirs)]
        found["entities"].append((first - FIRST * new + mine, second - FIRST * old + theirs))
        found["domains"].append((np.array([new]), np.array([old])))
    return {kind: _joined(parts) for kind, parts in found.items()}


def _joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Tensor, Tensor]:
    none = np.empty(0, dtype=np.int64)
    mine, theirs = (np.concatenate([none, *(part[side] for part in parts)]).astype(np.int64) for side in (0, 1))
    return torch.from_numpy(mine), torch.from_numpy(theirs)
