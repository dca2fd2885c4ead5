"""What similar records say about replacements: candidates of a single domain, and combinations of several."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST
from carat.explain import TransformerExplainer
from carat.explain.signals import part_rows
from carat.explain.witnesses import Witnesses
from carat.memory import Ballot, Memory
from carat.recourse.candidates import DenseSource
from carat.recourse.parts import ModelParts

LEAST = 1e-30


class MemorySource(DenseSource):
    """What the records most like this one hold in the target domains, all of which are hidden.

    Args:
        remembered: the fitted memory.
    """

    def __init__(self, remembered: Memory) -> None:
        self.memory = remembered

    def log_probability(self, ids: Tensor, targets: Tensor) -> Iterator[tuple[int, Tensor, Tensor]]:
        """The vote on every target domain."""
        rows = part_rows(self.memory)
        for start in range(0, len(ids), rows):
            chosen = targets[start : start + rows]
            ballot = asked(self.memory, ids[start : start + rows], chosen)
            for domain in range(ids.shape[1]):
                mine = chosen[:, domain].nonzero().flatten()
                if len(mine):
                    share = ballot.probability(domain, mine.to(self.memory.device_)).clamp(min=LEAST)
                    yield domain, mine + start, share.log().to(ids.device)


class Together:
    """How much more, or less, a combination is worth than its replacements one by one.

    Single votes do not know each other: two entities may each be likely and never occur together. A combination weighs
    log(½ P of both together + ½ P of each by itself), for the two fail on different records.

    Args:
        remembered: the fitted memory.
    """

    def __init__(self, remembered: Memory) -> None:
        self.memory = remembered

    def read(self, base: Tensor, versions: Tensor) -> Tensor:
        """For versions int64 [n, C, m] of records base [n, m], what the sum of single votes lacks, [n, C]."""
        found = torch.zeros(versions.shape[:2], device=base.device)
        if not versions.shape[1]:
            return found
        replaced = versions[:, 0] != base
        several = (replaced.sum(dim=1) > 1).nonzero().flatten()
        for rows in several.split(part_rows(self.memory)):
            ballot = asked(self.memory, base[rows], replaced[rows])
            mine, chosen = versions[rows].to(self.memory.device_), replaced[rows].to(self.memory.device_)
            single = torch.zeros(mine.shape[:2], device=mine.device)
            for domain in range(base.shape[1]):
                some = chosen[:, domain].nonzero().flatten()
                if len(some):
                    share = ballot.probability(domain, some)
                    single[some] += share.gather(1, (mine[some, :, domain] - FIRST).clamp(min=0)).clamp(min=LEAST).log()
            both = torch.logaddexp(ballot.joint(chosen, mine), single) - math.log(2)
            found[rows] = (both - single).to(base.device)
        return found


@dataclass(frozen=True)
class Reading:
    """What the explainer says of every entity of a whole counterfactual.

    Args:
        explainer: the fitted explainer.
        short: whether numbers of 16 bits will do; see `TransformerExplainer.read`.
    """

    explainer: TransformerExplainer
    short: bool

    def read(self, base: Tensor, versions: Tensor) -> Tensor:
        """For versions int64 [n, C, m] of records base [n, m], their log-likelihood, [n, C]."""
        return self.explainer.read(base, versions, short=self.short)


class Witnessed:
    """What the new entities' own records say of the company that they would be in.

    Args:
        heard: the judge's.
    """

    def __init__(self, heard: Witnesses) -> None:
        self.heard = heard

    def read(self, base: Tensor, versions: Tensor) -> Tensor:
        """For versions int64 [n, C, m] of records base [n, m], the witnesses for what was replaced, [n, C]."""
        if not versions.numel():
            return torch.zeros(versions.shape[:2], device=base.device)
        device = self.heard.table.device
        flat, replaced = versions.flatten(0, 1).to(device), (versions != base[:, None]).flatten(0, 1).to(device)
        said = self.heard.told_of(flat, replaced)
        return said.view(versions.shape).to(base.device).sum(dim=2)


def asked(remembered: Memory, ids: Tensor, targets: Tensor) -> Ballot:
    """The vote on the targets, bool [n, m], of records ids [n, m], all of them hidden."""
    width = max(int(targets.sum(dim=1).max()) if len(targets) else 0, 1)
    # The targets first; where a record has fewer, another domain fills the place, and nobody reads the answer.
    domains = targets.int().argsort(dim=1, descending=True, stable=True)[:, :width]
    return remembered.ask(ids, targets[:, None].expand(-1, width, -1), asked=domains)


def memory(parts: ModelParts) -> MemorySource:
    """Of a model's parts."""
    return MemorySource(parts.memory)
