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
from carat.recourse.engine import Method
from carat.recourse.outcome import Outcome
from carat.recourse.parts import ModelParts
from carat.recourse.settings import Settings


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

    def find(self, ids: Tensor, settings: Settings, score: Tensor | None = None) -> Outcome:
        """K draws a record, each without the present entities; duplicates and what breaks a constraint are left out."""
        ids = ids.to(torch.int64)
        records, domains = ids.shape
        likelihood = self.explainer.likelihood(ids)
        entities = (self.vocabulary.sizes - FIRST).to(ids.device)
        constraints = settings.constraints_for(self.vocabulary, ids.device)
        # A domain of one entity has nothing else to draw.
        changeable = likelihood.masked_fill(~(constraints.mutable & (entities > 1)), torch.nan)
        chosen = constraints.targets(changeable, targets(changeable))
        generator = torch.Generator().manual_seed(self.seed)
        share = torch.rand((records, settings.k, domains), generator=generator, dtype=torch.float64).to(ids.device)
        # One of the others: those from the present entity on move up by one.
        others = entities - (ids >= FIRST).long()[:, None]
        drawn = (share * others).long().minimum(others - 1) + FIRST
        drawn += (drawn >= ids[:, None]) & (ids >= FIRST)[:, None]
        found = torch.where(chosen[:, None], drawn, ids[:, None])
        mask = chosen.any(dim=1, keepdim=True) & first_of_its_kind(found)
        mask &= respects(constraints, self.vocabulary, self.pairs, ids, found)
        # In the order of the draws: a ranking would be guidance of another kind.
        outcome = assemble(ids, found, mask, self.detector, self.vocabulary, constraints, ranked=False)
        return replace(outcome, likelihood=likelihood)


def xformer_r(parts: ModelParts) -> Method:
    """Of a model's parts."""
    return XformerR(
        vocabulary=parts.vocabulary,
        pairs=parts.pairs,
        detector=parts.detector,
        explainer=parts.transformer.frozen,
        seed=parts.run.seed,
    )
