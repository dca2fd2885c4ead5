"""What is caught at few false alarms, against hand values."""

from __future__ import annotations

import pytest
import torch

from carat.errors import InputError
from carat.metrics import caught


@pytest.mark.parametrize(
    ("false_alarms", "anomalous", "expected"),
    [
        (0.0, [-1.0, 0.0, 1.0], 1 / 3),
        (0.01, [-1.0, 0.0, 1.0, 2.0], 0.5),
        (0.1, [0.0, 9.0, 9.5, 10.0], 0.75),
        (0.019, [1.0, 0.5], 0.5),
    ],
)
def test_hand_values(false_alarms: float, anomalous: list[float], expected: float) -> None:
    normal = torch.arange(100.0)
    assert caught(normal.flip(0), torch.tensor(anomalous), false_alarms) == pytest.approx(expected)


def test_ties_stay_out() -> None:
    """All normal records score the same: listing one of them would list all."""
    assert caught(torch.zeros(100), torch.tensor([0.0, -1.0]), 0.5) == 0.5


def test_what_is_refused() -> None:
    for normal, anomalous in (([], [1.0]), ([1.0], [])):
        with pytest.raises(InputError, match="normal and anomalous"):
            caught(torch.tensor(normal), torch.tensor(anomalous))
    with pytest.raises(InputError, match="`false_alarms` must be"):
        caught(torch.ones(2), torch.ones(2), 1.0)
