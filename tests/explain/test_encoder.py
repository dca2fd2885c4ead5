"""The encoder implies no order among domains."""

from __future__ import annotations

import pyarrow as pa
import torch

from carat.data import MISSING, UNSEEN
from carat.explain.encoder import RowEncoder
from tests.support.small import training_data


def test_domain_order_does_not_matter_beyond_its_own_vectors() -> None:
    columns = {"A": list("aabb"), "B": list("xyzx"), "C": list("pqpq")}
    there = training_data(pa.table(columns)).vocabulary
    order = [2, 0, 1]
    here = training_data(pa.table({name: columns[name] for name in ("C", "A", "B")})).vocabulary
    torch.manual_seed(0)
    first = RowEncoder(there, dim=8, layers=2, heads=2, dropout=0.0).eval()
    second = RowEncoder(here, dim=8, layers=2, heads=2, dropout=0.0).eval()
    second.transformer.load_state_dict(first.transformer.state_dict())
    parts = first.embedding.detach().split(there.sizes.tolist())
    with torch.no_grad():
        second.embedding.copy_(torch.cat([parts[domain] for domain in order]))
        second.domain.copy_(first.domain[order])
    ids = torch.tensor([[2, 3, 4], [3, MISSING, UNSEEN]])
    ids[:, 2] = torch.tensor([3, UNSEEN])
    _, z = first(ids)
    _, moved = second(ids[:, order])
    torch.testing.assert_close(moved, z[:, order])


def test_widths() -> None:
    words = training_data(pa.table({"A": list("ab"), "B": list("xy")})).vocabulary
    encoder = RowEncoder(words, dim=8, layers=1, heads=2, dropout=0.0)
    for count in (0, 1, 3):
        x, z = encoder(torch.full((count, 2), 2))
        assert x.shape == z.shape == (count, 2, 16)
