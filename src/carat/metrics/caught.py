"""Share of anomalous records that are listed where a given share of normal ones is."""

from __future__ import annotations

import math

from torch import Tensor

from carat.errors import InputError


def caught(normal: Tensor, anomalous: Tensor, false_alarms: float = 0.01) -> float:
    """Share of anomalous records that score below all but the lowest few of the normal ones.

    The cut is set on the normal records themselves: at most the share `false_alarms` of them is below it.

    Args:
        normal: scores of normal records, higher = more normal, [n].
        anomalous: scores of anomalous records, [k].
        false_alarms: 0 ≤ share < 1.

    >>> import torch
    >>> caught(torch.arange(100.0), torch.tensor([-1.0, 0.0, 0.5, 50.0]))
    0.75
    """
    if not len(normal) or not len(anomalous):
        raise InputError("what is caught needs normal and anomalous records")
    if not 0 <= false_alarms < 1:
        raise InputError(f"`false_alarms` must be at least 0 and below 1, got {false_alarms}")
    cut = normal.sort().values[math.floor(false_alarms * len(normal) + 1e-9)]
    return float((anomalous < cut).double().mean())
