"""Xformer-R: the explainer picks the domains, the entities are drawn at random; what guidance alone is worth."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from carat.baselines._outcome import first_of_its_kind
from carat.data.vocabulary import FIRST, Vocabulary
from carat.explain import targets
from carat.protocols import Detector, Explainer
from carat.recourse.engine import Outcome, Settings


@dataclass(frozen=True)
class XformerR:
    """Uniform replacement in the domains that Algorithm 1 would change.

    Args:
        vocabulary: what the ids mean.
        detector: gives the scores that are reported; it has no say in what is drawn.
        explainer: picks the domains.
        seed: of the draws.
    """

    vocabulary: Vocabulary
    detector: Detector
    explainer: Explainer
    seed: int = 0

    name = "xformer-r"

    def find(self, ids: Tensor, settings: Settings) -> Outcome:
        """K draws a record, each without the present entities; duplicates among them are left out."""
        ids = ids.to(torch.int64)
        records, domains = ids.shape
        likelihood = self.explainer.likelihood(ids)
        entities = (self.vocabulary.sizes - FIRST).to(ids.device)
        # A target of one entity has nothing else to draw.
        chosen = targets(likelihood) & (entities > 1)
        generator = torch.Generator().manual_seed(self.seed)
        share = torch.rand((records, settings.k, domains), generator=generator, dtype=torch.float64).to(ids.device)
        # One of the others: those from the present entity on move up by one.
        others = entities - (ids >= FIRST).long()[:, None]
        drawn = (share * others).long().minimum(others - 1) + FIRST
        drawn += (drawn >= ids[:, None]) & (ids >= FIRST)[:, None]
        found = torch.where(chosen[:, None], drawn, ids[:, None])
        mask = chosen.any(dim=1, keepdim=True) & first_of_its_kind(found)
        score = torch.full(mask.shape, -torch.inf, device=ids.device)
        score[mask] = self.detector.score(found[mask]).to(ids.device)
        # Closed up to the left, in the order of the draws.
        order = mask.int().argsort(dim=1, descending=True, stable=True)
        reasons = [None if there else "it has no entity that could change" for there in mask.any(dim=1).tolist()]
        return Outcome(
            found.gather(1, order[..., None].expand(-1, -1, domains)),
            mask.gather(1, order),
            score.gather(1, order),
            None,
            torch.zeros(records, dtype=torch.bool, device=ids.device),
            reasons,
            likelihood,
        )
