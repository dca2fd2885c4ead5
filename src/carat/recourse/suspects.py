"""Which domains to change together, chosen by what the record looks like once they have been.

An explainer gives every entity a likelihood of its own. Two wrong entities cast doubt on a third, and one may hide
behind the other. So where it is not sure, several sets of domains are tried: each gets its first fix, and the explainer
is asked about the fixed record. If the rest of it looks right, the set was the right one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from carat.protocols import Explainer

SURE = 0.9
"""Probability of the usual set from which on no other is tried."""
TOLD = ("likely", "rest", "new", "size", "several")
"""What is weighed of a set: its probability before any fix, how right the kept and the new entities look after the
first one, how many domains it has, and whether it has more than one."""
BEGIN = {"likely": 1.0, "rest": 0.0, "new": 0.0, "size": 0.0, "several": 0.0}
"""The weights to begin with: as likely as the explainer says."""
LEAST = 1e-6

FirstFix = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
"""For records by number [r] and domains to change, bool [r, m]: the first fix, int64 [r, m], and where there is one."""


@dataclass(frozen=True)
class Told:
    """An explainer that was told which entities are wrong."""

    replaced: Tensor

    def likelihood(self, ids: Tensor) -> Tensor:
        """0 where an entity is wrong, else 1, [n, m]."""
        return 1.0 - self.replaced.to(ids.device, torch.float32)


@dataclass(frozen=True)
class Weighed:
    """Sets of domains and what speaks for them.

    Args:
        sets: bool [n, A, m]; the first is the usual one.
        told: [n, A, TOLD], float64.
        there: which were tried and have a fix that changes just them, bool [n, A]; of sure records none.
    """

    sets: Tensor
    told: Tensor
    there: Tensor


@dataclass(frozen=True)
class Suspects:
    """Chooses among sets of domains.

    Args:
        explainer: is asked about fixed records.
        weights: of what is told of a set, by name.
    """

    explainer: Explainer
    weights: Mapping[str, float]

    def choose(self, ids: Tensor, likelihood: Tensor, usual: Tensor, first_fix: FirstFix) -> Tensor:
        """The domains to change, bool [n, m].

        Args:
            ids: records, int64 [n, m].
            likelihood: the explainer's, [n, m]; NaN where an entity is missing or may not change.
            usual: what would be changed without looking further, bool [n, m].
            first_fix: finds it.
        """
        found = self.weigh(ids, likelihood, usual, first_fix)
        weights = torch.tensor([self.weights[name] for name in TOLD], dtype=torch.float64, device=ids.device)
        value = (found.told @ weights).masked_fill(~found.there, -torch.inf)
        best = found.sets[torch.arange(len(ids), device=ids.device), value.argmax(dim=1)] if len(ids) else usual
        # Where the usual set has no fix, the reason for that is the answer.
        return torch.where(found.there[:, :1], best, usual)

    def weigh(self, ids: Tensor, likelihood: Tensor, usual: Tensor, first_fix: FirstFix) -> Weighed:
        """What speaks for each set of each record that the explainer is not sure of; arguments as in `choose`."""
        sets = _sets(likelihood, usual)
        right = likelihood.double().nan_to_num(nan=1.0).clamp(LEAST, 1 - LEAST)
        likely = torch.where(sets, (1 - right)[:, None], right[:, None]).log().sum(dim=2)
        unsure = likely[:, 0].exp() < SURE
        told = torch.zeros((*sets.shape[:2], len(TOLD)), dtype=torch.float64, device=ids.device)
        there = torch.zeros(sets.shape[:2], dtype=torch.bool, device=ids.device)
        for place in range(sets.shape[1]):
            mine = sets[:, place]
            twice = (sets[:, :place] == mine[:, None]).all(dim=2).any(dim=1)
            rows = (unsure & ~twice & mine.any(dim=1)).nonzero().flatten()
            if not len(rows):
                continue
            fixed, found = first_fix(rows, mine[rows])
            there[rows, place] = found & ((fixed != ids[rows]) == mine[rows]).all(dim=1)
            after = self.explainer.likelihood(fixed).to(ids.device).double().nan_to_num(nan=1.0).clamp(min=LEAST).log()
            size = mine[rows].sum(dim=1)
            told[rows, place] = torch.stack(
                [
                    likely[rows, place],
                    after.masked_fill(mine[rows], 0.0).sum(dim=1),
                    after.masked_fill(~mine[rows], 0.0).sum(dim=1),
                    -size.double(),
                    -(size > 1).double(),
                ],
                dim=1,
            )
        return Weighed(sets, told, there)


def _sets(likelihood: Tensor, usual: Tensor) -> Tensor:
    """The usual set and those of the least likely few, bool [n, A, m]: one, two, three, the second, first and third."""
    place = likelihood.nan_to_num(nan=torch.inf).argsort(dim=1, stable=True).argsort(dim=1)
    few = [place < 1, place < 2, place < 3, place == 1, (place == 0) | (place == 2)]
    return torch.stack([usual, *(each & ~likelihood.isnan() for each in few)], dim=1)


def learned(found: Weighed, wrong: Tensor) -> dict[str, float]:
    """Weights under which the set of wrong domains, bool [n, m], is likeliest chosen, where it was tried at all.

    Each weight is held to where it begins by as much as one record says.
    """
    right = (found.sets == wrong[:, None]).all(dim=2) & found.there
    useful = right.any(dim=1) & (found.there.sum(dim=1) > 1)
    place = right[useful].int().argmax(dim=1, keepdim=True).cpu()
    told, there = found.told[useful].cpu(), found.there[useful].cpu()
    begin = torch.tensor([BEGIN[name] for name in TOLD], dtype=torch.float64)
    weights = begin.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([weights], max_iter=100, line_search_fn="strong_wolfe")

    def closure() -> Tensor:
        optimizer.zero_grad()
        value = (told @ weights).masked_fill(~there, -torch.inf)
        loss = (value.logsumexp(dim=1, keepdim=True) - value.gather(1, place)).sum() + ((weights - begin) ** 2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    return dict(zip(TOLD, [round(weight, 4) for weight in weights.detach().tolist()], strict=True))
