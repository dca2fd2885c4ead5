"""Area under the ROC curve of a score that is higher for normal records."""

from __future__ import annotations

import torch
from torch import Tensor

from carat.errors import InputError


def roc_auc(normal: Tensor, anomalous: Tensor) -> float:
    """Probability that a normal record scores higher than an anomalous one, a tie counting half.

    Args:
        normal: scores of normal records, [n].
        anomalous: scores of anomalous records, [k].

    >>> roc_auc(torch.tensor([2.0, 3.0]), torch.tensor([1.0, 2.0]))
    0.875
    """
    if not len(normal) or not len(anomalous):
        raise InputError("ROC-AUC needs normal and anomalous records")
    ordered = anomalous.double().sort().values
    normal = normal.double()
    below = torch.searchsorted(ordered, normal, right=False)
    at_most = torch.searchsorted(ordered, normal, right=True)
    return float((below + at_most).double().mean() / (2 * len(anomalous)))
