"""Negative sampling draws what it says."""

from __future__ import annotations

import pyarrow as pa
import torch

from carat.data import FIRST, TrainingData, open_source, scan
from carat.data.table import Table
from carat.training.negatives import LikelyEntities, MarginalEntities, UniformEntities


def data() -> TrainingData:
    table = pa.table({"A": ["a"] * 6 + ["b"] * 3 + ["c"], "B": ["x", "y"] * 5})
    source = open_source(table)
    found = scan(source)
    ids = Table.read(source, found.schema, found.vocabulary).ids
    return TrainingData(ids, ids[:0], found.vocabulary)


def shares(drawn: torch.Tensor, size: int) -> list[float]:
    counts: list[float] = (torch.bincount(drawn.flatten(), minlength=size) / drawn.numel()).tolist()
    return counts


def test_uniform() -> None:
    noise = UniformEntities(data().vocabulary)
    drawn = noise.draw(torch.zeros(30_000, dtype=torch.int64), torch.Generator().manual_seed(0))
    assert int(drawn.min()) == FIRST
    for share in shares(drawn, 5)[FIRST:]:
        assert abs(share - 1 / 3) < 0.02
    one = noise.draw(torch.ones(1000, dtype=torch.int64), torch.Generator().manual_seed(0))
    assert set(one.tolist()) == {2, 3}


def test_marginal() -> None:
    part = data()
    noise = MarginalEntities(part.vocabulary, part.marginals())
    drawn = noise.draw(torch.zeros(30_000, dtype=torch.int64), torch.Generator().manual_seed(0))
    for share, expected in zip(shares(drawn, 5), (0, 0, 0.6, 0.3, 0.1), strict=True):
        assert abs(share - expected) < 0.02
    one = noise.draw(torch.ones(1000, dtype=torch.int64), torch.Generator().manual_seed(0))
    assert set(one.tolist()) == {2, 3}


def test_marginals_sum_to_one_in_every_domain() -> None:
    part = data()
    for share in part.marginals().split(part.vocabulary.sizes.tolist()):
        assert abs(float(share.sum()) - 1) < 1e-6
        assert share[:FIRST].tolist() == [0, 0]


def test_half_by_frequency_half_with_equal_chances() -> None:
    """And the shares that it says are those that it draws with; what was never counted is drawn too."""
    made = LikelyEntities(data().vocabulary)
    for domain, expected in ((0, (7 / 15, 19 / 60, 13 / 60)), (1, (0.5, 0.5))):
        drawn, log_shares = made.draw(domain, 30_000, torch.Generator().manual_seed(0))
        for place, share in enumerate(shares(drawn, len(expected))):
            assert abs(share - expected[place]) < 0.02
            assert torch.allclose(log_shares[drawn == place].exp(), torch.tensor(expected[place]), atol=1e-6)
    vocabulary = data().vocabulary
    never = vocabulary.recounted(torch.tensor([0, 0, 10, 0, 0, 0, 0, 5, 5]))
    drawn, _ = LikelyEntities(never).draw(0, 1_000, torch.Generator().manual_seed(0))
    assert set(drawn.tolist()) == {0, 1, 2}
