"""What an entity's own records say: do they hold what stands beside it here?

The vote asks which entity the context calls for. An entity that was seen three times rarely wins that vote, though it
may belong. Witnesses ask the other way round: of the few records that hold this entity, do some hold this record's
Dest as well? How telling the answer is depends on the two domains, on how often the entity was seen, and on how often
chance alone would bring the two together, so it is learned by counting: once over training records, each with itself
left out, and once over the same records with an entity replaced.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary

SEEN = (1, 2, 4, 8, 16, 64)
"""How often an entity was seen: where each class begins."""
CHANCE = (0.0, 0.01, 0.1, 1.0, 10.0)
"""Times that chance alone would bring two entities together: where each class begins."""
LEVELS = 3
"""Never seen together, less often than chance would have it, at least as often."""
SMOOTHING = 4.0
"""Records by which a class that was seldom met is drawn towards saying nothing."""
MOST = 5.0
"""What one witness can say, at most, in nats."""
SAMPLE = 20_000
"""Records that are counted."""
TOLD = ("sum", "best", "worst")


@dataclass(frozen=True)
class Witnesses:
    """Tables of log-likelihood ratios, belongs against replaced.

    Args:
        heard: the domains that each domain asks, int64 [m, J].
        table: by domain, one of `heard`, classes of `SEEN` and `CHANCE`, and level, [m, J, S, C, LEVELS].
        pairs: co-occurrence counts of the training records.
        offsets: of the vocabulary's layout, [m].
    """

    heard: Tensor
    table: Tensor
    pairs: Pairs
    offsets: Tensor

    @classmethod
    def of(
        cls, ids: Tensor, replaced: Tensor, where: Tensor, heard: Tensor, pairs: Pairs, vocabulary: Vocabulary
    ) -> Witnesses:
        """Count both ways.

        Args:
            ids: training records, [n, m]; each is left out of the counts about itself.
            replaced: the same with some entities replaced.
            where: which, bool [n, m].
            heard: the domains that each domain asks, int64 [m, J].
            pairs: co-occurrence counts of the training records.
            vocabulary: what the ids mean.
        """
        shape = (*heard.shape, len(SEEN), len(CHANCE), LEVELS)
        blank = cls(heard, torch.zeros(shape), pairs, vocabulary.offsets)
        belongs, said = blank._classes(ids.to(torch.int64), torch.ones(ids.shape, dtype=torch.bool))
        ours = blank._count(belongs, said)
        other, said = blank._classes(replaced.to(torch.int64), ids == replaced)
        theirs = blank._count(other, said & where[:, :, None])
        share = (ours + theirs).sum(dim=(0, 1))
        usual = (share + 1.0 / LEVELS) / (share.sum(dim=-1, keepdim=True) + 1.0)
        ratio = _smooth(ours, usual).log() - _smooth(theirs, usual).log()
        return cls(heard, ratio.clamp(-MOST, MOST).float(), pairs, vocabulary.offsets)

    def tell(self, ids: Tensor, own: Tensor) -> Tensor:
        """The sum, the best and the worst of what the witnesses say of each entity of ids int64 [n, m], [n, m, 3].

        Args:
            ids: records.
            own: which of their entities are counted from the record itself, bool [n, m]; they are left out.
        """
        place, said = self._classes(ids, own)
        ratio = self.table.flatten()[place] * said
        if not ratio.shape[2]:
            return torch.zeros((*ids.shape, len(TOLD)), device=ids.device)
        return torch.stack([ratio.sum(dim=2), ratio.amax(dim=2), ratio.amin(dim=2)], dim=2)

    def told_of(self, ids: Tensor, chosen: Tensor) -> Tensor:
        """The sum of what the witnesses say of some entities of ids int64 [n, m], bool [n, m]; 0 of the others, [n, m].

        None of them is counted from the record itself.
        """
        record, domain = chosen.nonzero(as_tuple=True)
        rows, heard = ids[record] + self.offsets, self.heard[domain]  # [p, m], [p, J]
        entity, beside = rows.gather(1, domain[:, None]), rows.gather(1, heard)
        known = ids[record] >= FIRST
        seen = self.pairs.singles[entity]
        there = known.gather(1, domain[:, None]) & known.gather(1, heard) & (seen > 0)
        place = self._place(domain[:, None], seen, beside, self.pairs.count(entity, beside))
        said = torch.zeros(ids.shape, dtype=self.table.dtype, device=ids.device)
        said[record, domain] = (self.table.flatten()[place] * there).sum(dim=1)
        return said

    def _classes(self, ids: Tensor, own: Tensor) -> tuple[Tensor, Tensor]:
        """Places in the flat table, int64 [n, m, J], and where there is something to say, bool.

        Args:
            ids: records, int64 [n, m].
            own: which of their entities are counted from the record itself, bool [n, m].
        """
        rows, known = ids + self.offsets, ids >= FIRST
        beside = rows[:, self.heard]  # [n, m, J]
        seen = (self.pairs.singles[rows] - own.to(torch.int64))[:, :, None]
        there = known[:, :, None] & known[:, self.heard] & (seen > 0)
        together = self.pairs.count(rows[:, :, None], beside)
        together = together - (own[:, :, None] & own[:, self.heard]).to(torch.int64)
        domains = torch.arange(len(self.heard), device=ids.device)[:, None]
        return self._place(domains, seen, beside, together), there

    def _place(self, domain: Tensor, seen: Tensor, beside: Tensor, together: Tensor) -> Tensor:
        """Places in the flat table, int64 [..., J].

        Args:
            domain: that asks, int64 [..., 1].
            seen: how often its entity was seen, [..., 1].
            beside: the entities beside it, as rows of the layout, [..., J].
            together: how often each was seen together with it, [..., J].
        """
        chance = seen * self.pairs.singles[beside] / max(self.pairs.records, 1)
        level = torch.where(together <= 0, 0, torch.where(together < chance, 1, 2))
        device, heard = beside.device, self.heard.shape[1]
        seen_class = torch.bucketize(seen, torch.tensor(SEEN[1:], device=device), right=True)
        chance_class = torch.bucketize(chance, torch.tensor(CHANCE[1:], device=device), right=True)
        base = domain * heard + torch.arange(heard, device=device)
        return ((base * len(SEEN) + seen_class) * len(CHANCE) + chance_class) * LEVELS + level

    def _count(self, place: Tensor, said: Tensor) -> Tensor:
        """How often each entry of the table was met, in its shape."""
        met = torch.bincount(place[said], minlength=self.table.numel())
        return met.view(self.table.shape).double()

    def to(self, device: torch.device | str) -> Witnesses:
        """The same on another device."""
        return Witnesses(self.heard.to(device), self.table.to(device), self.pairs.to(device), self.offsets.to(device))


def _smooth(counts: Tensor, usual: Tensor) -> Tensor:
    """Shares of the levels, drawn towards the usual ones, in the shape of the counts."""
    return (counts + SMOOTHING * usual) / (counts.sum(dim=-1, keepdim=True) + SMOOTHING)
