"""APE's formulas against slow, obvious ones."""

from __future__ import annotations

import math

import pyarrow as pa
import torch
from torch.nn import functional

from carat.data import FIRST, MISSING, Columns, Vocabulary, open_source, scan
from carat.detectors.ape import ApeNetwork


def vocabulary() -> Vocabulary:
    table = pa.table({"A": list("aab"), "B": list("xyy"), "C": list("pqr")})
    return scan(open_source(table), Columns(domains=["A", "B", "C"])).vocabulary


def network(negatives: int = 4) -> ApeNetwork:
    words = vocabulary()
    torch.manual_seed(0)
    marginals = torch.rand(words.total)
    for reserved in (0, 1, 4, 5, 8, 9):
        marginals[reserved] = 0
    made = ApeNetwork(words, marginals, dim=5, negatives=negatives)
    with torch.no_grad():
        made.vectors.normal_()
        made.pair_weight.normal_()
        made.constant.fill_(0.7)
    return made


def slow_score(made: ApeNetwork, ids: list[int]) -> float:
    present = [domain for domain, id in enumerate(ids) if id >= FIRST]
    total = 0.0
    for i in present:
        for j in present:
            if i < j:
                weight = functional.softplus(made.pair_weight[i, j])
                left, right = (made.vectors[ids[d] + int(made.offsets[d])] for d in (i, j))
                total += float((weight * (left * right).sum()).detach())
    pairs = len(ids) * (len(ids) - 1) / (len(present) * (len(present) - 1))
    return total * pairs + 0.7


def fast_score(made: ApeNetwork, ids: list[int]) -> float:
    row = torch.tensor([ids])
    known = row >= FIRST
    return float(made(row, known, known.sum(dim=1)).detach())


def test_sum_over_pairs() -> None:
    made = network()
    for ids in ([2, 2, 2], [3, 2, 4], [2, MISSING, 3]):
        assert math.isclose(fast_score(made, ids), slow_score(made, ids), rel_tol=1e-5)


def test_weights_are_not_negative() -> None:
    weights = network().weights()
    assert (weights >= 0).all()
    assert torch.equal(weights, weights.T)
    assert (weights.diagonal() == 0).all()


def test_gain_is_the_difference_of_scores() -> None:
    made = network()
    ids = torch.tensor([[2, 3, 4], [3, 2, MISSING]])
    known = ids >= FIRST
    domain = torch.tensor([[0, 1, 2], [0, 1, 1]])
    entity = torch.tensor([[3, 2, 2], [2, 3, 2]])
    gain = made._gain(ids, known, domain, entity, known.sum(dim=1)).detach()
    for row in range(2):
        for k in range(3):
            new = ids[row].tolist()
            new[int(domain[row, k])] = int(entity[row, k])
            expected = slow_score(made, new) - slow_score(made, ids[row].tolist())
            assert math.isclose(float(gain[row, k]), expected, rel_tol=1e-4, abs_tol=1e-5)


def test_loss_keeps_the_noise_probability() -> None:
    """With all scores zero, the loss is what noise-contrastive estimation says of the noise terms alone."""
    made = network(negatives=2)
    with torch.no_grad():
        made.vectors.zero_()
        made.constant.zero_()
        made.log_marginals.fill_(math.log(0.25))
    noise = math.log(2) + math.log(0.25)
    expected = -(math.log(1 / (1 + math.exp(noise))) + 2 * math.log(1 / (1 + math.exp(-noise))))
    loss = made.loss(torch.tensor([[2, 2, 2]], dtype=torch.int32), torch.Generator().manual_seed(0))
    assert math.isclose(float(loss.detach()), expected, rel_tol=1e-5)


def test_every_trainable_parameter_gets_gradient() -> None:
    made = network(negatives=200)
    made.loss(torch.tensor([[2, 2, 2], [3, 3, 3]], dtype=torch.int32), torch.Generator().manual_seed(0)).backward()
    for name, parameter in made.named_parameters():
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name
