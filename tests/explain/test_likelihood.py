"""Decoder-P: what it is taught, and that frozen means frozen."""

from __future__ import annotations

import pyarrow as pa
import pytest
import torch

from carat.data import FIRST, MISSING, UNSEEN, TrainingData
from carat.explain.encoder import RowEncoder
from carat.explain.likelihood import DecoderP, LikelihoodNetwork, LikelihoodTask
from carat.training import Plan, Run, train
from carat.training.negatives import UniformEntities
from tests.support.small import training_data


def network(data: TrainingData, *, tune: bool) -> LikelihoodNetwork:
    torch.manual_seed(0)
    encoder = RowEncoder(data.vocabulary, dim=8, layers=1, heads=2, dropout=0.5)
    return LikelihoodNetwork(data.vocabulary, encoder, LikelihoodTask(), bilinear=6, tune=tune)


def test_corruption(planted: pa.Table) -> None:
    data = training_data(planted)
    ids = data.train.long().repeat(10, 1)
    noise, generator = UniformEntities(data.vocabulary), torch.Generator().manual_seed(0)
    corrupted, replaced = LikelihoodTask(unseen=0.1).corrupt(ids, noise, generator)
    assert torch.equal(corrupted != ids, replaced)
    count = replaced.sum(dim=1)
    assert int(count.max()) == 2
    # Some replacements draw the entity that was there: those records count as unchanged, which they are.
    assert 0.3 < float((count == 0).float().mean()) < 0.36
    assert 0.08 < float((corrupted == UNSEEN).sum() / replaced.sum()) < 0.14


def test_missing_entities_are_never_replaced(planted: pa.Table) -> None:
    data = training_data(planted)
    ids = data.train.long()
    ids[:, 2] = MISSING
    corrupted, _ = LikelihoodTask().corrupt(ids, UniformEntities(data.vocabulary), torch.Generator().manual_seed(0))
    assert (corrupted[:, 2] == MISSING).all()


def test_bilinear_is_bilinear() -> None:
    torch.manual_seed(0)
    decoder = DecoderP(2, width=4, bilinear=3)
    x, z = torch.randn(5, 2, 4), torch.randn(5, 2, 4)
    kernel = decoder.bilinear.detach().unflatten(1, (3, 4))  # [width of z, outputs, width of x]
    joined = torch.einsum("nmz,zox,nmx->nmo", z, kernel, x) + decoder.bias
    slow = []
    for domain in range(2):
        h = joined[:, domain]
        for number, layer in enumerate((decoder.first, decoder.second, decoder.third)):
            h = h @ layer.weight[domain] + layer.bias[domain]
            h = h.relu() if number < 2 else h
        slow.append(h[:, 0])
    torch.testing.assert_close(decoder(x, z), torch.stack(slow, dim=1))


def test_missing_and_unseen_of_the_table_itself_are_no_targets(planted: pa.Table) -> None:
    """Their logits do not enter the loss: whatever decoder-P says there, the loss is the same."""
    data = training_data(planted)
    made = network(data, tune=False).eval()
    ids = data.train[:40].long()
    ids[:, 0], ids[:, 3] = MISSING, UNSEEN
    losses = []
    for offset in (0.0, 50.0):
        with torch.no_grad():
            made.decoder.third.bias[[0, 3]] = offset
        losses.append(float(made.loss(ids, torch.Generator().manual_seed(0)).detach()))
    assert losses[0] == losses[1]


@pytest.mark.parametrize("tune", [False, True])
def test_frozen_means_frozen_and_the_rest_gets_gradient(tune: bool, planted: pa.Table) -> None:
    data = training_data(planted)
    made = network(data, tune=tune)
    before = {name: tensor.clone() for name, tensor in made.encoder.state_dict().items()}
    made.loss(data.train, torch.Generator().manual_seed(0)).backward()
    trainable = [(name, p) for name, p in made.named_parameters() if p.requires_grad]
    for name, parameter in trainable:
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name
    assert any(name.startswith("encoder.") for name, _ in trainable) == tune
    train(made, data.train, Plan(epochs=1), Run(), stage="test")
    same = all(torch.equal(tensor, before[name]) for name, tensor in made.encoder.state_dict().items())
    assert same == (not tune)


def test_a_frozen_encoder_has_no_dropout(planted: pa.Table) -> None:
    data = training_data(planted)
    made = network(data, tune=False).train()
    assert torch.equal(made(data.train[:5].long()), made(data.train[:5].long()))
    assert made.decoder.training
    assert not made.encoder.training
    assert (data.train >= FIRST).all()
