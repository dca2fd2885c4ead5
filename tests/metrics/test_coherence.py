"""Coherence by hand, by its definition, and under what must not change it."""

from __future__ import annotations

import torch
from hypothesis import given
from torch import Tensor

from carat.data import Pairs
from carat.metrics import coherence
from tests.support.metrics import ENTITIES, NAN, Case, answers, cases, check_form, check_unmoved, close, mean
from tests.support.sources import vocabulary_of

# Domains of different sizes, so that a wrong offset shows.
VOCABULARY = vocabulary_of(Port=["A", "B", "C"], Good=["a", "b"], Buyer=["x", "y", "z", "w"])
TRAINING = torch.tensor([[2, 2, 2], [2, 2, 3], [3, 2, 2], [2, 3, 2], [3, 3, 3]])


def value(base: list[int], *counterfactuals: list[int]) -> float:
    """Coherence of one anomaly against the five records above."""
    ids = torch.tensor([counterfactuals])
    mask = torch.ones(1, len(counterfactuals), dtype=torch.bool)
    pairs = Pairs.of(TRAINING, VOCABULARY)
    return coherence(torch.tensor([base]), ids, mask, pairs=pairs, offsets=VOCABULARY.offsets).item()


def metric(case: Case) -> Tensor:
    domains = {f"domain {d}": [f"entity {e}" for e in range(ENTITIES - 2)] for d in range(case.base.shape[1])}
    vocabulary = vocabulary_of(**domains)
    pairs = Pairs.of(case.training, vocabulary)
    return coherence(case.base, case.counterfactuals, case.mask, pairs=pairs, offsets=vocabulary.offsets)


def test_one_change() -> None:
    # Port becomes A. Port A with Good a: 2 of 5 records. Port A with Buyer x: 2 of 5.
    assert value([4, 2, 2], [2, 2, 2]) == 0.4
    # Port becomes B. With Good a: 1 of 5. With Buyer x: 1 of 5.
    assert value([4, 2, 2], [3, 2, 2]) == 0.2
    # The mean over both.
    assert abs(value([4, 2, 2], [2, 2, 2], [3, 2, 2]) - 0.3) < 1e-15


def test_two_changes_are_averaged_not_summed() -> None:
    # Port A and Buyer x are new, Good a is kept: (2/5 + 2/5) / 2. Port A with Buyer x, both new, does not count.
    assert value([4, 2, 5], [2, 2, 2]) == 0.4
    # Port A and Good b are new, Buyer x is kept: (2/5 + 1/5) / 2.
    assert abs(value([4, 2, 2], [2, 3, 2]) - 0.3) < 1e-15


def test_nothing_kept_is_zero() -> None:
    assert value([4, 3, 4], [2, 2, 2]) == 0


def test_unseen_entities_have_frequency_zero() -> None:
    # Buyer was never seen and is kept: (2/5 + 0) / 2.
    assert value([4, 2, 1], [2, 2, 1]) == 0.2
    # Port becomes unseen: both its pairs are 0.
    assert value([4, 2, 2], [1, 2, 2]) == 0


def test_pairs_with_a_missing_entity_are_skipped() -> None:
    # Buyer is missing and kept: Port A with Good a alone, 2/5.
    assert value([4, 2, 0], [2, 2, 0]) == 0.4
    # Port becomes missing, Good becomes a: Good a with Buyer x alone, 2/5.
    assert value([4, 3, 2], [0, 2, 2]) == 0.4
    # Port was missing and becomes A: a change like any other, (2/5 + 2/5) / 2.
    assert value([0, 2, 2], [2, 2, 2]) == 0.4
    # No pair is left.
    assert value([4, 0, 0], [2, 0, 0]) == 0


def test_no_training_record_at_all() -> None:
    pairs = Pairs.of(TRAINING[:0], VOCABULARY)
    ids, mask = torch.tensor([[[3, 2, 2]]]), torch.tensor([[True]])
    assert coherence(torch.tensor([[2, 2, 2]]), ids, mask, pairs=pairs, offsets=VOCABULARY.offsets).tolist() == [0]


def test_no_counterfactual_is_nan() -> None:
    pairs = Pairs.of(TRAINING, VOCABULARY)
    base, ids = torch.tensor([[4, 2, 2]] * 2), torch.tensor([[[2, 2, 2]]] * 2)
    mask = torch.tensor([[True], [False]])
    assert close(coherence(base, ids, mask, pairs=pairs, offsets=VOCABULARY.offsets), [0.4, NAN])


def by_definition(base: list[int], counterfactual: list[int], training: list[list[int]]) -> float:
    frequencies = []
    for i, new in enumerate(counterfactual):
        for j, kept in enumerate(counterfactual):
            if new != base[i] and kept == base[j] and new != 0 and kept != 0:
                both = [record[i] == new > 1 and record[j] == kept > 1 for record in training]
                frequencies.append(mean([float(b) for b in both]) if both else 0.0)
    return mean(frequencies) if frequencies else 0.0


@given(case=cases())
def test_by_its_definition(case: Case) -> None:
    training = case.training.tolist()
    expected = [mean([by_definition(base, record, training) for record in ids]) for base, ids in answers(case)]
    assert close(metric(case), expected)


@given(case=cases())
def test_form_and_what_does_not_matter(case: Case) -> None:
    check_form(metric, case)
    check_unmoved(metric, case)
