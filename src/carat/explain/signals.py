"""What the judge looks at: a few numbers about every entity of a record, each on a scale of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.vocabulary import FIRST, MISSING
from carat.explain import witnesses
from carat.explain.lessons import Lessons
from carat.explain.witnesses import Witnesses
from carat.memory import LARGE, Ballot, Memory, Tally
from carat.threads import side_by_side

PART_ROWS = 64
"""Records asked about at once on a CPU: larger parts no longer fit the caches."""
CELLS = 1 << 28
"""Numbers that a vote holds at once on a GPU: small parts leave it waiting for the next call."""
LEAST = 1e-12
WORST = 2
"""Margins of other domains that the judge is told of."""
VOTED = (
    *("own", "best", "entropy", "agreement", "count", "unseen", "missing", "margin", "worst", "next worst"),
    *("own again", "margin again"),
)
"""What the vote says of every entity."""
TOLD = (*VOTED, *(f"witnesses, {name}" for name in witnesses.TOLD))
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
    def of(cls, memory: Memory, told: Tensor, ids: Tensor) -> Habits:
        """From the signals [n, m, TOLD] of records ids [n, m] as they come, none of which vouches for itself."""
        known = (ids != MISSING).cpu()
        count = known.sum(dim=0).clamp(min=1)
        sizes = (memory.records_.vocabulary.sizes.cpu() - FIRST).clamp(min=1).float()

        def mean(name: str) -> Tensor:
            return (told[..., TOLD.index(name)] * known).sum(dim=0) / count

        missing = (~known).double().mean(dim=0).float() if len(ids) else torch.zeros(ids.shape[1])
        values = [sizes.log(), _rate(mean("unseen")), _rate(missing), mean("own"), mean("margin")]
        return cls(torch.stack(values, dim=1))

    def beside(self, told: Tensor) -> Tensor:
        """Signals [n, m, F] with the habits of their domains, [n, m, F + 5]."""
        return torch.cat([told, self.values.to(told.dtype).expand(len(told), -1, -1)], dim=2)


def _rate(share: Tensor) -> Tensor:
    """A share on a scale on which one in a thousand differs from none."""
    return (share + 1e-3).log()


def part_rows(memory: Memory) -> int:
    """Records asked about at once."""
    if memory.device_.type == "cpu":
        return PART_ROWS
    domains = memory.records_.vocabulary.sizes
    looked_at = len(memory.records_) if len(memory.records_) <= memory.exact else memory.limit
    return max(CELLS // max(int(domains.max()), looked_at * len(domains)), 1)


def signals(memory: Memory, heard: Witnesses, lessons: Lessons) -> Tensor:
    """Signals of every entity of some records, float32 [n, m, TOLD], on the CPU.

    Args:
        memory: votes on every domain with that domain hidden.
        heard: what the entities' own records say.
        lessons: the records.
    """
    parts = looks(memory, heard, lessons)
    return torch.cat([torch.empty((0, lessons.ids.shape[1], len(TOLD))), *(told for told, _ in parts)])


def looks(
    memory: Memory, heard: Witnesses, lessons: Lessons, done: Callable[[Lessons], object] | None = None
) -> list[tuple[Tensor, Tensor]]:
    """What `look` makes of the records, part by part; `done` is told of each."""
    parts = lessons.split(part_rows(memory))
    memory.records_.prepare()
    # A GPU is busy with one part at a time.
    most = None if memory.device_.type == "cpu" else 1
    return side_by_side(lambda part: look(memory, heard, part), parts, done, most)


def look(memory: Memory, heard: Witnesses, part: Lessons) -> tuple[Tensor, Tensor]:
    """Signals of some records, float32 [b, m, TOLD], and the entities that both votes put first, int64 [b, m, 2].

    A second wrong entity leads the vote on the first one astray. So the vote is held twice: again on each domain with
    the worst of the others hidden.
    """
    ids = part.ids
    domains = ids.shape[1]
    hidden = torch.zeros((*ids.shape, domains), dtype=torch.bool, device=memory.device_)
    ballot = memory.ask(ids, hidden, part.row)
    x = ballot.ids
    missing = x == MISSING
    own, best, entropy, first = _standings(ballot)
    margin = (best - own).clamp(min=0).masked_fill(missing, 0.0)
    itself = torch.eye(domains, dtype=torch.bool, device=x.device)
    worst, which = margin[:, None].expand(-1, domains, -1).masked_fill(itself, 0).topk(min(WORST, domains), dim=2)
    again = ballot.again(hidden.scatter(2, which[..., :1], True))
    own_again, best_again, _, second = _standings(again, entropy=False)
    count = ballot.count(x)
    told = [own, best, entropy, ballot.most, (count + 1.0).log(), ((count == 0) & ~missing).float(), missing.float()]
    repeated = [own_again, (best_again - own_again).clamp(min=0).masked_fill(missing, 0.0)]
    voted = torch.cat([torch.stack([*told, margin], dim=2), worst, torch.stack(repeated, dim=2)], dim=2)
    said = heard.tell(x, part.own.to(x.device))
    return torch.cat([voted, said], dim=2).cpu(), torch.stack([first, second], dim=2).cpu()


def _standings(ballot: Ballot, *, entropy: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Of every domain, [b, m] each; see `standing`."""
    found = [standing(ballot, domain, entropy=entropy) for domain in range(ballot.ids.shape[1])]
    own, best, spread, entity = (torch.stack([each[k] for each in found], dim=1) for k in range(4))
    return own, best, spread, entity


def standing(ballot: Ballot, domain: int, *, entropy: bool = True) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """How the entities of a domain did: own log-probability, that of the best, the entropy, who is best, [b] each.

    Args:
        ballot: the vote.
        domain: asked about.
        entropy: False leaves it at 0.
    """
    x = ballot.ids[:, domain, None]
    none = torch.zeros(len(x), device=x.device)
    if len(ballot.counts_of(domain)) > LARGE:
        tally = Tally.of(ballot, domain)
        own, (entity, best) = tally.at(x).squeeze(1), tally.top(1)
        spread = tally.entropy() if entropy else none
        return own.clamp(min=LEAST).log(), best.squeeze(1).clamp(min=LEAST).log(), spread, entity.squeeze(1)
    share = ballot.probability(domain).clamp(min=LEAST)
    new = ballot.unseen_probability(domain).clamp(min=LEAST).log()
    mine = share.gather(1, (x - FIRST).clamp(min=0)).squeeze(1).log()
    best, entity = share.max(dim=1)
    spread = -(share * share.log()).sum(dim=1) if entropy else none
    return torch.where(x.squeeze(1) >= FIRST, mine, new), best.log(), spread, entity + FIRST
