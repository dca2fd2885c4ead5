"""The vote against a slow, obvious reference; records left out; inverted lists against all records."""

from __future__ import annotations

import math

import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from carat.data import FIRST, Columns, Table, Vocabulary, open_source, scan
from carat.memory import Ballot, Records, Weights
from carat.memory.vote import PRIOR

M = 3


def vocabulary() -> Vocabulary:
    table = pa.table({name: [f"{name}{number % 4}" for number in range(8)] for name in "ABC"})
    return scan(open_source(table), Columns(domains=list("ABC"))).vocabulary


WORDS = vocabulary()
WEIGHTS = Weights(
    torch.tensor([[0.0, 1.0, 0.5], [0.7, 0.0, 1.3], [0.2, 0.9, 0.0]]),
    torch.tensor([[0.0, 0.4, 0.1], [0.6, 0.0, 0.2], [0.3, 0.5, 0.0]]),
    torch.tensor([0.05, 0.1, 0.2]),
)


def reference(stored: list[list[int]], x: list[int], hidden: set[int], d: int) -> dict[int, float]:
    """P(e | x) by the formula, record by record."""
    total = len(stored)
    weight: dict[int, float] = dict.fromkeys(range(FIRST, int(WORDS.sizes[d])), 0.0)
    base = dict(weight)
    for t in stored:
        if t[d] < FIRST:
            continue
        exponent = 0.0
        for j in range(M):
            if j != d and j not in hidden and x[j] >= FIRST and t[j] == x[j]:
                count = max(sum(other[j] == x[j] for other in stored), 1)
                exponent += float(WEIGHTS.match[d, j]) + float(WEIGHTS.rarity[d, j]) * max(math.log(total / count), 0.0)
        weight[t[d]] += math.exp(exponent)
        base[t[d]] += 1
    floor, everything = float(WEIGHTS.floor[d]), sum(weight.values())
    known, size = sum(base.values()), len(base)
    return {
        e: (1 - floor) * (weight[e] / everything if everything else 0.0)
        + floor * (base[e] + PRIOR) / (known + PRIOR * (size + 1))
        for e in weight
    }


records_of_ids = st.lists(st.lists(st.integers(0, 5), min_size=M, max_size=M), min_size=2, max_size=25)
record_of_ids = st.lists(st.integers(0, 5), min_size=M, max_size=M)


def ballot(stored: list[list[int]], x: list[int], hidden: set[int], **options: object) -> Ballot:
    mask = torch.zeros((1, M, M), dtype=torch.bool)
    mask[..., list(hidden)] = True
    return Ballot(Records.of(torch.tensor(stored), WORDS), WEIGHTS, torch.tensor([x]), mask, **options)  # type: ignore[arg-type]


@given(records_of_ids, record_of_ids, st.sets(st.integers(0, M - 1), max_size=2))
@settings(max_examples=150)
def test_against_the_formula(stored: list[list[int]], x: list[int], hidden: set[int]) -> None:
    found = ballot(stored, x, hidden)
    for d in range(M):
        expected = reference(stored, x, hidden, d)
        torch.testing.assert_close(
            found.probability(d)[0].double(),
            torch.tensor(list(expected.values()), dtype=torch.float64),
            rtol=1e-4,
            atol=1e-6,
        )


