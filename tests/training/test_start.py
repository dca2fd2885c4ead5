"""Weights to begin with are those of the same entity and the same domain, wherever they stand."""

from __future__ import annotations

import pyarrow as pa
import torch

import carat
from carat.data import FIRST, Vocabulary
from carat.detectors import Ape
from carat.explain.encoder import RowEncoder
from carat.training.start import Start, kind_of


def vocabulary(**texts: list[str]) -> Vocabulary:
    return Vocabulary.from_json({name: {"entities": one, "counts": [1] * len(one)} for name, one in texts.items()})


def encoder(of: Vocabulary) -> RowEncoder:
    return RowEncoder(of, dim=8, layers=1, heads=2, dropout=0.0)


def test_rows_are_matched_by_text() -> None:
    before, after = vocabulary(A=["x", "y"], B=["u", "v", "w"]), vocabulary(B=["w", "new", "u"], A=["y"], C=["c"])
    old, new = encoder(before), encoder(after)
    fresh = new.embedding.detach().clone()
    assert Start(old.state_dict(), before).fill(new, after) == len(new.state_dict())
    assert torch.equal(new.embedding[FIRST], old.embedding[FIRST + 2 + FIRST + 2]), "B w"
    assert torch.equal(new.embedding[FIRST + 1], fresh[FIRST + 1]), "a new entity begins at random"
    assert torch.equal(new.embedding[5 + FIRST], old.embedding[FIRST + 1]), "A y"
    assert torch.equal(new.embedding[:FIRST], old.embedding[4 : 4 + FIRST]), "missing and unseen"
    assert torch.equal(new.domain[0], old.domain[1])
    name = "transformer.norm.weight"
    assert torch.equal(new.state_dict()[name], old.state_dict()[name])
    assert kind_of(new, "embedding") == "ids"
    assert kind_of(new, "transformer.norm.weight") is None


def test_another_size_is_not_taken() -> None:
    words = vocabulary(A=["x", "y"], B=["u", "v"])
    small, large = encoder(words), RowEncoder(words, dim=16, layers=1, heads=2, dropout=0.0)
    before = large.embedding.detach().clone()
    Start(small.state_dict(), words).fill(large, words)
    assert torch.equal(large.embedding, before)


def test_a_warm_fit_begins_where_the_other_ended(planted: pa.Table) -> None:
    old = carat.fit(planted, detector="ape", explainer=False, device="cpu")
    idle = Ape(epochs=1, learning_rate=1e-12)
    warm = carat.fit(planted.slice(0, 200), detector=idle, explainer=False, start=old, device="cpu")
    cold = carat.fit(planted.slice(0, 200), detector=idle, explainer=False, device="cpu")
    rows = planted.slice(0, 100)
    expected, near, far = (torch.tensor(model.score(rows)["score"].to_pylist()) for model in (old, warm, cold))
    assert (near - expected).abs().max() < (far - expected).abs().max() / 10
    assert warm.training["start"] == old.identity
    assert warm.detector.start_ is None, "the old weights are not kept"  # type: ignore[union-attr]
