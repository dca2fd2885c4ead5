"""What the judge looks at: a few numbers about every entity of a record, each on a scale of its own."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, MISSING
from carat.memory import Memory

PART_ROWS = 128
"""Records asked about at once: larger parts no longer fit the caches."""
LEAST = 1e-12
WORST = 2
"""Margins of other domains that the judge is told of."""
TOLD = ("own", "best", "entropy", "agreement", "count", "unseen", "missing", "margin", "worst", "next worst")
"""The signals of every entity."""
HABITS = ("size", "unseen", "missing", "foretold", "margin")
"""What a domain usually does."""


@dataclass(frozen=True)
class Habits:
    """What a domain usually does, so that one judge can serve all of them.

    Args:
        values: by domain, log of its size, how often an entity of it is new, how often it is missing, how well the vote
            foretells it, and its usual margin, [m, 5].
    """

    values: Tensor

    @classmethod
    def of(cls, memory: Memory, ids: Tensor) -> Habits:
        """Of records ids [n, m] that are not in memory, as they come."""
        none = cls(torch.zeros((ids.shape[1], len(HABITS))))
        told = signals(memory, ids, none)[..., : len(TOLD)]
        known = (ids != MISSING).cpu()
        count = known.sum(dim=0).clamp(min=1)
        sizes = (memory.records_.vocabulary.sizes.cpu() - FIRST).clamp(min=1).float()

        def mean(name: str) -> Tensor:
            return (told[..., TOLD.index(name)] * known).sum(dim=0) / count

        missing = (~known).double().mean(dim=0).float() if len(ids) else torch.zeros(ids.shape[1])
        values = [sizes.log(), _rate(mean("unseen")), _rate(missing), mean("own"), mean("margin")]
        return cls(torch.stack(values, dim=1))


def _rate(share: Tensor) -> Tensor:
    """A share on a scale on which one in a thousand differs from none."""
    return (share + 1e-3).log()


def signals(memory: Memory, ids: Tensor, habits: Habits, logits: Tensor | None = None) -> Tensor:
    """Signals of every entity of records ids [n, m], float32 [n, m, F], on the CPU.

    Args:
        memory: votes on every domain with that domain hidden.
        ids: the records.
        habits: of the domains.
        logits: of another explainer, [n, m]; a further signal.
    """
    parts = [_part(memory, part.to(torch.int64)) for part in ids.cpu().split(PART_ROWS)]
    told = torch.cat([torch.empty((0, ids.shape[1], len(TOLD))), *parts])
    usual = habits.values.to(told.dtype).expand(len(told), -1, -1)
    more = [] if logits is None else [logits.cpu().float().nan_to_num(nan=0.0).clamp(-15, 15)[..., None]]
    return torch.cat([told, usual, *more], dim=2)


def _part(memory: Memory, ids: Tensor) -> Tensor:
    ballot = memory.ask(ids, torch.zeros((*ids.shape, ids.shape[1]), dtype=torch.bool))
    x = ids.to(memory.device_)
    own, best, entropy = (torch.zeros(ids.shape, device=x.device) for _ in range(3))
    for domain in range(ids.shape[1]):
        share = ballot.probability(domain).clamp(min=LEAST)
        log = share.log()
        new = ballot.unseen_probability(domain).clamp(min=LEAST).log()
        mine = log.gather(1, (x[:, domain, None] - FIRST).clamp(min=0)).squeeze(1)
        own[:, domain] = torch.where(x[:, domain] >= FIRST, mine, new)
        best[:, domain] = log.amax(dim=1)
        entropy[:, domain] = -(share * log).sum(dim=1)
    count = ballot.count(x)
    missing = x == MISSING
    margin = (best - own).clamp(min=0).masked_fill(missing, 0.0)
    domains = ids.shape[1]
    others = (
        margin[:, None].expand(-1, domains, -1).masked_fill(torch.eye(domains, dtype=torch.bool, device=x.device), 0)
    )
    worst = others.topk(min(WORST, domains), dim=2).values
    told = [own, best, entropy, ballot.most, (count + 1.0).log(), ((count == 0) & ~missing).float(), missing.float()]
    return torch.cat([torch.stack([*told, margin], dim=2), worst], dim=2).cpu()
