"""Records whose wrong entities may not change: what else is replaced must make those entities fit.

Where a user says that a flagged entity stays, one of the others may be the wrong one, and replacing it helps. More
often nothing helps: the flagged entity fits no better afterwards, and the change would only spoil a right entity.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from carat.explain.choice import flagged
from carat.protocols import Explainer
from carat.recourse.outcome import Outcome

ASKED = 8
"""Counterfactuals a record about which the explainer is asked again; those that follow are left out."""
NOTHING = "nothing else that changes makes it fit"


def reconciled(outcome: Outcome, ids: Tensor, explainer: Explainer, mutable: Tensor) -> Outcome:
    """The outcome without counterfactuals that leave a flagged entity as doubtful as it was.

    Only records are asked about all of whose flagged entities must stay.

    Args:
        outcome: what was found.
        ids: the records, int64 [n, m].
        explainer: what flagged them.
        mutable: domains that may change, bool [m].
    """
    if bool(mutable.all()):
        return outcome
    doubted = flagged(outcome.likelihood).to(ids.device)
    stuck = doubted.any(dim=1) & ~(doubted & mutable).any(dim=1) & outcome.mask.any(dim=1)
    rows = stuck.nonzero().flatten()
    if not len(rows):
        return outcome
    found = outcome.take(rows)
    mask = found.mask.clone()
    mask[:, ASKED:] = False
    row, rank = mask.nonzero(as_tuple=True)
    after = explainer.likelihood(found.counterfactuals[row, rank]).to(ids.device)
    mask[row, rank] = ~(flagged(after) & doubted[rows[row]]).any(dim=1)
    order = mask.int().argsort(dim=1, descending=True, stable=True)
    reasons = [
        said if any_left else "; ".join(part for part in (said, NOTHING) if part)
        for said, any_left in zip(found.reasons, mask.any(dim=1).tolist(), strict=True)
    ]
    mask = mask.gather(1, order)
    kept = replace(
        found,
        counterfactuals=found.counterfactuals.gather(1, order[..., None].expand_as(found.counterfactuals)),
        mask=mask,
        score=found.score.gather(1, order).masked_fill(~mask, -torch.inf),
        cost=None if found.cost is None else found.cost.gather(1, order),
        reasons=reasons,
    )
    return outcome.replaced(rows, kept)
