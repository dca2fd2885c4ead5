"""MEAD's formulas on vectors chosen by hand."""

from __future__ import annotations

import math

import pyarrow as pa
import torch

from carat.data import FIRST, MISSING, Columns, Vocabulary, open_source, scan
from carat.detectors.mead import MeadNetwork


def vocabulary() -> Vocabulary:
    return scan(
        open_source(pa.table({"A": ["a", "b"], "B": ["x", "y"], "C": ["p", "q"]})), Columns(domains=["A", "B", "C"])
    ).vocabulary


def network() -> MeadNetwork:
    made = MeadNetwork(vocabulary(), dim=2, negatives=3)
    with torch.no_grad():
        made.vectors.zero_()
        made.vectors[2] = torch.tensor([1.0, 0.0])  # A's first entity
        made.vectors[6] = torch.tensor([0.0, 2.0])  # B's
        made.vectors[10] = torch.tensor([2.0, 2.0])  # C's
    return made


def score(made: MeadNetwork, *ids: int) -> float:
    row = torch.tensor([ids])
    known = row >= FIRST
    return float(made(row, known, known.sum(dim=1)).detach())


def test_squared_length_of_the_sum() -> None:
    assert score(network(), 2, 2, 2) == 3**2 + 4**2


def test_missing_is_rescaled() -> None:
    assert score(network(), 2, 2, MISSING) == (1 + 4) * (3 / 2) ** 2


def test_loss_by_hand() -> None:
    """All vectors equal: every negative has the score of the record, whatever is drawn."""
    made = network()
    with torch.no_grad():
        made.vectors.fill_(0.5)
    s = 2 * 1.5**2
    expected = -(math.log(math.tanh(s)) + 3 * math.log(math.tanh(1 / s)))
    loss = made.loss(torch.tensor([[2, 2, 2], [3, 3, 3]], dtype=torch.int32), torch.Generator().manual_seed(0))
    assert math.isclose(float(loss.detach()), expected, rel_tol=1e-5)


def test_negatives_never_touch_missing_entities() -> None:
    """A record without C gives C's vectors no gradient, and the reserved vectors never get one."""
    made = MeadNetwork(vocabulary(), dim=4, negatives=50)
    with torch.no_grad():
        made.vectors.uniform_(0.2, 0.8)  # where tanh is not flat, for a flat one has no gradient to show
    made.loss(torch.tensor([[2, 2, MISSING]], dtype=torch.int32), torch.Generator().manual_seed(0)).backward()
    gradient = made.vectors.grad
    assert gradient is not None
    assert (gradient[8:] == 0).all()
    assert (gradient[[0, 1, 4, 5]] == 0).all()
    assert (gradient[[2, 3, 6, 7]] != 0).any(dim=1).all()
