"""What the baselines share: from the records that they come up with to an `Outcome`."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.data.pairs import Pairs
from carat.data.vocabulary import FIRST, Vocabulary
from carat.protocols import Detector
from carat.recourse.constraints import ResolvedConstraints
from carat.recourse.outcome import Outcome
from carat.recourse.search import top


def first_of_its_kind(records: Tensor) -> Tensor:
    """Which of records [n, K, m] are not among those before them, bool [n, K]."""
    same = torch.ones((*records.shape[:2], records.shape[1]), dtype=torch.bool, device=records.device)
    for domain in range(records.shape[2]):
        same &= records[:, :, None, domain] == records[:, None, :, domain]
    return ~same.tril(-1).any(dim=2)


def respects(
    constraints: ResolvedConstraints, vocabulary: Vocabulary, pairs: Pairs, ids: Tensor, found: Tensor
) -> Tensor:
    """Which of found [n, K, m] the constraints permit for records ids [n, m], bool [n, K]."""
    offsets = vocabulary.offsets.to(found.device)
    changed = found != ids[:, None]
    good = (~changed | (constraints.mutable & constraints.permitted[found + offsets])).all(dim=2)
    if constraints.max_changes is not None:
        good &= changed.sum(dim=2) <= constraints.max_changes
    if len(constraints.pairs) or constraints.min_support:
        rows, known = found + offsets, found >= FIRST
        for low in range(found.shape[2]):
            for high in range(low + 1, found.shape[2]):
                left, right = rows[..., low], rows[..., high]
                both = known[..., low] & known[..., high]
                if len(constraints.pairs):
                    brought_about = changed[..., low] | changed[..., high]
                    good &= ~(constraints.forbids(left, right) & brought_about & both)
                if constraints.min_support:
                    one_is_new = changed[..., low] ^ changed[..., high]
                    good &= ~(one_is_new & both) | (pairs.count(left, right) >= constraints.min_support)
    return good


def assemble(
    ids: Tensor,
    found: Tensor,
    mask: Tensor,
    detector: Detector,
    vocabulary: Vocabulary,
    constraints: ResolvedConstraints,
    *,
    exhausted: Tensor | None = None,
    note: str | None = None,
    ranked: bool = True,
) -> Outcome:
    """Score what was found, best first; no explainer had a say, so the likelihoods are NaN.

    Args:
        ids: the records, [n, m].
        found: whole records, [n, K, m].
        mask: which of them count, bool [n, K].
        detector: gives the scores.
        vocabulary: what the ids mean.
        constraints: the costs are theirs.
        exhausted: whether every combination was looked at, bool [n]; None is nowhere.
        note: a reason to give with every record.
        ranked: order by score; else what counts comes first, in the order it was found.
    """
    score = torch.full(mask.shape, -torch.inf, device=ids.device)
    score[mask] = detector.score(found[mask]).to(ids.device, score.dtype)
    if ranked:
        score, order = top(score, mask.shape[1])
    else:
        order = mask.int().argsort(dim=1, descending=True, stable=True)
        score = score.gather(1, order)
    found = found.gather(1, order[..., None].expand(-1, -1, ids.shape[1]))
    cost = None
    if constraints.cost is not None:
        rows = found + vocabulary.offsets.to(ids.device)
        cost = (constraints.cost[rows] * (found != ids[:, None])).sum(dim=2)
    if exhausted is None:
        exhausted = torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
    movable = ((ids != 0) & constraints.mutable).any(dim=1)
    reasons = [
        note if there else (note or "no other fix was found") if could else "it has no value that could change"
        for there, could in zip(mask.any(dim=1).tolist(), movable.tolist(), strict=True)
    ]
    likelihood = torch.full(ids.shape, torch.nan, device=ids.device)
    return Outcome(found, mask.gather(1, order), score, cost, exhausted, reasons, likelihood)
