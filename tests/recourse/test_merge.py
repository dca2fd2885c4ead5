"""Several lists as one, against dictionaries."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from carat.recourse.merge import merge

MENTION = st.tuples(st.integers(0, 6), st.sampled_from([-400.0, -120.0, -3.0, -0.5, 0.0, 2.0]))


@given(st.integers(0, 9).flatmap(lambda width: st.lists(st.lists(MENTION, min_size=width, max_size=width), max_size=4)))
def test_against_dictionaries(rows: list[list[tuple[int, float]]]) -> None:
    width = len(rows[0]) if rows else 0
    ids = torch.tensor([[entity for entity, _ in row] for row in rows], dtype=torch.int64).reshape(len(rows), width)
    weight = torch.tensor([[w if entity else -torch.inf for entity, w in row] for row in rows])
    merged, total, place = merge(ids, weight.reshape(len(rows), width))
    longest = 0
    for number, row in enumerate(rows):
        known: dict[int, float] = {}
        for entity, value in row:
            if entity:
                known[entity] = known.get(entity, 0.0) + math.exp(value)
        expected = sorted(known, key=lambda entity: (-known[entity], entity))
        longest = max(longest, len(expected))
        found = merged[number].tolist()
        kept = [entity for entity in found if entity]
        assert found == kept + [0] * (len(found) - len(kept))
        # Sums that differ in the last bit only may come in either order.
        assert sorted(kept) == sorted(expected)
        assert [known[e] for e in kept] == pytest.approx([known[e] for e in expected], rel=1e-5)
        for entity, value in zip(kept, total[number].tolist(), strict=False):
            assert value == pytest.approx(math.log(known[entity]), abs=1e-4)
        assert total[number, len(kept) :].isneginf().all()
        for mention, (entity, _) in enumerate(row):
            if entity:
                assert found[int(place[number, mention])] == entity
    assert merged.shape == total.shape == (len(rows), longest)


def test_ties_go_to_the_lower_id() -> None:
    merged, _, _ = merge(torch.tensor([[5, 3, 4, 0]]), torch.tensor([[1.0, 1.0, 1.0, -torch.inf]]))
    assert merged.tolist() == [[3, 4, 5]]


def test_what_is_far_below_the_best_is_still_there() -> None:
    """A hundred nats below the best is little, not nothing."""
    merged, total, _ = merge(torch.tensor([[2, 3, 3]]), torch.tensor([[0.0, -150.0, -150.0]]))
    assert merged.tolist() == [[2, 3]]
    assert total[0].tolist() == pytest.approx([0.0, -150.0 + math.log(2)])
