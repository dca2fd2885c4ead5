"""ROC-AUC against hand values, against counting all pairs, and under what must not change it."""

from __future__ import annotations

import pytest
import torch

from carat.errors import InputError
from carat.metrics import roc_auc


@pytest.mark.parametrize(
    ("normal", "anomalous", "expected"),
    [
        ([2.0, 3.0], [0.0, 1.0], 1.0),
        ([0.0, 1.0], [2.0, 3.0], 0.0),
        ([1.0, 1.0], [1.0], 0.5),
        ([1.0, 3.0], [2.0, 4.0], 0.25),
        ([1.0, 2.0, 3.0], [2.0], 0.5),
        ([float("inf")], [float("-inf")], 1.0),
    ],
)
def test_hand_values(normal: list[float], anomalous: list[float], expected: float) -> None:
    assert roc_auc(torch.tensor(normal), torch.tensor(anomalous)) == expected


@pytest.mark.parametrize("seed", range(5))
def test_all_pairs_counted(seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    normal = torch.randint(0, 12, (37,), generator=generator).float()
    anomalous = torch.randint(0, 9, (23,), generator=generator).float()
    wins = (normal[:, None] > anomalous[None, :]).double() + (normal[:, None] == anomalous[None, :]).double() / 2
    assert roc_auc(normal, anomalous) == pytest.approx(float(wins.mean()), abs=1e-12)


def test_what_does_not_matter() -> None:
    generator = torch.Generator().manual_seed(0)
    normal = torch.randn(50, generator=generator) + 1
    anomalous = torch.randn(30, generator=generator)
    value = roc_auc(normal, anomalous)
    assert roc_auc(normal.flip(0), anomalous.flip(0)) == value, "order"
    assert roc_auc(normal.exp(), anomalous.exp()) == value, "a rising transform"
    assert roc_auc(normal.repeat(3), anomalous) == pytest.approx(value), "repetition"
    assert roc_auc(-anomalous, -normal) == pytest.approx(value), "both sides turned round"
    assert roc_auc(anomalous, normal) == pytest.approx(1 - value)


@pytest.mark.parametrize(("normal", "anomalous"), [([], [1.0]), ([1.0], [])])
def test_both_kinds_are_needed(normal: list[float], anomalous: list[float]) -> None:
    with pytest.raises(InputError, match="ROC-AUC"):
        roc_auc(torch.tensor(normal), torch.tensor(anomalous))
