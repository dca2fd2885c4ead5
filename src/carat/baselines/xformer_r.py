"""Xformer-R: the explainer picks the domains, the entities are drawn at random; what guidance alone is worth."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from carat.baselines._outcome import assemble, first_of_its_kind, respects
from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary
from carat.explain import targets
from carat.protocols import Detector, Explainer
from carat.recourse.engine import Settings
from carat.recourse.outcome import Outcome


@dataclass(frozen=True, kw_only=True)
class XformerR:
    """Uniform replacement in the domains that Algorithm 1 would change.

    Args:
        vocabulary: what the ids mean.
        pairs: co-occurrence counts, for constraints that ask for support.
        detector: gives the scores that are reported; it has no say in what is drawn.
        explainer: picks the domains.
        seed: of the draws.
    """

    vocabulary: Vocabulary
    pairs: Pairs
    detector: Detector
    explainer: Explainer
    seed: int = 0

    name = "xformer-r"

    def find(self, ids: Tensor, settings: Settings) -> Outcome:
        """K draws a record, each without the present entities; duplicates and what breaks a constraint are left out."""
        ids = ids.to(torch.int64)
        records, domains = ids.shape
        likelihood = self.explainer.likelihood(ids)
        entities = (self.vocabulary.sizes - FIRST).to(ids.device)
        limits = settings.constraints.resolve(self.vocabulary).to(ids.device)
        # A domain of one entity has nothing else to draw.
        changeable = likelihood.masked_fill(~(limits.mutable & (entities > 1)), torch.nan)
        chosen = limits.targets(changeable, targets(changeable))
        generator = torch.Generator().manual_seed(self.seed)
        share = torch.rand((records, settings.k, domains), generator=generator, dtype=torch.float64).to(ids.device)
        # One of the others: those from the present entity on move up by one.
        others = entities - (ids >= FIRST).long()[:, None]
        drawn = (share * others).long().minimum(others - 1) + FIRST
        drawn += (drawn >= ids[:, None]) & (ids >= FIRST)[:, None]
        found = torch.where(chosen[:, None], drawn, ids[:, None])
        mask = chosen.any(dim=1, keepdim=True) & first_of_its_kind(found)
        mask &= respects(limits, self.vocabulary, self.pairs, ids, found)
        # In the order of the draws: a ranking would be guidance of another kind.
        outcome = assemble(ids, found, mask, self.detector, self.vocabulary, limits, ranked=False)
        return replace(outcome, likelihood=likelihood)