@given(records_of_ids, record_of_ids, st.data())
@settings(max_examples=100)
def test_a_record_left_out_is_a_record_never_stored(stored: list[list[int]], x: list[int], data: st.DataObject) -> None:
    gone = data.draw(st.integers(0, len(stored) - 1))
    records = Records.of(torch.tensor(stored), WORDS)
    group = records.group[gone : gone + 1].to(torch.int64)
    none = torch.zeros((1, M, M), dtype=torch.bool)
    without = Ballot(records, WEIGHTS, torch.tensor([x]), none, left_out=group)
    fewer = ballot(stored[:gone] + stored[gone + 1 :], x, set())
    also = Ballot(records.without(torch.tensor([gone])), WEIGHTS, torch.tensor([x]), none)
    for d in range(M):
        torch.testing.assert_close(without.probability(d), fewer.probability(d), rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(also.probability(d), fewer.probability(d), rtol=1e-4, atol=1e-6)
        torch.testing.assert_close(without.unseen_probability(d), fewer.unseen_probability(d))


@given(records_of_ids, record_of_ids)
def test_probabilities_add_up_to_one(stored: list[list[int]], x: list[int]) -> None:
    found = ballot(stored, x, set())
    for d in range(M):
        held = any(t[d] >= FIRST for t in stored)
        total = found.probability(d).sum(dim=1) + found.unseen_probability(d)
        if held:
            torch.testing.assert_close(total, torch.ones(1), rtol=1e-4, atol=1e-4)


@given(records_of_ids, record_of_ids)
def test_lists_that_hold_everything_are_all_records(stored: list[list[int]], x: list[int]) -> None:
    """With room for every list, what is not in one of them matches nothing, and the answer is the same."""
    exact, listed = ballot(stored, x, set()), ballot(stored, x, set(), limit=10_000)
    for d in range(M):
        torch.testing.assert_close(listed.probability(d), exact.probability(d), rtol=1e-4, atol=1e-6)


def many(rows: int, seed: int = 0) -> tuple[Vocabulary, Tensor]:
    """Records in which two columns follow from a third, and one is noise."""
    generator = torch.Generator().manual_seed(seed)
    group = torch.randint(200, (rows,), generator=generator)
    noise = torch.randint(3, (rows,), generator=generator)
    columns = {"Key": group, "Fine": group * 3 + noise, "Coarse": group // 20, "Noise": noise}
    table = pa.table({name: [f"{name}{value}" for value in column.tolist()] for name, column in columns.items()})
    found = scan(open_source(table))
    return found.vocabulary, Table.read(open_source(table), found.schema, found.vocabulary).ids.long()


def test_a_few_hundred_records_of_many_are_enough(capsys: pytest.CaptureFixture[str]) -> None:
    words, ids = many(6_000)
    records = Records.of(ids, words)
    weights = Weights(torch.ones(4, 4), torch.ones(4, 4), torch.full((4,), 0.02))
    asked, hidden = ids[:300], torch.zeros((300, 4, 4), dtype=torch.bool)
    exact = Ballot(records, weights, asked, hidden)
    few = Ballot(records, weights, asked, hidden, limit=200)
    assert few.voters.shape[1] <= 200
    agree = [(exact.probability(d).argmax(1) == few.probability(d).argmax(1)).double().mean() for d in range(4)]
    with capsys.disabled():
        print(f"\ninverted lists of 200: the same best entity in {min(agree):.3f} of the votes at least")
    assert min(agree) >= 0.98


@pytest.mark.parametrize("limit", [None, 50])
def test_answers_depend_on_the_record_alone(limit: int | None) -> None:
    words, ids = many(1_000)
    records = Records.of(ids, words)
    weights = Weights(torch.ones(4, 4), torch.ones(4, 4), torch.full((4,), 0.02))
    asked = ids[:20]
    whole = Ballot(records, weights, asked, torch.zeros((20, 4, 4), dtype=torch.bool), limit=limit)
    for row in (0, 7, 19):
        alone = Ballot(records, weights, asked[row : row + 1], torch.zeros((1, 4, 4), dtype=torch.bool), limit=limit)
        for d in range(4):
            torch.testing.assert_close(alone.probability(d)[0], whole.probability(d)[row], rtol=1e-4, atol=1e-6)
    shuffled = ids[torch.randperm(len(ids), generator=torch.Generator().manual_seed(1))]
    again = Ballot(Records.of(shuffled, words), weights, asked, torch.zeros((20, 4, 4), dtype=torch.bool), limit=limit)
    for d in range(4):
        assert torch.equal(again.probability(d), whole.probability(d)), "the order of the stored records is nothing"


def test_nobody_to_ask() -> None:
    found = ballot([[2, 2, 2], [3, 3, 3]], [0, 1, 0], set())
    for d in range(M):
        expected = torch.tensor([0.5, 0.5, 0.0, 0.0]) * (1 - WEIGHTS.floor[d])
        assert (found.probability(d)[0] - expected).abs().max() < WEIGHTS.floor[d]
    empty = Ballot(
        Records.of(torch.tensor([[2, 2, 2]]), WORDS),
        WEIGHTS,
        torch.empty((0, M), dtype=torch.int64),
        torch.zeros((0, M, M), dtype=torch.bool),
        limit=5,
    )
    assert empty.probability(0).shape == (0, 4)


def test_identical_records_are_one_group() -> None:
    records = Records.of(torch.tensor([[2, 3, 4], [5, 3, 2], [2, 3, 4], [2, 3, 4]]), WORDS)
    assert len(records) == 2
    assert records.total == 4
    assert sorted(records.count.tolist()) == [1, 3]
    assert records.ids[records.group.long()].tolist() == [[2, 3, 4], [5, 3, 2], [2, 3, 4], [2, 3, 4]]
    back = Records.from_tensors(records.tensors(), WORDS)
    assert torch.equal(back.singles, records.singles)


@pytest.mark.parametrize("limit", [None, 3])
def test_a_vote_on_some_domains_is_that_on_all(limit: int | None) -> None:
    generator = torch.Generator().manual_seed(0)
    records = Records.of(torch.randint(0, 6, (40, M), generator=generator), WORDS)
    ids = torch.randint(0, 6, (30, M), generator=generator)
    targets = torch.rand(ids.shape, generator=generator) < 0.4
    domains = targets.int().argsort(dim=1, descending=True, stable=True)[:, :2]
    targets = torch.zeros_like(targets).scatter(1, domains, targets.gather(1, domains))
    whole = Ballot(records, WEIGHTS, ids, targets[:, None].expand(-1, M, -1), limit=limit)
    some = Ballot(records, WEIGHTS, ids, targets[:, None].expand(-1, 2, -1), limit=limit, asked=domains)
    for domain in range(M):
        rows = targets[:, domain].nonzero().flatten()
        assert len(rows)
        torch.testing.assert_close(some.probability(domain, rows), whole.probability(domain, rows))
    versions = ids[:, None].repeat(1, 5, 1)
    versions = torch.where(targets[:, None], torch.randint(2, 6, versions.shape, generator=generator), versions)
    torch.testing.assert_close(some.joint(targets, versions), whole.joint(targets, versions))
