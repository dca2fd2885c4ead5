"""The search for the best combinations, against all of them written out."""

from __future__ import annotations

import itertools
import time

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from carat.protocols import Terms
from carat.recourse import search as module
from carat.recourse.search import Clock, Combinations, SearchLimits, search, top

LONG = Clock(time.monotonic() + 1e9)
OVER = Clock(0.0)


def random_terms(
    records: int, targets: int, length: int, seed: int, *, pairs: bool = True, ties: bool = False
) -> Terms:
    """Terms of random numbers; with ties they are whole and few."""
    generator = torch.Generator().manual_seed(seed)

    def numbers(*shape: int) -> Tensor:
        values = torch.randn(shape, generator=generator)
        return values.round() if ties else values

    together = {(i, j): numbers(records, length, length) for i in range(targets) for j in range(i + 1, targets)}
    return Terms(
        numbers(records),
        numbers(records, targets, length),
        (lambda i, j, part: together[i, j][part]) if pairs else None,
    )


def random_mask(records: int, targets: int, length: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    mask = torch.rand((records, targets, length), generator=generator) < 0.7
    mask[..., 0] |= ~mask.any(dim=2)
    return mask


def total(terms: Terms, row: int, places: tuple[int, ...]) -> float:
    value = float(terms.constant[row]) + sum(float(terms.unary[row, i, place]) for i, place in enumerate(places))
    if terms.pair is not None:
        for i, j in itertools.combinations(range(len(places)), 2):
            value += float(terms.pair(i, j, slice(row, row + 1))[0, places[i], places[j]])
    return value


def brute(terms: Terms, mask: Tensor, row: int) -> list[tuple[float, tuple[int, ...]]]:
    """Every combination of a record with its total, the best first."""
    lists = [mask[row, i].nonzero().flatten().tolist() for i in range(mask.shape[1])]
    every = [(total(terms, row, places), places) for places in itertools.product(*lists)]
    return sorted(every, key=lambda pair: -pair[0])


def listed(found: Combinations, row: int) -> list[tuple[int, ...]]:
    return [tuple(places) for places in found.index[row, found.mask[row]].tolist()]


def check(found: Combinations, terms: Terms, mask: Tensor, k: int) -> None:
    for row in range(len(mask)):
        expected = brute(terms, mask, row)[:k]
        assert found.value[row, found.mask[row]].tolist() == pytest.approx([value for value, _ in expected], abs=1e-4)
        assert listed(found, row) == [places for _, places in expected]


@given(
    records=st.integers(1, 4),
    targets=st.integers(1, 3),
    length=st.integers(1, 7),
    k=st.integers(1, 20),
    seed=st.integers(0, 1000),
    pairs=st.booleans(),
)
@settings(max_examples=60)
def test_grid_is_brute_force(records: int, targets: int, length: int, k: int, seed: int, pairs: bool) -> None:
    terms, mask = random_terms(records, targets, length, seed, pairs=pairs), random_mask(records, targets, length, seed)
    found = search([terms], mask, k, limits=SearchLimits(), clock=LONG)
    assert found.exhausted.all()
    check(found, terms, mask, k)


def test_four_targets() -> None:
    terms, mask = random_terms(2, 4, 6, 0), random_mask(2, 4, 6, 0)
    check(search([terms], mask, 30, limits=SearchLimits(), clock=LONG), terms, mask, 30)


def test_finish_decides_over_all_terms() -> None:
    """Ordered by a function of two totals, which is not a sum of terms itself."""
    weight, score, mask = random_terms(3, 2, 8, 1, pairs=False), random_terms(3, 2, 8, 2), random_mask(3, 2, 8, 1)
    limit = torch.tensor([0.5, -0.5, 1.0])

    def finish(rows: slice, totals: list[Tensor]) -> Tensor:
        return totals[0] + 3 * (totals[1] > limit[rows, None])

    found = search([weight, score], mask, 12, limits=SearchLimits(), clock=LONG, finish=finish)
    for row in range(3):
        every = [
            (total(weight, row, places) + 3 * (total(score, row, places) > float(limit[row])), places)
            for _, places in brute(score, mask, row)
        ]
        assert listed(found, row) == [places for _, places in sorted(every, reverse=True)[:12]]


def test_records_in_parts_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    terms, mask = random_terms(9, 2, 8, 3), random_mask(9, 2, 8, 3)
    whole = search([terms], mask, 10, limits=SearchLimits(), clock=LONG)
    monkeypatch.setattr(module, "CELLS", 130)
    parts = search([terms], mask, 10, limits=SearchLimits(), clock=LONG)
    assert torch.equal(whole.value, parts.value)
    assert torch.equal(whole.index, parts.index)


@pytest.mark.parametrize("targets", [2, 3])
def test_beam_with_budget_enough_is_the_grid(targets: int) -> None:
    terms, mask = random_terms(4, targets, 6, 5), random_mask(4, targets, 6, 5)
    most = int(mask.sum(dim=2).prod(dim=1).max())
    found = search([terms], mask, 10, limits=SearchLimits(budget=most), clock=LONG)
    assert found.exhausted.all()
    check(found, terms, mask, 10)
    less = search([terms], mask, 10, limits=SearchLimits(budget=most - 1), clock=LONG)
    assert less.exhausted.tolist() == [int(count) < most for count in mask.sum(dim=2).prod(dim=1)]


@pytest.mark.parametrize("clock", [LONG, OVER])
def test_over_budget_gives_a_good_part(clock: Clock) -> None:
    terms, mask = random_terms(3, 3, 20, 7), random_mask(3, 3, 20, 7)
    budget = 400 if clock is LONG else 10**9
    found = search([terms], mask, 25, limits=SearchLimits(budget=budget), clock=clock)
    assert not found.exhausted.any()
    for row in range(3):
        every = {places: value for value, places in brute(terms, mask, row)}
        mine = listed(found, row)
        values = [every[places] for places in mine]  # a KeyError would be a combination that does not exist
        assert len(set(mine)) == len(mine) == 25
        assert values == sorted(values, reverse=True)
        assert found.value[row].tolist() == pytest.approx(values, abs=1e-4)
        better = sum(value > values[0] for value in every.values())
        assert better <= len(every) // 50, "best-first finds good ones"


def test_a_clock_that_is_over_is_exact_where_little_is_to_do() -> None:
    terms, mask = random_terms(3, 2, 10, 8), random_mask(3, 2, 10, 8)
    found = search([terms], mask, 10, limits=SearchLimits(), clock=OVER)
    assert found.exhausted.all()
    check(found, terms, mask, 10)


def watch(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many combinations of a record were held at each step."""
    seen: list[int] = []

    def watched(values: Tensor, k: int) -> tuple[Tensor, Tensor]:
        seen.append(values.shape[1])
        return top(values, k)

    monkeypatch.setattr(module, "top", watched)
    return seen


def test_hurry_never_exceeds_the_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small budget stays small when time is up."""
    terms, mask = random_terms(2, 3, 10, 9), torch.ones(2, 3, 10, dtype=torch.bool)
    seen = watch(monkeypatch)
    for clock in (LONG, OVER):
        seen.clear()
        search([terms], mask, 10, limits=SearchLimits(budget=100), clock=clock)
        assert max(seen) <= 160, "the rounding aside"


def test_no_record_looks_past_its_budget_for_another() -> None:
    """A record that is over budget finds the same beside one that fits, and beside one with longer lists."""
    terms = random_terms(3, 3, 32, 11)
    mask = torch.ones(3, 3, 32, dtype=torch.bool)
    mask[0, :, 16:] = False  # 4,096 combinations: over the budget
    mask[1, :, 10:] = False  # 1,000: fits
    limits = SearchLimits(budget=1_000)
    beside = search([terms], mask, 40, limits=limits, clock=LONG)
    alone = search(
        [Terms(terms.constant[:1], terms.unary[:1, :, :16], lambda i, j, part: _pair(terms, i, j)[:, :16, :16])],
        mask[:1, :, :16],
        40,
        limits=limits,
        clock=LONG,
    )
    assert beside.exhausted.tolist() == [False, True, False]
    assert listed(beside, 0) == listed(alone, 0)
    check(
        Combinations(beside.index[1:2], beside.value[1:2], beside.exhausted[1:2]),
        Terms(terms.constant[1:2], terms.unary[1:2], lambda i, j, part: _pair(terms, i, j, 1)),
        mask[1:2],
        40,
    )


def _pair(terms: Terms, i: int, j: int, row: int = 0) -> Tensor:
    assert terms.pair is not None
    return terms.pair(i, j, slice(row, row + 1))


def test_a_long_list_beside_a_short_one_stays_in_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    """All combinations fit the budget, though a rectangle of the longest lists would not."""
    terms, mask = random_terms(2, 3, 64, 13), torch.ones(2, 3, 64, dtype=torch.bool)
    mask[:, 2, 1:] = False
    seen = watch(monkeypatch)
    found = search([terms], mask, 10, limits=SearchLimits(budget=4_096), clock=LONG)
    assert found.exhausted.all()
    assert max(seen) <= 16 * 4_096
    check(found, terms, mask, 10)


@pytest.mark.parametrize("padding", [0, 1, 9, 48])
def test_ties_do_not_mind_the_padding(padding: int) -> None:
    terms, mask = random_terms(4, 2, 16, 17, ties=True), random_mask(4, 2, 16, 17)
    wide = torch.nn.functional.pad(mask, (0, padding))
    padded = Terms(
        terms.constant,
        torch.nn.functional.pad(terms.unary, (0, padding), value=5.0),
        lambda i, j, part: torch.nn.functional.pad(
            terms.pair(i, j, part) if terms.pair else torch.empty(0), (0, padding, 0, padding), value=7.0
        ),
    )
    plain = search([terms], mask, 30, limits=SearchLimits(), clock=LONG)
    found = search([padded], wide, 30, limits=SearchLimits(), clock=LONG)
    for row in range(4):
        assert listed(plain, row) == listed(found, row)


def test_forbidden_combinations_do_not_exist() -> None:
    terms, mask = random_terms(2, 2, 4, 19), torch.ones(2, 2, 4, dtype=torch.bool)
    barred = torch.full((2, 4, 4), -torch.inf)
    barred[0, 1, 2] = barred[0, 3, 3] = 1.0
    found = search(
        [Terms(terms.constant, terms.unary, lambda i, j, part: barred[part])],
        mask,
        16,
        limits=SearchLimits(),
        clock=LONG,
    )
    assert set(listed(found, 0)) == {(1, 2), (3, 3)}
    assert listed(found, 1) == []


def test_no_records() -> None:
    terms, mask = random_terms(0, 2, 4, 0), torch.ones(0, 2, 4, dtype=torch.bool)
    found = search([terms], mask, 5, limits=SearchLimits(), clock=LONG)
    assert found.index.shape[0] == found.value.shape[0] == len(found.exhausted) == 0


@given(
    rows=st.integers(1, 4),
    count=st.sampled_from([1, 7, 64, 128, 512, 1024, 4096]),
    k=st.integers(0, 40),
    seed=st.integers(0, 1000),
    kinds=st.sampled_from([2, 30, 10_000]),
    holes=st.booleans(),
)
@settings(max_examples=150)
def test_top_is_a_stable_sort(rows: int, count: int, k: int, seed: int, kinds: int, holes: bool) -> None:
    generator = torch.Generator().manual_seed(seed)
    values = torch.randint(kinds, (rows, count), generator=generator).float()
    if holes:
        values[torch.rand(values.shape, generator=generator) < 0.8] = -torch.inf
    best, place = top(values, k)
    expected, order = values.sort(dim=1, descending=True, stable=True)
    assert torch.equal(best, expected[:, :k])
    there = best > -torch.inf
    assert torch.equal(place[there], order[:, :k][there])
    assert torch.equal(values.gather(1, place), best)


def test_top_looks_into_blocks() -> None:
    """The quick way is taken for long lists, also where all the best are in one block."""
    values = torch.zeros(2, 4096)
    values[0, 300:310] = torch.arange(10.0) + 1
    values[1, ::400] = torch.arange(11.0) + 1
    best, place = top(values, 10)
    assert place[0].tolist() == list(range(309, 299, -1))
    assert place[1].tolist() == list(range(4000, 0, -400))
    assert best[0].tolist() == list(range(10, 0, -1))
