"""Conditional Correctness: does the detector rank the counterfactuals as less anomalous?"""

from __future__ import annotations

import torch
from torch import Tensor

from carat.errors import InputError
from carat.metrics._slots import mean_over_slots


def conditional_correctness(base_score: Tensor, scores: Tensor, mask: Tensor, *, reference: Tensor) -> Tensor:
    """Share of the counterfactuals with a higher rank than their anomaly; float64 [n].

    The rank of a record is the number of reference scores strictly below its own. A counterfactual that scores higher
    but passes no reference record is therefore not correct. Which records are the reference is for the caller to
    say; all methods that are compared must share it.

    Args:
        base_score: scores of the anomalies, [n]; higher = more normal.
        scores: scores of the counterfactuals, [n, K].
        mask: slots that hold a counterfactual, from `distinct`, bool [n, K]; NaN for an anomaly without any.
        reference: scores of the reference records, [r], in any order.

    >>> reference = torch.tensor([4.0, 1.0, 2.0, 3.0])
    >>> scores = torch.tensor([[1.5, 2.0, 2.5]])  # ranks 1, 1, 2; the anomaly has rank 1
    >>> mask = torch.ones(1, 3, dtype=torch.bool)
    >>> conditional_correctness(torch.tensor([1.2]), scores, mask, reference=reference)
    tensor([0.3333], dtype=torch.float64)
    """
    if not len(reference):
        raise InputError("Conditional Correctness needs the scores of reference records, got none")
    ordered = reference.double().sort().values
    rank = torch.searchsorted(ordered, scores.double().contiguous())
    base_rank = torch.searchsorted(ordered, base_score.double().contiguous())
    return mean_over_slots(rank > base_rank[:, None], mask)
