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
AFTER = {TOLD.index("rest"): False, TOLD.index("new"): True}
"""What only the record after a fix can tell, by its place: of the kept and of the new entities."""
BEGIN = {"likely": 1.0, "rest": 0.0, "new": 0.0, "size": 0.0, "several": 0.0}
"""The weights to begin with: as likely as the explainer says."""
LEAST = 1e-6
TURNS = 4
"""The usual set, the two most promising others one by one, then all that still may win."""

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

        The usual set is tried first, then the most promising other one, then the rest; what can't win any more is not
        tried at all.

        Args:
            ids: records, int64 [n, m].
            likelihood: the explainer's, [n, m]; NaN where an entity is missing or may not change.
            usual: what would be changed without looking further, bool [n, m].
            first_fix: finds it.
        """
        trial = _Trial.of(likelihood, usual)
        if not trial.open.any():
            return usual
        weights = torch.tensor([self.weights[name] for name in TOLD], dtype=torch.float64, device=ids.device)
        # What a set may reach: after its fix nothing looks more than right, and log 1 is 0.
        limited = bool((weights[list(AFTER)] >= 0).all())
        bound = trial.told @ weights if limited else torch.full_like(trial.told[..., 0], torch.inf)
        next_ones = torch.zeros_like(trial.open)
        next_ones[:, 0] = trial.open[:, 0]
        for turn in range(TURNS):
            self._try(trial, next_ones, ids, first_fix)
            value = (trial.told @ weights).masked_fill(~trial.there, -torch.inf)
            # Where the usual set has no fix, the reason for that is the answer: nothing else is tried.
            left = trial.open & ~trial.tried & trial.there[:, :1] & (bound >= value.amax(dim=1, keepdim=True))
            most = bound.masked_fill(~left, -torch.inf).argmax(dim=1, keepdim=True)
            next_ones = left if turn == TURNS - 2 else torch.zeros_like(left).scatter(1, most, True) & left
        chosen = trial.sets[torch.arange(len(ids), device=ids.device), value.argmax(dim=1)]
        return torch.where(trial.there[:, :1], chosen, usual)

    def weigh(self, ids: Tensor, likelihood: Tensor, usual: Tensor, first_fix: FirstFix) -> Weighed:
        """What speaks for each set of each record that the explainer is not sure of; arguments as in `choose`."""
        trial = _Trial.of(likelihood, usual)
        self._try(trial, trial.open, ids, first_fix)
        return Weighed(trial.sets, trial.told, trial.there)

    def _try(self, trial: _Trial, chosen: Tensor, ids: Tensor, first_fix: FirstFix) -> None:
        """Find the first fix of some sets, bool [n, A], all at once, and ask about the fixed records."""
        rows, place = chosen.nonzero(as_tuple=True)
        if not len(rows):
            return
        trial.tried.logical_or_(chosen)
        mine = trial.sets[rows, place]
        fixed, found = first_fix(rows, mine)
        there = found & ((fixed != ids[rows]) == mine).all(dim=1)
        rows, place, mine, fixed = rows[there], place[there], mine[there], fixed[there]
        if not len(rows):
            return
        after = self.explainer.likelihood(fixed).to(ids.device).double().nan_to_num(nan=1.0).clamp(min=LEAST).log()
        trial.there[rows, place] = True
        for name, which in AFTER.items():
            trial.told[rows, place, name] = (after * (mine == which)).sum(dim=1)


@dataclass(frozen=True)
class _Trial:
    """Sets of domains, and what is known of them so far; filled in place.

    Args:
        sets: bool [n, A, m]; the first is the usual one.
        open: which may be tried at all, bool [n, A]; of sure records none.
        told: [n, A, TOLD], float64; what only the fix can tell is 0.
        tried: bool [n, A].
        there: which have a fix that changes just them, bool [n, A].
    """

    sets: Tensor
    open: Tensor
    told: Tensor
    tried: Tensor
    there: Tensor

    @classmethod
    def of(cls, likelihood: Tensor, usual: Tensor) -> _Trial:
        """Nothing tried yet; arguments as in `Suspects.choose`."""
        sets = _sets(likelihood, usual)
        right = likelihood.double().nan_to_num(nan=1.0).clamp(LEAST, 1 - LEAST)
        likely = torch.where(sets, (1 - right)[:, None], right[:, None]).log().sum(dim=2)
        unsure = likely[:, :1].exp() < SURE
        same = (sets[:, :, None] == sets[:, None]).all(dim=3)
        twice = same.tril(-1).any(dim=2)
        size = sets.sum(dim=2)
        told = torch.zeros((*size.shape, len(TOLD)), dtype=torch.float64, device=usual.device)
        told[..., TOLD.index("likely")] = likely
        told[..., TOLD.index("size")] = -size.double()
        told[..., TOLD.index("several")] = -(size > 1).double()
        none = torch.zeros_like(twice)
        return cls(sets, unsure & ~twice & (size > 0), told, none, none.clone())


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
