"""Learning what a match is worth: by how well the other records foretell each one, itself left out."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from carat.data.vocabulary import FIRST
from carat.memory.store import Records
from carat.memory.vote import Ballot, Weights
from carat.training import Plan, Run, TrainableNetwork, train

SAMPLE = 20_000
"""Stored records that learning looks at: enough to weigh domains against each other."""
STEPS, BATCH, RATE = 60, 32, 0.1
DROPPED = 0.12
"""Probability of hiding a context domain, so that one wrong entity does not decide the vote on another."""
LISTENS = 16
"""Domains that a domain listens to, at most."""


class VoteNetwork(TrainableNetwork):
    """λ, μ and π, trained by the leave-one-out likelihood of stored records.

    Args:
        records: who votes.
        listens: which domains (second place) each one (first) listens to, bool [m, m].
    """

    listens: Tensor

    def __init__(self, records: Records, listens: Tensor) -> None:
        super().__init__()
        domains = len(records.vocabulary)
        self.records = records
        self.match = nn.Parameter(torch.zeros(domains, domains))
        self.rarity = nn.Parameter(torch.full((domains, domains), -1.0))
        self.floor = nn.Parameter(torch.full((domains,), -3.0))
        self.register_buffer("listens", listens, persistent=False)

    def weights(self) -> Weights:
        """As the vote takes them."""
        match, rarity = (functional.softplus(each) * self.listens for each in (self.match, self.rarity))
        return Weights(match, rarity, self.floor.sigmoid())

    def loss(self, ids: Tensor, generator: torch.Generator) -> Tensor:
        """Mean of −log P(x_d | the rest) over the known entities of stored records; ids [b, 1] are their groups."""
        group = ids[:, 0].to(torch.int64)
        x = self.records.ids[group].to(torch.int64)
        shape = (len(x), x.shape[1], x.shape[1])
        hidden = torch.rand(shape, generator=generator, device=x.device) < DROPPED
        ballot = Ballot(self.records, self.weights(), x, hidden, left_out=group)
        total, count = torch.zeros((), device=x.device), 0
        for domain in range(x.shape[1]):
            known = x[:, domain] >= FIRST
            own = ballot.probability(domain).gather(1, (x[:, domain : domain + 1] - FIRST).clamp(min=0)).squeeze(1)
            total = total - (own.clamp(min=1e-30).log() * known).sum()
            count += int(known.sum())
        return total / max(count, 1)


def learn(records: Records, listens: Tensor, run: Run) -> Weights:
    """The weights under which the stored records foretell each other best."""
    generator = torch.Generator().manual_seed(run.seed_of("memory"))
    looked_at = records
    if records.total > SAMPLE:
        chosen = torch.randperm(len(records.group), generator=generator)[:SAMPLE]
        looked_at = Records.of(records.ids[records.group[chosen].to(torch.int64)], records.vocabulary)
    looked_at = looked_at.to(run.device)
    network = VoteNetwork(looked_at, listens)
    drawn = looked_at.group[torch.randint(len(looked_at.group), (STEPS * BATCH,), generator=generator)]
    plan = Plan(epochs=1, batch_size=BATCH, learning_rate=RATE, schedule="constant", keep_best=False)
    train(network, drawn[:, None], plan, run, stage="memory", label="learning which matches matter")
    learned = network.weights()
    return Weights(learned.match.detach(), learned.rarity.detach(), learned.floor.detach())
